import { type Element, hasClass, type Node, textOf } from './html-tree.ts';

/** Returns where a link of the page leads, seen from its Markdown. */
export type LinkTo = (href: string) => string;

/** Writes what stands in a line as Markdown. */
export function inlineMarkdown(nodes: readonly Node[], linkTo: LinkTo): string {
  const text = nodes.map((node) => (typeof node === 'string' ? plain(node) : element(node, linkTo))).join('');
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** Writes text so that no character of it is taken for a mark. */
function plain(text: string): string {
  return text.replaceAll(/[\\`*_[\]<>]/g, (mark, at: number) =>
    isInWord(text, at, mark) ? mark : `\\${mark}`,
  );
}

/** An underscore within a word marks nothing. */
function isInWord(text: string, at: number, mark: string): boolean {
  return mark === '_' && /\w/.test(text[at - 1] ?? '') && /\w/.test(text[at + 1] ?? '');
}

function element(node: Element, linkTo: LinkTo): string {
  const inside = () => inlineMarkdown(node.children, linkTo);
  // The spaces around an element are in its text, where templates put them.
  const spaced = (text: string) => {
    const whole = textOf(node.children);
    return `${/^\s/.test(whole) ? ' ' : ''}${text}${/\s$/.test(whole) ? ' ' : ''}`;
  };
  switch (node.name) {
    case 'code':
      return codeSpan(textOf(node.children));
    case 'strong':
      return `**${inside()}**`;
    case 'em':
      return `*${inside()}*`;
    case 'del':
      return `~~${inside()}~~`;
    case 'a':
      return link(node, linkTo);
    case 'br':
      return ' ';
    case 'wbr':
    case 'input':
      return '';
    default:
      return hasClass(node, 'count') ? `(${inside()})` : spaced(inside());
  }
}

function codeSpan(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  const fence = line.includes('`') ? '``' : '`';
  const space = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${fence}${space}${line}${space}${fence}`;
}

/** A card or a route has a title and, as its last element, a sentence about it. */
function link({ attributes, children }: Element, linkTo: LinkTo): string {
  const last = children.at(-1);
  const hasNote =
    children.length > 1 && typeof last === 'object' && last.name === 'span' && !hasClass(last, 'method');
  const title = inlineMarkdown(hasNote ? children.slice(0, -1) : children, linkTo);
  const note = hasNote ? `: ${inlineMarkdown([last], linkTo)}` : '';
  return `[${title}](${linkTo(attributes.href ?? '')})${note}`;
}
