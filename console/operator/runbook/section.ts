/** A paragraph of the runbook, or a list. */
type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] };

/** Returns the section of an alert in docs/operate/README.md; undefined when it has none. */
export function sectionOf(markdown: string, alert: string): readonly Block[] | undefined {
  const sections = markdown.split(/^### /m).slice(1);
  const found = sections.find((section) => section.startsWith(`${alert}\n`));
  if (found === undefined) return undefined;
  const [body = ''] = found.slice(alert.length).split(/^## /m);
  return body
    .split(/\n{2,}/)
    .map((block) => block.trim())
    .filter((block) => block !== '')
    .map((block) =>
      block.startsWith('- ')
        ? { kind: 'list', items: block.split(/^- /m).flatMap((item) => item.trim() || []) }
        : { kind: 'text', text: block },
    );
}

/** Returns a line of Markdown without its marks, except those of code: a link keeps its text, and emphasis its words. */
export function plainOf(line: string): string {
  const marked = /`[^`]*`|\[([^[\]]+)\]\([^()]+\)|\*(\S[^*]*)\*/g;
  return line.replace(marked, (whole: string, link?: string, word?: string) => link ?? word ?? whole);
}
