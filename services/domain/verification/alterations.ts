/** Changes that the bytes of a webhook, or its secret, undergo on the way to the check. Each can be undone, and has a sentence. */

/** One change that was undone. The sentence names the cause and the remedy. */
export type Undone = string;

/** A text as it may have been before the changes. */
export interface Variant<Value = string> {
  readonly value: Value;
  readonly undone: readonly Undone[];
}

interface Alteration {
  readonly says: (text: string) => Undone;
  /** Returns the text without the change; the same text when it has none of it. */
  readonly undo: (text: string) => string;
}

const RAW = 'check the bytes as they came in, before anything parses or writes them';
const SPACE = ' \t\r\n';
const AROUND_SECRET = `${SPACE}"'\`,;`;
/** A `\u` escape, behind any number of escaped backslashes. */
const UNICODE = /(\\\\)|\\u([0-9a-fA-F]{4})/g;
const FIRST_PRINTED = 0x20;
const UNDONE_TOGETHER_MAX = 3;

const ALTERATIONS: readonly Alteration[] = [
  {
    says: () => 'the body begins with a byte order mark (BOM) that was not sent: save or read it without one',
    undo: (text) => text.replace(/^\ufeff/, ''),
  },
  {
    says: (text) =>
      `${spaceAround(text)} that was not sent: an editor, echo or a template has added it; ${RAW}`,
    undo: (text) => bare(text, SPACE),
  },
  {
    says: () =>
      'the body is in quotation marks, as a log or JSON.stringify writes a text: take the text itself',
    undo: withoutQuotes,
  },
  {
    says: () => `the JSON was laid out anew, with other spaces or line breaks between its parts: ${RAW}`,
    undo: (text) => (isJson(text) ? withoutSpaceBetween(text) : text),
  },
  {
    says: () =>
      `the JSON was written anew, with \\u escapes for characters that were sent as they are (Python’s json.dumps, ` +
      `PHP’s json_encode): ${RAW}`,
    undo: withoutUnicodeEscapes,
  },
  {
    says: () => `the JSON was written anew, with \\/ for / (PHP’s json_encode): ${RAW}`,
    undo: (text) => text.replace(/(\\\\)|\\\//g, (_, kept?: string) => kept ?? '/'),
  },
  {
    says: () =>
      'the body is UTF-8 and was read as Latin-1 or Windows-1252 (é became Ã©): read it as UTF-8, or as bytes',
    undo: withoutLatin1,
  },
];

/** Returns a text without any of these characters at its beginning and its end. */
function bare(text: string, characters: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && characters.includes(text.charAt(start))) start += 1;
  while (end > start && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** Returns JSON without white space between its parts. */
function withoutSpaceBetween(json: string): string {
  let kept = '';
  let isInside = false;
  for (let at = 0; at < json.length; at++) {
    const character = json.charAt(at);
    if (character === '"') isInside = !isInside;
    if (isInside || !SPACE.includes(character)) kept += character;
    // A character behind a backslash ends no text.
    if (character === '\\') {
      at += 1;
      kept += json.charAt(at);
    }
  }
  return kept;
}

function spaceAround(text: string): string {
  if (/^[ \t\r\n]/.test(text)) return 'the body has white space around it';
  if (/\r\n$/.test(text)) return 'the body ends with a line break (CRLF)';
  return /\n$/.test(text) ? 'the body ends with a line break (LF)' : 'the body ends with white space';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function withoutQuotes(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : text;
  } catch {
    return text;
  }
}

function withoutUnicodeEscapes(text: string): string {
  return text.replace(UNICODE, (whole, backslashes: string | undefined, hex: string) => {
    if (backslashes !== undefined) return whole;
    const code = Number.parseInt(hex, 16);
    const character = String.fromCharCode(code);
    return code < FIRST_PRINTED || character === '"' || character === '\\' ? whole : character;
  });
}

const BYTES = 0x100;
const windows1252 = new Map(
  [...new TextDecoder('windows-1252').decode(Uint8Array.from({ length: BYTES }, (_, byte) => byte))].map(
    (character, byte) => [character, byte] as const,
  ),
);

function withoutLatin1(text: string): string {
  const bytes = [...text].map((one) => windows1252.get(one) ?? one.codePointAt(0) ?? BYTES);
  if (bytes.some((byte) => byte >= BYTES)) return text;
  return textOf(Uint8Array.from(bytes)) ?? text;
}

/** Returns UTF-8 as text, or undefined when the bytes are none. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns a body as it may have been sent, the likeliest first; the body itself is not among them. */
export function bodyVariants(body: Uint8Array): readonly Variant<Uint8Array>[] {
  const text = textOf(body);
  if (text === undefined) return [];
  const found = new Map<string, readonly Undone[]>([[text, []]]);
  let last: readonly Variant[] = [{ value: text, undone: [] }];
  for (let count = 0; count < UNDONE_TOGETHER_MAX; count++) {
    const next: Variant[] = [];
    for (const { value, undone } of last) {
      for (const { says, undo } of ALTERATIONS) {
        const before = undo(value);
        if (found.has(before)) continue;
        const all = [...undone, says(value)];
        found.set(before, all);
        next.push({ value: before, undone: all });
      }
    }
    last = next;
  }
  const encoder = new TextEncoder();
  return [...found].slice(1).map(([value, undone]) => ({ value: encoder.encode(value), undone }));
}

/** Returns a secret as it may have been meant. */
export function secretVariants(secret: string): readonly Variant[] {
  const inside = bare(secret, AROUND_SECRET);
  const found: Variant[] = [];
  const add = (value: string, says: string) => {
    if (value !== secret && found.every((other) => other.value !== value))
      found.push({ value, undone: [says] });
  };
  add(inside, 'the secret has a space, line break or quotation mark around it: take it without');
  add(
    inside.replace(/^(?:authorization:\s*)?api-key\s+/i, ''),
    'the secret has the scheme "API-Key" before it: the secret is what follows',
  );
  if (!inside.startsWith('whsec_'))
    add(`whsec_${inside}`, 'the secret lacks its beginning "whsec_": take all of it');
  return found;
}

const MILLISECONDS = /^\d{13}$/;

/** Returns a timestamp as it may have been sent. */
export function timestampVariants(timestamp: string): readonly Variant[] {
  const seconds = (value: string, says: string): Variant => ({ value, undone: [says] });
  if (MILLISECONDS.test(timestamp))
    return [seconds(timestamp.slice(0, -3), 'webhook-timestamp is in milliseconds: seconds were sent')];
  const whole = /^(\d{1,12})\.\d+$/.exec(timestamp)?.[1];
  if (whole !== undefined)
    return [seconds(whole, 'webhook-timestamp has a fraction: whole seconds were sent; take it as text')];
  const at = /^\d{4}-/.test(timestamp) ? Date.parse(timestamp) : Number.NaN;
  if (Number.isNaN(at)) return [];
  return [
    seconds(`${Math.floor(at / 1000)}`, 'webhook-timestamp was turned into a date: take it as it was sent'),
  ];
}

const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi;
const IDS_MAX = 12;

/** Returns ids that may stand in the place of the one that was signed: any of the headers and the body. */
export function idVariants(
  id: string,
  headers: Readonly<Record<string, string | undefined>>,
  body: Uint8Array,
): readonly Variant[] {
  const texts = [id.toLowerCase(), ...Object.values(headers), textOf(body) ?? ''].join(' ');
  const others = new Set([...(texts.match(UUID) ?? [])].filter((other) => other !== id));
  return [...others].slice(0, IDS_MAX).map((value) => ({
    value,
    undone: [`webhook-id is ${id}, and ${value} was signed: something has replaced the header`],
  }));
}
