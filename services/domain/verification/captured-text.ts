/** Reads a request from what tools print of it: each writes headers in its own way. */

export interface Captured {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, where the text has one. */
  readonly body?: string;
}

type Pair = readonly [name: string, value: string];

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const BODY_OPTIONS = new Set(['-d', '--data', '--data-raw', '--data-binary', '--data-ascii']);
const HEADER_OPTIONS = new Set(['-H', '--header']);

/**
 * Returns the headers in a text, and the body if it has one: lines of "Name: value", a whole request, the output of
 * `curl -v`, a curl command, JSON, or what Node, Python, Go, PHP and Ruby print. Without headers, the record is empty.
 */
export function readCaptured(text: string): Captured {
  const trimmed = text.trim();
  if (/^curl\s/.test(trimmed)) return fromCurl(trimmed);
  if (/^[{[]/.test(trimmed)) return named(fromJson(trimmed) ?? fromPrinted(trimmed));
  if (trimmed.startsWith('map[')) return named(fromGoMap(trimmed));
  if (/^(?:http\.Header|ImmutableMultiDict|Headers|[Aa]rray)\b/.test(trimmed))
    return named(fromPrinted(trimmed));
  return fromLines(text);
}

function named(pairs: readonly Pair[], body?: string): Captured {
  const headers = Object.fromEntries(pairs.map(([name, value]) => [headerName(name), value]));
  return body === undefined ? { headers } : { headers, body };
}

/** CGI (PHP, Python, Ruby) and nginx name a header as a variable. */
function headerName(name: string): string {
  const variable = /^(?:HTTP_|\$http_)(\w+)$/.exec(name)?.[1];
  return (variable?.replaceAll('_', '-') ?? name).toLowerCase();
}

function fromLines(text: string): Captured {
  const lines = text.split(/\r?\n/);
  // curl -v puts "> " before what it sends, and "< " before what comes back.
  const sent = lines.filter((line) => line.startsWith('> '));
  if (sent.length > 0) return named(sent.flatMap((line) => pairOf(line.slice(2))));
  const end = /\r?\n\r?\n/.exec(text);
  const head = end === null ? [] : text.slice(0, end.index).split(/\r?\n/).flatMap(pairOf);
  const body = end === null ? '' : text.slice(end.index + end[0].length);
  return head.length > 0 && /^\s*[{["]/.test(body) ? named(head, body) : named(lines.flatMap(pairOf));
}

function pairOf(line: string): Pair[] {
  const [start = '', ...rest] = line.replace(/^< /, '').split(':');
  const name = start.trim();
  return rest.length > 0 && NAME.test(name) ? [[name, rest.join(':').trim()]] : [];
}

function fromJson(text: string): readonly Pair[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return inTurn(value.flat().map(String));
    return Object.entries(value as object).map(([name, one]) => [name, String(one)]);
  } catch {
    return undefined;
  }
}

interface Token {
  readonly kind: 'quoted' | 'word' | 'mark';
  readonly text: string;
}

const WORD = /[\w$-]/;
const SPACE = /\s/;

/** Returns the texts in quotation marks, the words and the marks of what a program prints. */
function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const first = text.charAt(at);
    let end = at + 1;
    if (first === '"' || first === "'") {
      let inside = '';
      for (; end < text.length && text.charAt(end) !== first; end++) {
        if (text.charAt(end) === '\\') end += 1;
        inside += text.charAt(end);
      }
      tokens.push({ kind: 'quoted', text: inside });
      end += 1;
    } else if (WORD.test(first)) {
      while (end < text.length && WORD.test(text.charAt(end))) end += 1;
      tokens.push({ kind: 'word', text: text.slice(at, end) });
    } else if (!SPACE.test(first)) tokens.push({ kind: 'mark', text: first });
    at = end;
  }
  return tokens;
}

/** The separators between a name and its value: `:`, `=>`, and `[]string{` of Go. */
const BETWEEN = new Set([':', '=', '>', '[', ']', 'string', '{']);
const BETWEEN_MAX = 6;

/** Reads what Node, Python, Ruby, PHP and Go print: pairs, or a list of names and values in turn. */
function fromPrinted(text: string): readonly Pair[] {
  const tokens = tokensOf(text);
  if (text.startsWith('[') || text.includes('[('))
    return inTurn(tokens.filter(({ kind }) => kind === 'quoted').map((token) => token.text));
  return tokens.flatMap((name, at): Pair[] => {
    const separator = tokens[at + 1]?.text;
    if (name.kind === 'mark' || (separator !== ':' && separator !== '=')) return [];
    let next = at + 1;
    while (next < at + BETWEEN_MAX && BETWEEN.has(tokens[next]?.text ?? '')) next += 1;
    const value = tokens[next];
    return value?.kind === 'quoted' ? [[name.text, value.text]] : [];
  });
}

/** Reads `map[Name:[value] Other:[value]]`, as Go prints headers. */
function fromGoMap(text: string): readonly Pair[] {
  const entries = text.slice('map['.length).replace(/\]\]$/, '').split('] ');
  return entries.flatMap((entry): Pair[] => {
    const [name = '', ...value] = entry.split(':[');
    return value.length > 0 ? [[name, value.join(':[')]] : [];
  });
}

function inTurn(texts: readonly string[]): readonly Pair[] {
  const pairs: Pair[] = [];
  for (let at = 0; at + 1 < texts.length; at += 2) pairs.push([`${texts[at]}`, `${texts[at + 1]}`]);
  return pairs;
}

function fromCurl(command: string): Captured {
  const words = shellWords(command);
  const pairs: Pair[] = [];
  let body: string | undefined;
  for (let at = 1; at < words.length; at++) {
    const option = words[at] ?? '';
    const value = words[at + 1] ?? '';
    if (HEADER_OPTIONS.has(option)) pairs.push(...pairOf(value));
    if (BODY_OPTIONS.has(option)) body = value;
  }
  return named(pairs, body);
}

/** A word may have parts in quotation marks; a backslash at the end of a line joins it with the next one. */
const SHELL_PART = /\$'((?:\\.|[^'\\])*)'|'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)|(\s+)|([^\s'"\\]+)/gs;
const C_ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** Returns the words of a command line of a POSIX shell. */
function shellWords(command: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (const [, cQuoted, single, double, escaped, space, plain] of command.matchAll(SHELL_PART)) {
    if (space !== undefined || escaped === '\n') {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    const c = cQuoted?.replace(/\\(u[0-9a-fA-F]{4}|.)/gs, (_, code: string) =>
      code.length > 1 ? String.fromCharCode(Number.parseInt(code.slice(1), 16)) : (C_ESCAPES[code] ?? code),
    );
    const part = c ?? single ?? double?.replace(/\\([$`"\\\n])/g, '$1') ?? escaped ?? plain ?? '';
    word = (word ?? '') + part;
  }
  return word === undefined ? words : [...words, word];
}
