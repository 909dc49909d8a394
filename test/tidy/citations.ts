import { posix } from 'node:path';
import type { Problem, ProjectFile } from './project.ts';

/** A page's headings, as written and as the anchors of links to them. */
interface Page {
  readonly headings: ReadonlySet<string>;
  readonly anchors: ReadonlySet<string>;
}

/** The anchor that GitHub gives a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

function readPage(text: string): Page {
  const prose = text.replace(/^```[\s\S]*?^```/gm, '');
  const headings = [...prose.matchAll(/^#{1,6} (.+?)\s*$/gm)].map(([, heading = '']) => heading);
  const counts = new Map<string, number>();
  const anchors = headings.map((heading) => {
    const anchor = anchorOf(heading.replace(/`|\*\*/g, ''));
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
  return { headings: new Set(headings), anchors: new Set(anchors) };
}

const CITED = /(?<![\w./-])((?:[\w-]+\/)*[\w-]+\.md)(?:, "([^"]+)")?/g;
const SECTION = /\b(?:decisions? §|specification(?: section)? )\d/i;
const LINK = /\[[^\]]*\]\(([^)\s]+)\)/g;

/** Lines of a comment joined, so that a citation across two lines is found. */
const unwrapped = (text: string) => text.replace(/\n[ \t]*(?:\*|\/\/|#) ?/g, ' ');

/**
 * Returns a rule over the whole project: a page that is cited or linked exists, and so does its heading. Headings are
 * cited as `docs/page.md, "Heading"`, and linked as `page.md#anchor`.
 */
export function citationProblems(files: readonly ProjectFile[]): (file: ProjectFile) => Problem[] {
  const paths = new Set(files.map(({ path }) => path));
  const pages = new Map(
    files.filter(({ path }) => path.endsWith('.md')).map(({ path, text }) => [path, readPage(text)]),
  );
  const isThere = (path: string) =>
    path === '.' || paths.has(path) || files.some((file) => file.path.startsWith(`${path}/`));

  function linked(file: ProjectFile, target: string): Problem[] {
    if (/^[a-z]+:/.test(target)) return [];
    const [name = '', anchor] = target.split('#');
    const path = name === '' ? file.path : posix.join(posix.dirname(file.path), name).replace(/\/$/, '');
    if (!isThere(path)) return [`${file.path}: links to ${path}, which does not exist.`];
    if (anchor === undefined || pages.get(path)?.anchors.has(anchor) !== false) return [];
    return [`${file.path}: links to "#${anchor}", which is no heading of ${path}.`];
  }

  function cited(file: ProjectFile, path: string, heading: string | undefined): Problem[] {
    const page = pages.get(path);
    if (!page) return [`${file.path}: cites ${path}, which does not exist. Write its path from the root.`];
    if (heading === undefined || page.headings.has(heading)) return [];
    return [`${file.path}: cites "${heading}", which is no heading of ${path}.`];
  }

  return (file) => {
    if (file.path.startsWith('test/tidy/')) return [];
    const section = SECTION.exec(file.text);
    const problems = section
      ? [`${file.path}: cites "${section[0]}…". Cite a heading: docs/decisions.md, "Heading".`]
      : [];
    if (file.path.endsWith('.md')) {
      const prose = file.text.replace(/^```[\s\S]*?^```/gm, '');
      return [...problems, ...[...prose.matchAll(LINK)].flatMap(([, target = '']) => linked(file, target))];
    }
    if (file.path.startsWith('test/docs/')) return problems;
    const citations = [...unwrapped(file.text).matchAll(CITED)];
    return [...problems, ...citations.flatMap(([, path = '', heading]) => cited(file, path, heading))];
  };
}
