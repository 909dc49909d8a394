import type { Page } from './layout.ts';

interface Entry {
  readonly title: string;
  readonly kind: string;
  readonly url: string;
  /** Words by which it is found besides its title. */
  readonly text: string;
  /** The names of what it describes: one who asks for such a name wants this entry. */
  readonly names?: readonly string[];
  /** The questions that it answers, in the words of those who ask. */
  readonly phrases?: readonly string[];
}

/**
 * The texts that the search covers: every page, every headed part of it with the words below that heading, and every row
 * of a table that describes something with a name.
 */
export function searchIndex(pages: readonly Page[]): Entry[] {
  return pages.flatMap((page) => {
    const [head = '', ...parts] = page.content.text.split(/(?=<h[23] id=")/);
    const own: Entry = {
      title: page.title,
      kind: page.section,
      url: page.path,
      text: words(page.summary, head),
      ...(page.phrases && { phrases: page.phrases }),
    };
    const sections = parts.map((part): Entry => {
      const [whole = '', id = '', heading = ''] = /^<h[23] id="([^"]+)">(.*?)<\/h[23]>/.exec(part) ?? [];
      return {
        title: plain(heading),
        kind: page.title,
        url: `${page.path}#${id}`,
        text: words('', part.slice(whole.length)),
      };
    });
    return [own, ...sections, ...namedRows(page)];
  });
}

/** Characters of a row that the search covers: its beginning says what the named thing is. */
const ROW_MAX = 160;

function namedRows({ path, title, content, phrases = [] }: Page): Entry[] {
  const rows = content.text.matchAll(/<tr id="([^"]+)">([\s\S]*?)<\/tr>/g);
  return [...rows].map(([, id = '', row = '']) => {
    const cells = [...row.matchAll(/<td\b[^>]*>([\s\S]*?)<\/td>/g)].map(([, cell = '']) => cell);
    const named = cells.find((cell) => cell.includes('<code')) ?? '';
    const names = [...named.matchAll(/<code\b[^>]*>(.*?)<\/code>/g)].map(([, name = '']) => plain(name));
    const bareNames = names.map((name) => name.replace(/ (<|\[|--).*/, ''));
    const text = `${phrases.join(' ')} ${plain(cells.join(' ')).slice(0, ROW_MAX)}`.trim();
    return {
      title: names.join(', '),
      kind: title,
      url: `${path}#${id}`,
      text,
      names: [...new Set([...names, ...bareNames])],
    };
  });
}

/** Words of ordinary language are indexed up to here: the beginning says what a part is about. */
const PROSE_MAX = 700;
/** A name, a number or an abbreviation, which is looked up wherever it stands: not a word of ordinary language. */
const NAME = /[^A-Za-z]|[a-z][A-Z]|[A-Z]{2}/;

/** Returns each word by which a part is found once: of its beginning all, of the rest names, and what is code. */
function words(summary: string, part: string): string {
  const all = plain(`${summary} ${part}`).split(/\s+/).map(bare);
  const code = [...part.matchAll(/<(code|pre)\b[^>]*>([\s\S]*?)<\/\1>/g)].map(([, , text = '']) =>
    plain(text),
  );
  const beginning = [...new Set(all)].join(' ').slice(0, PROSE_MAX).split(' ');
  const names = [...all.filter((word) => NAME.test(word)), ...code.join(' ').split(/\s+/).map(bare)];
  return [...new Set([...beginning, ...names])].filter((word) => !/\.md\b/.test(word)).join(' ');
}

function bare(word: string): string {
  return word.replaceAll(/^[([{"'`,.;:]+|[)\]}"'`,.;:]+$/g, '');
}

function plain(text: string): string {
  return text
    .replaceAll(/<wbr>/g, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
