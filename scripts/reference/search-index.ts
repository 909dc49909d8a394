import type { Page } from './layout.ts';

interface Entry {
  readonly title: string;
  readonly kind: string;
  readonly url: string;
  /** Words by which it is found besides its title. */
  readonly text: string;
}

/** The texts that the search covers: every page and every headed part of it, with the words below that heading. */
export function searchIndex(pages: readonly Page[]): Entry[] {
  return pages.flatMap((page) => {
    const [head = '', ...parts] = page.content.text.split(/(?=<h[23] id=")/);
    const own: Entry = {
      title: page.title,
      kind: page.section,
      url: page.path,
      text: words(page.summary, head),
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
    return [own, ...sections];
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
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
