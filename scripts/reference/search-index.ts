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
    const parts = page.content.text.split(/(?=<h[23] id=")/).slice(1);
    const own: Entry = {
      title: page.title,
      kind: page.section,
      url: page.path,
      text: page.summary,
    };
    const sections = parts.map((part): Entry => {
      const [, id = '', heading = ''] = /^<h[23] id="([^"]+)">(.*?)<\/h[23]>/.exec(part) ?? [];
      const about =
        /<(?:p|td|li)\b[\s\S]*?(?=<details|<div class="samples")/.exec(`${part}<details`)?.[0] ?? '';
      return {
        title: plain(heading),
        kind: page.title,
        url: `${page.path}#${id}`,
        text: [...new Set(plain(about).split(/\s+/))].join(' ').slice(0, 700),
      };
    });
    return [own, ...sections];
  });
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
