/** An element of a page of the reference. */
export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Node[];
}

/** An element, or text without escapes. */
export type Node = Element | string;

const TOKEN = /<(\/?)([a-zA-Z][\w-]*)((?:\s+[\w:-]+(?:="[^"]*")?)*)\s*(\/?)>|([^<]+)/gy;
const ATTRIBUTE = /([\w:-]+)(?:="([^"]*)")?/g;
/** Elements without an end tag. */
const VOID: ReadonlySet<string> = new Set(['br', 'hr', 'img', 'input', 'wbr']);

const ESCAPES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
};

/**
 * Reads the HTML that the reference is made of, which the templates and the Markdown renderer beside this folder write:
 * every element is closed, every attribute is in double quotes. Throws at anything else.
 */
export function htmlTree(html: string): readonly Node[] {
  const root: Node[] = [];
  const open: { readonly name: string; readonly children: Node[] }[] = [{ name: '', children: root }];
  let end = 0;
  for (const token of html.matchAll(TOKEN)) {
    const [whole, slash, name = '', attributes = '', isEmpty, text] = token;
    end = token.index + whole.length;
    const top = open.at(-1);
    if (!top) break;
    if (text !== undefined) top.children.push(unescaped(text));
    else if (slash === '/') {
      if (top.name !== name) throw new Error(`</${name}> closes <${top.name}> ${near(html, token.index)}`);
      open.pop();
    } else {
      const children: Node[] = [];
      top.children.push({ name, attributes: attributesOf(attributes), children });
      if (isEmpty !== '/' && !VOID.has(name)) open.push({ name, children });
    }
  }
  if (end < html.length) throw new Error(`this HTML cannot be read ${near(html, end)}`);
  if (open.length > 1) throw new Error(`<${open.at(-1)?.name}> is not closed`);
  return root;
}

const near = (html: string, at: number) =>
  `near ${JSON.stringify(html.slice(Math.max(0, at - 40), at + 80))}`;

function attributesOf(text: string): Record<string, string> {
  const found = [...text.matchAll(ATTRIBUTE)];
  return Object.fromEntries(found.map(([, name = '', value = '']) => [name, unescaped(value)]));
}

function unescaped(text: string): string {
  return text.replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (written) => ESCAPES[written] ?? written);
}

/** Returns whether an element has one of these classes. */
export function hasClass({ attributes }: Element, ...classes: readonly string[]): boolean {
  const own = attributes.class?.split(' ') ?? [];
  return classes.some((name) => own.includes(name));
}

/** Returns the text of nodes, with the spaces that it has. */
export function textOf(nodes: readonly Node[]): string {
  return nodes.map((node) => (typeof node === 'string' ? node : textOf(node.children))).join('');
}

/** Returns the elements inside nodes that are of these names, in the order of the page. */
export function elementsOf(nodes: readonly Node[], ...names: readonly string[]): readonly Element[] {
  return nodes.flatMap((node) => {
    if (typeof node === 'string') return [];
    return names.includes(node.name) ? [node] : elementsOf(node.children, ...names);
  });
}
