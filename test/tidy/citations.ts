import { posix } from 'node:path';
import type { Problem, ProjectFile } from './project.ts';

/** A page's headings, as citations write them and as the anchors of links. */
interface Page {
  readonly headings: ReadonlySet<string>;
  readonly anchors: ReadonlySet<string>;
}

/** A file's text with every line's indent and comment marker removed and the lines joined by spaces. */
interface Joined {
  readonly text: string;
  lineAt(index: number): number;
}

/** A page by its path, then its anchor, or the headings that follow it in quotes. */
const MENTION =
  /(?<![\w./-])((?:\.\.?\/)*(?:[\w-]+\/)*[\w-]+\.md)\b(?:#([\w-]+)|((?:(?:, |,? and |,? or )"[^"]+")+))?/g;
/** A section by its number. The sections of an RFC have numbers. */
const SECTION =
  /\b(?:decisions?|specification|design)(?:,? section)?,? §? ?\d+(?:\.\d+)*|(?<!\bRFC \d+.{0,40})§ ?\d+(?:\.\d+)*/gi;
const LINK = /\[[^\]]*\]\(([^)\s]+)\)/g;
const FENCED = /^```[\s\S]*?^```/gm;
const INDENT_AND_MARKER = /^[ \t]*(?:\/?\*+|\/\/|#)?[ \t]*/;

/** Takes the place of a text without moving what follows it to another line. */
const blank = (text: string) => text.replace(/[^\n]/g, ' ');

const withoutFences = (text: string) => text.replace(FENCED, blank);

const lineOf = (text: string, index: number) => text.slice(0, index).split('\n').length;

/** The text of a heading, without its markup. */
const plain = (heading: string) => heading.replace(/`|\*\*/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

function readPage(text: string): Page {
  const headings = [...withoutFences(text).matchAll(/^#{1,6} (.+?)\s*$/gm)].map(([, heading = '']) =>
    plain(heading),
  );
  const counts = new Map<string, number>();
  const anchors = headings.map((heading) => {
    const anchor = anchorOf(heading);
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
  return { headings: new Set(headings), anchors: new Set(anchors) };
}

/** Joins lines, so that a citation across two of them is found. */
function joined(text: string): Joined {
  const lines = text.split('\n').map((line) => line.replace(INDENT_AND_MARKER, ''));
  const ends: number[] = [];
  let end = 0;
  for (const line of lines) {
    end += line.length + 1;
    ends.push(end);
  }
  return { text: lines.join(' '), lineAt: (index) => ends.findIndex((each) => index < each) + 1 };
}

function sectionProblems(path: string, { text, lineAt }: Joined): Problem[] {
  return [...text.matchAll(SECTION)].map(
    ({ 0: section, index }) =>
      `${path}:${lineAt(index)}: "${section}". Sections have no numbers: cite docs/decisions.md, "Heading".`,
  );
}

/**
 * Returns a rule over the whole project: a page that is named or linked exists, and so does its heading. Code names a
 * page by its path from the root, or from the file if it begins with a dot; a page may also name another one from its
 * own folder. Headings are cited as `docs/page.md, "Heading"`, and linked as `page.md#anchor`.
 */
export function citationProblems(
  files: readonly ProjectFile[],
  pictures: readonly string[] = [],
): (file: ProjectFile) => Problem[] {
  const isPage = (path: string) => path.endsWith('.md');
  const paths = new Set([...files.map(({ path }) => path), ...pictures]);
  const pages = new Map(
    files.filter(({ path }) => isPage(path)).map(({ path, text }) => [path, readPage(text)]),
  );
  const isThere = (path: string) =>
    path === '.' || paths.has(path) || files.some((file) => file.path.startsWith(`${path}/`));
  const noAnchor = (path: string, anchor: string | undefined) =>
    anchor !== undefined && pages.get(path)?.anchors.has(anchor) === false;

  function linkProblems(file: ProjectFile): Problem[] {
    const text = withoutFences(file.text);
    return [...text.matchAll(LINK)].flatMap(({ 1: target = '', index }) => {
      if (/^[a-z]+:/.test(target)) return [];
      const [name = '', anchor] = target.split('#');
      const path = name === '' ? file.path : posix.join(posix.dirname(file.path), name).replace(/\/$/, '');
      const where = `${file.path}:${lineOf(text, index)}`;
      if (!isThere(path)) return [`${where}: links to ${path}, which does not exist.`];
      if (!noAnchor(path, anchor)) return [];
      return [`${where}: links to "#${anchor}", which is no heading of ${path}.`];
    });
  }

  function pathOf(file: ProjectFile, named: string): string {
    const fromFile = posix.join(posix.dirname(file.path), named);
    if (named.startsWith('.')) return fromFile;
    return isPage(file.path) && pages.has(fromFile) ? fromFile : named;
  }

  function mentionProblems(file: ProjectFile, { text, lineAt }: Joined): Problem[] {
    return [...text.matchAll(MENTION)].flatMap(({ 1: named = '', 2: anchor, 3: quoted = '', index }) => {
      const path = pathOf(file, named);
      const where = `${file.path}:${lineAt(index)}`;
      const page = pages.get(path);
      if (!page) return [`${where}: names ${named}, which does not exist. Write its path from the root.`];
      if (noAnchor(path, anchor)) return [`${where}: "#${anchor}" is no heading of ${path}.`];
      return [...quoted.matchAll(/"([^"]+)"/g)]
        .filter(([, heading = '']) => !page.headings.has(heading))
        .map(([heading]) => `${where}: ${heading} is no heading of ${path}. Cite one that it has.`);
    });
  }

  return (file) => {
    // The rules must name what they forbid.
    if (file.path.startsWith('test/tidy/')) return [];
    if (!isPage(file.path)) {
      const text = joined(file.text);
      return [...sectionProblems(file.path, text), ...mentionProblems(file, text)];
    }
    const prose = joined(file.text.replace(LINK, blank));
    return [...sectionProblems(file.path, prose), ...mentionProblems(file, prose), ...linkProblems(file)];
  };
}
