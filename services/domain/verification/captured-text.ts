/** Reads a request from what tools print of it: each writes headers in its own way. */

export interface Captured {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, where the text has one. */
  readonly body?: string;
}

type Pair = readonly [name: string, value: string];

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const QUOTED = /(["'])((?:\\.|(?!\1)[^\\])*)\1/gs;
/** A name and a value in quotation marks, as Node, Python, Ruby and PHP print them; Node quotes no simple name. */
const ENTRY = /(?:(["'])([\w$-]+)\1|([\w$-]+))\s*(?::|=>)\s*(["'])((?:\\.|(?!\4)[^\\])*)\4/gs;
const GO_ENTRY = /([\w-]+):\[([^\]]*)\]/g;
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
  if (/^(?:http\.Header)?(?:map\[|\{)/.test(trimmed)) return named(goPairs(trimmed));
  if (/^(?:ImmutableMultiDict|Headers|array|Array)\b/.test(trimmed)) return named(fromPrinted(trimmed));
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

function fromPrinted(text: string): readonly Pair[] {
  if (text.startsWith('[') || text.includes('[('))
    return inTurn([...text.matchAll(QUOTED)].map((match) => unescaped(match[2])));
  return [...text.matchAll(ENTRY)].map((match) => [match[2] ?? match[3] ?? '', unescaped(match[5])]);
}

function goPairs(text: string): readonly Pair[] {
  const printed = [...text.matchAll(/"([\w-]+)":\[\]string\{"((?:\\.|[^"\\])*)"/g)];
  if (printed.length > 0) return printed.map((match) => [`${match[1]}`, unescaped(match[2])]);
  return [...text.matchAll(GO_ENTRY)].map((match) => [`${match[1]}`, `${match[2]}`]);
}

function unescaped(text: string | undefined): string {
  return (text ?? '').replace(/\\(.)/gs, '$1');
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
