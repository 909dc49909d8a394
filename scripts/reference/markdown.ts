import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Marked, type Tokens } from 'marked';
import { codeBlock, isLanguage, type Language } from './highlight.ts';
import { escaped, Html, slugOf } from './html.ts';
import { withPlaceholders } from './placeholders.ts';

/** Where the pages of docs/ and their sections are in the reference; a link to anything else there is shown as text. */
export type Links = ReadonlyMap<string, string>;

const NAMES: Readonly<Record<string, Language>> = { bash: 'sh', javascript: 'js', py: 'python' };

function renderer(links: Links, source: string, depthBy: number) {
  const named = new NamedRows();
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      // A placeholder such as <key> passes for a tag: it is shown. Comments are for those who edit the pages.
      html: ({ text }: Tokens.HTML | Tokens.Tag) =>
        text.trimStart().startsWith('<!--') ? '' : escaped(text),
      code: ({ text, lang = '' }: Tokens.Code) => {
        const name = NAMES[lang] ?? lang;
        return codeBlock(withPlaceholders(text), isLanguage(name) ? name : 'http').text;
      },
      heading({ tokens, depth, text }: Tokens.Heading) {
        const level = Math.min(depth + depthBy, 6);
        return `<h${level} id="${slugOf(text)}">${this.parser.parseInline(tokens)}</h${level}>\n`;
      },
      table(token: Tokens.Table) {
        const cells = (row: Tokens.TableCell[], tag: string) =>
          row
            .map((cell, column) => {
              const label = tag === 'td' ? labelOf(token, column) : '';
              return `<${tag}${label}>${this.parser.parseInline(cell.tokens)}</${tag}>`;
            })
            .join('');
        const begin = (row: Tokens.TableCell[]) => (links === none ? '<tr>' : named.begin(row));
        const body = token.rows.map((row) => `${begin(row)}${cells(row, 'td')}</tr>`).join('\n');
        return `<div class="table" tabindex="0" role="region" aria-label="Table"><table><thead><tr>${cells(token.header, 'th')}</tr></thead><tbody>${body}</tbody></table></div>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const text = this.parser.parseInline(tokens);
        const target = targetOf(href, links, source);
        return target === undefined ? text : `<a href="${escaped(target)}">${text}</a>`;
      },
    },
  });
  return marked;
}

/** The rows of a page's tables that describe something with a name in code: an error code, a setting, a command. */
class NamedRows {
  readonly #ids = new Set<string>();

  /** Returns the tag that begins a row: of one that is named with an id, by which the search leads to it. */
  begin(row: readonly Tokens.TableCell[]): string {
    const [name] = namesIn(row[0]) ?? namesIn(row[1]) ?? [];
    const id = name === undefined ? '' : `name-${slugOf(name)}`;
    if (id === '' || this.#ids.has(id)) return '<tr>';
    this.#ids.add(id);
    return `<tr id="${escaped(id)}">`;
  }
}

/** Returns the names that a cell consists of; undefined where it has other words. */
function namesIn(cell: Tokens.TableCell | undefined): string[] | undefined {
  const tokens = cell?.tokens ?? [];
  const isOnlyNames = tokens.every(({ type, raw }) => type === 'codespan' || /^[,\s]*$/.test(raw));
  const names = tokens
    .filter(({ type }) => type === 'codespan')
    .map((token) => (token as Tokens.Codespan).text);
  return isOnlyNames && names.length > 0 ? names : undefined;
}

const none: Links = new Map();

/** The label before a cell on a phone, where each row is a block; the cells of two columns explain themselves. */
function labelOf({ header }: Tokens.Table, column: number): string {
  const name = header[column]?.text ?? '';
  return header.length < 3 || name === '' ? '' : ` data-label="${escaped(name)}"`;
}

/** Where a link leads: elsewhere, to a page of the reference, or nowhere, when only the repository has what it names. */
function targetOf(href: string, links: Links, source: string): string | undefined {
  if (/^https?:/.test(href)) return href;
  const [path = '', heading] = href.split('#');
  const file = path === '' ? source : posix.normalize(posix.join(posix.dirname(source), path));
  return (heading === undefined ? undefined : links.get(`${file}#${heading}`)) ?? links.get(file);
}

const plain = renderer(none, '', 0);

/** Renders a description's Markdown. */
export function prose(text: string): Html {
  return new Html(plain.parse(text, { async: false }).trim());
}

/** Renders Markdown within a line. */
export function inline(text: string): Html {
  return new Html(plain.parseInline(text, { async: false }));
}

/** Renders a page of the repository, or its sections under the given headings, without the page's own title. */
export function page(source: string, headings: readonly string[] | undefined, links: Links): Html {
  const text = sectionsOf(source, headings);
  return new Html(renderer(links, source, 0).parse(text, { async: false }));
}

/** Returns the Markdown of a page's sections. Throws when the page lacks one of them. */
export function sectionsOf(source: string, headings: readonly string[] | undefined): string {
  const path = fileURLToPath(new URL(`../../${source}`, import.meta.url));
  if (!existsSync(path)) throw new Error(`${source} does not exist`);
  const [head = '', ...sections] = readFileSync(path, 'utf8').split(/^(?=## )/m);
  if (headings === undefined) return [head.replace(/^# .*\n/, ''), ...sections].join('');
  return headings
    .map((heading) => {
      const section = sections.find((each) => each.startsWith(`## ${heading}\n`));
      if (section === undefined) throw new Error(`${source} has no section "${heading}"`);
      return section;
    })
    .join('');
}
