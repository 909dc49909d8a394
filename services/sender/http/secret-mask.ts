/** Replaces a secret. */
const SECRET_REMOVED = '[secret removed]';

/** A shorter prefix at the end of a cut text is kept: it reveals nothing, and ordinary text may end so. */
const PREFIX_MIN = 6;
const PREFIX = 'whsec_';
/** Shorter forms are not searched for: they occur in ordinary text. */
const FORM_MIN = 12;
/** Every character of a secret may be written as an escape of about six. */
export const MASKED_BYTES_MAX = 1024;

/**
 * Removes an endpoint's signing secret, and its decoded key, from its receiver's response: in plain form, escaped for
 * URLs, JSON or HTML, in base64 or hexadecimal (alone or within a longer text). Made once per endpoint version.
 */
export class SecretMask {
  readonly #whole: RegExp;
  readonly #cutOff: RegExp;
  readonly #lengthMin: number;

  /** `secret`: in plain text. */
  constructor(secret: string) {
    const forms = formsOf(secret).filter((form) => form.length >= FORM_MIN);
    const patterns = forms.map((form) => Array.from(form, patternOf));
    this.#whole = new RegExp(patterns.map((characters) => characters.join('')).join('|'), 'gi');
    this.#cutOff = new RegExp(`(?:${patterns.map(prefixPattern).join('|')})${CUT_ESCAPE}$`, 'i');
    this.#lengthMin = Math.min(...forms.map((form) => form.length));
  }

  /** Returns the text without the secret. */
  inText(text: string): string {
    if (text.length < this.#lengthMin) return text;
    return text.replace(this.#whole, SECRET_REMOVED);
  }

  /** Returns the bytes without the secret, and without its beginning at their end. */
  inBody(body: Buffer): Buffer {
    if (body.length < PREFIX_MIN) return body;
    const text = body.toString('latin1');
    const rest = this.inText(text);
    const end = Math.max(0, rest.length - MASKED_BYTES_MAX);
    const masked = rest.slice(0, end) + rest.slice(end).replace(this.#cutOff, SECRET_REMOVED);
    return masked === text ? body : Buffer.from(masked, 'latin1');
  }
}

function formsOf(secret: string): string[] {
  const isKey = secret.startsWith(PREFIX);
  // Without padding, which is optional and the same everywhere.
  const text = (isKey ? secret.slice(PREFIX.length) : secret).replace(/=+$/, '');
  const bytes = Buffer.from(text);
  const forms = [text, bytes.toString('hex'), ...[0, 1, 2].map((at) => base64Within(bytes, at))];
  if (!isKey) return forms;
  const key = Buffer.from(text, 'base64');
  return [...forms, key.toString('hex'), key.toString('latin1')];
}

/** Returns the base64 characters of `bytes` when they begin `at` bytes after a multiple of three in a longer text. */
function base64Within(bytes: Buffer, at: number): string {
  const encoded = Buffer.concat([Buffer.alloc(at), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const isWhole = (at + bytes.length) % 3 === 0;
  // The first and last characters also depend on the bytes before and after.
  return encoded.slice(Math.ceil((at * 8) / 6), isWhole ? undefined : -1);
}

const NAMED: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
  '/': 'sol',
  '+': 'plus',
  '=': 'equals',
};
/** The alphabet of base64 in URLs, and the form encoding of a plus. */
const OTHERWISE: Readonly<Record<string, string>> = { '+': '[- ]', '/': '_' };

/** Returns the pattern of a character, plain or in the escapes of URLs, JSON, JavaScript and HTML. */
function patternOf(character: string): string {
  if (/[a-z0-9]/i.test(character)) return character;
  const code = character.charCodeAt(0);
  const hex = code.toString(16).padStart(2, '0');
  const ways = [
    `\\\\*\\x${hex}`,
    `%(?:25)*${hex}`,
    `\\\\+(?:u00|x)${hex}`,
    `&#(?:0*${code}|x0*${hex});`,
    ...(NAMED[character] ? [`&${NAMED[character]};`] : []),
    ...(OTHERWISE[character] ? [OTHERWISE[character]] : []),
  ];
  return `(?:${ways.join('|')})`;
}

/** Returns the pattern of at least the first characters, and of as many of the others as there are. */
function prefixPattern(characters: readonly string[]): string {
  const first = characters.slice(0, PREFIX_MIN).join('');
  const others = characters.slice(PREFIX_MIN);
  return first + others.reduceRight((rest, character) => `(?:${character}${rest})?`, '');
}

/** The beginning of an escape. */
const CUT_ESCAPE = '(?:%[0-9a-f]*|\\\\+(?:u[0-9a-f]*|x[0-9a-f]*)?|&[#a-z0-9]*)?';
