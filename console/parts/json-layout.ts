interface Token {
  readonly kind: 'key' | 'text' | 'value' | 'mark';
  readonly text: string;
}

/** A text, a number or word, a mark, or space between them. */
const PARTS = /("(?:[^"\\]|\\.)*")(\s*:)?|([{}[\],])|([^\s{}[\],:"]+)/gs;
const INDENT = '  ';

/**
 * Lays JSON out over lines, as tokens for colours. Only the space between tokens changes: numbers keep their digits, which
 * parsing would not. Returns undefined for what is not JSON.
 */
export function layOut(json: string): readonly Token[] | undefined {
  try {
    JSON.parse(json);
  } catch {
    return undefined;
  }
  const tokens: Token[] = [];
  let depth = 0;
  const line = () => `\n${INDENT.repeat(depth)}`;
  let opened = false;
  for (const [, text, colon, mark, value] of json.matchAll(PARTS)) {
    const closes = mark === '}' || mark === ']';
    if (closes) depth -= 1;
    // An empty object or list stays on its line.
    if (opened !== closes) tokens.push({ kind: 'mark', text: line() });
    opened = false;
    if (text !== undefined) {
      tokens.push({ kind: colon === undefined ? 'text' : 'key', text });
      if (colon !== undefined) tokens.push({ kind: 'mark', text: ': ' });
    }
    if (value !== undefined) tokens.push({ kind: 'value', text: value });
    if (mark === undefined) continue;
    if (mark === '{' || mark === '[') {
      depth += 1;
      opened = true;
    }
    tokens.push({ kind: 'mark', text: mark === ',' ? `,${line()}` : mark });
  }
  return tokens;
}
