import { type Element, elementsOf, hasClass, htmlTree, type Node, textOf } from './html-tree.ts';
import { inlineMarkdown, type LinkTo } from './inline-markdown.ts';

/** Elements that stand in a line with what is around them. */
const INLINE: ReadonlySet<string> = new Set([
  'a',
  'br',
  'code',
  'del',
  'em',
  'input',
  'span',
  'strong',
  'wbr',
]);
/** Drawings have their moves as a list beside them; the names of tabs stand above their code. */
const LEFT_OUT: ReadonlySet<string> = new Set(['svg', 'input', 'label', 'hr']);

/** Writes the HTML of a page of the reference as Markdown. */
export function markdownOf(html: string, linkTo: LinkTo): string {
  return blocks(htmlTree(html), linkTo).join('\n\n');
}

/** The blocks of nodes, in order; what stands in a line becomes a paragraph. */
function blocks(nodes: readonly Node[], linkTo: LinkTo): string[] {
  const all: string[] = [];
  let line: Node[] = [];
  const endLine = () => {
    const text = inlineMarkdown(line, linkTo);
    if (text !== '') all.push(text);
    line = [];
  };
  for (const node of nodes) {
    if (typeof node === 'string' || INLINE.has(node.name)) line.push(node);
    else {
      endLine();
      all.push(...block(node, linkTo));
    }
  }
  endLine();
  return all;
}

function block(node: Element, linkTo: LinkTo): string[] {
  const { name, children } = node;
  if (LEFT_OUT.has(name)) return [];
  if (/^h[1-6]$/.test(name)) return [heading(node, linkTo)];
  switch (name) {
    case 'pre':
      return [codeBlock(node)];
    case 'ul':
    case 'ol':
      return [list(node, linkTo)];
    case 'table':
      return [table(node, linkTo)];
    case 'summary':
      return [`**${inlineMarkdown(children, linkTo)}**`];
    case 'blockquote':
      return [blocks(children, linkTo).join('\n\n').replaceAll(/^/gm, '> ').replaceAll(/ +$/gm, '')];
    case 'p':
      return [
        hasClass(node, 'sample-title')
          ? `**${inlineMarkdown(children, linkTo)}**`
          : inlineMarkdown(children, linkTo),
      ];
    default:
      if (hasClass(node, 'tabs')) return tabs(node);
      return hasClass(node, 'field') ? [field(node, linkTo)] : blocks(children, linkTo);
  }
}

/** A heading, with its own anchor where its text does not give it. */
function heading({ name, attributes, children }: Element, linkTo: LinkTo): string {
  // The page's own title is the only one of the first level.
  const marks = '#'.repeat(Math.max(Number(name.slice(1)), 2));
  const inside = children.flatMap((node) =>
    typeof node === 'object' && node.attributes.href?.startsWith('#') ? node.children : [node],
  );
  const { id } = attributes;
  const anchor = id === undefined || id === anchorOf(textOf(inside)) ? '' : ` <a id="${id}"></a>`;
  return `${marks} ${inlineMarkdown(inside, linkTo)}${anchor}`;
}

/** The anchor that readers of Markdown make of a heading, as GitHub does. */
function anchorOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

function codeBlock({ attributes, children }: Element): string {
  const code = textOf(children).replace(/\n$/, '');
  const longest = Math.max(2, ...[...code.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  const language = attributes['data-language'] ?? '';
  return `${fence}${language === 'http' ? '' : language}\n${code}\n${fence}`;
}

/** Each tab's code below its name. */
function tabs({ children }: Element): string[] {
  const names = elementsOf(children, 'label').map(({ children: label }) => textOf(label));
  return elementsOf(children, 'pre').flatMap((code, at) => [`${names[at]}:`, codeBlock(code)]);
}

function list({ name, children }: Element, linkTo: LinkTo): string {
  const items = elementsOf(children, 'li').map((item, at) => {
    const mark = name === 'ol' ? `${at + 1}. ` : '- ';
    const indent = ' '.repeat(mark.length);
    const inside = blocks(item.children, linkTo).join('\n\n');
    return mark + inside.replaceAll(/\n(?!\n)/g, `\n${indent}`).replaceAll(/[ ]+$/gm, '');
  });
  return items.join('\n');
}

/** `name` (type; notes): one field of a list of fields. */
function field({ children }: Element, linkTo: LinkTo): string {
  const [name = '', ...notes] = children
    .filter((node) => typeof node === 'object')
    .map((node) => inlineMarkdown([node], linkTo));
  return notes.length === 0 ? name : `${name} (${notes.join('; ')})`;
}

function table({ children }: Element, linkTo: LinkTo): string {
  const rows = elementsOf(children, 'tr').map((row) =>
    elementsOf(row.children, 'th', 'td').map((cell) => cellText(cell, linkTo)),
  );
  const [head = [], ...body] = rows;
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...body.map(line)].join('\n');
}

function cellText({ children }: Element, linkTo: LinkTo): string {
  return blocks(children, linkTo).join(' ').replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');
}
