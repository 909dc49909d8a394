/**
 * A look at the text of a JSON document, for what JSON.parse does not tell: where a text is malformed, and whether an
 * object has a name twice, of which JSON.parse keeps the last silently. JSON.parse alone reads the values.
 */

export type JsonTextFault =
  | { readonly kind: 'malformed'; readonly at: number; readonly expected: string }
  | { readonly kind: 'repeated'; readonly at: number; readonly pointer: string };

/** White space, then a punctuation mark, a string, or another scalar (RFC 8259). */
const TOKEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has no control character in a string.
  /[ \t\r\n]*(?:([{}[\],:])|("[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*")|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/y;
const SPACE = /[ \t\r\n]*/y;

/** The tokens that may come next. `first…`: at the beginning of an object or array, which may end there. */
type State = 'value' | 'firstItem' | 'name' | 'firstName' | 'colon' | 'after' | 'end';

const EXPECTED: Readonly<Record<State, string>> = {
  value: 'a value',
  firstItem: 'a value or "]"',
  name: 'a name in double quotes',
  firstName: 'a name in double quotes or "}"',
  colon: 'a colon',
  after: 'a comma or the end of the object or array',
  end: 'nothing more',
};

interface Level {
  /** Undefined for an array. */
  readonly names: Set<string> | undefined;
  /** The present name or index. */
  part: string | number;
}

/** Returns the first fault of a text that should be one JSON document, or undefined. */
export function jsonTextFault(text: string): JsonTextFault | undefined {
  const levels: Level[] = [];
  let state: State = 'value';
  for (let at = 0; ; ) {
    const start = tokenStart(text, at);
    if (start === text.length && state === 'end') return undefined;
    TOKEN.lastIndex = at;
    const [token, mark, string] = TOKEN.exec(text) ?? [];
    const next: State | 'repeated' | undefined =
      token === undefined ? undefined : stateAfter(state, mark, string, levels);
    if (token === undefined || next === undefined)
      return { kind: 'malformed', at: start, expected: EXPECTED[state] };
    if (next === 'repeated') return { kind: 'repeated', at: start, pointer: pointerTo(levels) };
    state = next;
    at += token.length;
  }
}

/** Returns the line and the column of a place, both from 1. */
export function placeIn(text: string, at: number): string {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  return `line ${line}, column ${at - before.lastIndexOf('\n')}`;
}

function tokenStart(text: string, at: number): number {
  SPACE.lastIndex = at;
  return at + (SPACE.exec(text)?.[0].length ?? 0);
}

/** Returns the state after a token, or undefined when the token may not come here. */
function stateAfter(
  state: State,
  mark: string | undefined,
  string: string | undefined,
  levels: Level[],
): State | 'repeated' | undefined {
  const top = levels.at(-1);
  switch (state) {
    case 'value':
    case 'firstItem':
      if (mark === undefined) return afterValue(levels);
      if (mark === ']' && state === 'firstItem') return closed(levels);
      if (mark !== '{' && mark !== '[') return undefined;
      levels.push(mark === '{' ? { names: new Set(), part: '' } : { names: undefined, part: 0 });
      return mark === '{' ? 'firstName' : 'firstItem';
    case 'name':
    case 'firstName':
      if (mark === '}' && state === 'firstName') return closed(levels);
      return string === undefined || top === undefined ? undefined : named(top, string);
    case 'colon':
      return mark === ':' ? 'value' : undefined;
    case 'after':
      if (mark === ',') return following(top);
      return mark === (top?.names ? '}' : ']') ? closed(levels) : undefined;
    case 'end':
      return undefined;
  }
}

function named(level: Level, string: string): State | 'repeated' {
  const name: string = JSON.parse(string);
  level.part = name;
  if (level.names?.has(name)) return 'repeated';
  level.names?.add(name);
  return 'colon';
}

function following(level: Level | undefined): State {
  if (level === undefined || level.names) return 'name';
  level.part = Number(level.part) + 1;
  return 'value';
}

function closed(levels: Level[]): State {
  levels.pop();
  return afterValue(levels);
}

function afterValue(levels: readonly Level[]): State {
  return levels.length === 0 ? 'end' : 'after';
}

const PART_SHOWN_MAX = 60;

function pointerTo(levels: readonly Level[]): string {
  const parts = levels.map(({ part }) => String(part).slice(0, PART_SHOWN_MAX));
  return parts.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
