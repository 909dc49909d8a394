/**
 * A look at the text of a JSON document, for what JSON.parse does not tell: where a text is malformed, and whether an
 * object has a name twice, of which JSON.parse keeps the last silently. JSON.parse alone reads the values.
 */

export type JsonTextFault =
  | {
      readonly kind: 'malformed';
      readonly at: number;
      /** A sentence without its end. */
      readonly expected: string;
      /** The value that the fault is in. */
      readonly pointer: string;
    }
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
    if (token === undefined || next === undefined) return malformedAt(text, start, state, levels);
    if (next === 'repeated') return { kind: 'repeated', at: start, pointer: pointerTo(levels) };
    state = next;
    at += token.length;
  }
}

export interface TextPosition {
  /** From 1. */
  readonly line: number;
  /** From 1, in characters. */
  readonly column: number;
  /** From 0. */
  readonly byteOffset: number;
}

/** Returns a place of a text, as an editor and as a program counts it. A byte order mark before the text is not counted. */
export function positionIn(text: string, at: number): TextPosition {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  const column = [...before.slice(before.lastIndexOf('\n') + 1)].length + 1;
  return { line, column, byteOffset: Buffer.byteLength(before) };
}

/** Returns the line and the column of a place in words. */
export function placeIn(text: string, at: number): string {
  const { line, column } = positionIn(text, at);
  return `line ${line}, column ${column}`;
}

/** White space that is looked through for a comma. */
const SPACE_SEEN_MAX = 1000;

/** A string that began well: its quotation mark and what follows. */
const STRING_START =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has no control character in a string.
  /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*/y;

/** Returns the fault of a token that may not come here. In a string that is broken off, it is where the string breaks. */
function malformedAt(text: string, start: number, state: State, levels: readonly Level[]): JsonTextFault {
  const isAtName = state === 'name' || state === 'firstName';
  const pointer = pointerTo(isAtName ? levels.slice(0, -1) : levels);
  const mayBeString = state !== 'colon' && state !== 'after' && state !== 'end';
  STRING_START.lastIndex = start;
  const string = mayBeString ? STRING_START.exec(text)?.[0] : undefined;
  const end = start + (string?.length ?? 0);
  if (string === undefined || text[end] === '"') {
    const expected = `${EXPECTED[state]} is expected${isAfterComma(text, start) ? ' after the comma' : ''}`;
    return { kind: 'malformed', at: start, expected, pointer };
  }
  return { kind: 'malformed', at: end, expected: `${inStringExpected(text[end])} is expected`, pointer };
}

/** Returns whether an object or array ends right after a comma, which JavaScript allows and JSON does not. */
function isAfterComma(text: string, at: number): boolean {
  return (
    (text[at] === '}' || text[at] === ']') &&
    /,[ \t\r\n]*$/.test(text.slice(Math.max(0, at - SPACE_SEEN_MAX), at))
  );
}

function inStringExpected(character: string | undefined): string {
  if (character === undefined) return 'a double quote that ends the string';
  if (character === '\\')
    return 'an escape of JSON (\\", \\\\, \\/, \\b, \\f, \\n, \\r, \\t, or \\u and four digits)';
  return 'a double quote, or the control character as an escape (\\n, \\t, \\u0000)';
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
/** The pointer to a value that lies deeper names the one around it. */
const DEPTH_SHOWN_MAX = 20;

function pointerTo(levels: readonly Level[]): string {
  const parts = levels.slice(0, DEPTH_SHOWN_MAX).map(({ part }) => String(part).slice(0, PART_SHOWN_MAX));
  return parts.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
