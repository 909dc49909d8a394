import { NAME_MAX, NAMED } from './html-names.ts';
import { UnescapedView } from './unescaped-view.ts';
import type { View } from './view.ts';

/**
 * Escapes within escapes are undone this many times, besides the runs of backslashes, `%25` and `&amp;` that are undone
 * at once however long they are.
 */
const ROUNDS_MAX = 6;

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const EQUALS = 0x3d;
const SEMICOLON = 0x3b;
const HASH = 0x23;
const ZERO = 0x30;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
/** Replaces a character that no secret and no key has: one above U+00FF. */
const FOREIGN = 0x1a;
/** The escape stands for nothing, as the end of a line that was only broken does. */
const NOTHING = -1;

/** The value of each hexadecimal digit; 255 for other bytes. */
const HEX = new Uint8Array(256).fill(255);
for (let digit = 0; digit < 16; digit += 1) {
  HEX[digit.toString(16).charCodeAt(0)] = digit;
  HEX[digit.toString(16).toUpperCase().charCodeAt(0)] = digit;
}

/** Letters after a backslash that stand for white space. */
const WHITE_SPACE: ReadonlySet<number> = new Set(Array.from('nrtfvb', (letter) => letter.charCodeAt(0)));

/** One escape that was read: what it stands for, and where the text goes on. */
interface Escape {
  code: number;
  next: number;
}

/**
 * Undoes the escapes of URLs, JSON, JavaScript, C, HTML and quoted-printable, of any character and within each other, and
 * removes zero bytes, which UTF-16 has between its characters. Returns null where they are nested so deeply that only an
 * attacker writes them. The time is linear in the length.
 */
export function unescaped(view: View): View | null {
  let plain = joined(view);
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const next = unescapedOnce(plain);
    if (next === plain) return plain;
    plain = next;
  }
  return unescapedOnce(plain) === plain ? plain : null;
}

/** Removes zero bytes and the ends of broken lines. First, because they may stand within an escape. */
function joined(view: View): View {
  const { bytes } = view;
  const read: Escape = { code: 0, next: 0 };
  let out: UnescapedView | null = null;
  for (let i = 0; i < bytes.length; ) {
    const byte = bytes[i];
    const isBreak = byte === 0 || byte === EQUALS || byte === BACKSLASH;
    if (isBreak && (byte === 0 ? found(read, NOTHING, i + 1) : readBrokenLine(bytes, i + 1, read))) {
      out ??= new UnescapedView(view);
      out.add(i, read.next, NOTHING);
      i = read.next;
    } else i += 1;
  }
  out?.end();
  return out ?? view;
}

/** Reads white space and the end of a line. */
function readBrokenLine(bytes: Buffer, at: number, read: Escape): boolean {
  let i = at;
  while (bytes[i] === SPACE || bytes[i] === 0x09) i += 1;
  if (bytes[i] === CR && bytes[i + 1] === LF) return found(read, NOTHING, i + 2);
  return (bytes[i] === LF || bytes[i] === CR) && found(read, NOTHING, i + 1);
}

/** Bytes that may begin an escape. */
const MAY_BEGIN = new Uint8Array(256);
for (const byte of [BACKSLASH, PERCENT, AMPERSAND, EQUALS, ZERO]) MAY_BEGIN[byte] = 1;

function unescapedOnce(view: View): View {
  const { bytes } = view;
  const read: Escape = { code: 0, next: 0 };
  let out: UnescapedView | null = null;
  for (let i = 0; i < bytes.length; ) {
    if (MAY_BEGIN[bytes[i] as number] === 1 && readEscape(bytes, i, read)) {
      out ??= new UnescapedView(view);
      out.add(i, read.next, read.code > 255 ? FOREIGN : read.code);
      i = read.next;
    } else i += 1;
  }
  out?.end();
  return out ?? view;
}

/** Reads the escape that begins at `at`. Returns false when none does. */
function readEscape(bytes: Buffer, at: number, read: Escape): boolean {
  switch (bytes[at]) {
    case BACKSLASH:
      return readBackslashes(bytes, at, read);
    case PERCENT:
      return readPercent(bytes, at, read);
    case AMPERSAND:
      return readReference(bytes, at, read);
    case EQUALS:
      return readQuotedPrintable(bytes, at, read);
    default:
      return readLiteral(bytes, at, read);
  }
}

function found(read: Escape, code: number, next: number): true {
  read.code = code;
  read.next = next;
  return true;
}

/** `\u0077`, `\u{77}`, `\U00000077`, `\x77`, `\167`, `\n`, a line that goes on, `\/`: after any number of backslashes. */
function readBackslashes(bytes: Buffer, at: number, read: Escape): boolean {
  let i = at;
  while (bytes[i] === BACKSLASH) i += 1;
  const letter = bytes[i] as number;
  if (readBrokenLine(bytes, i, read)) return true;
  if (WHITE_SPACE.has(letter)) return found(read, LF, i + 1);
  if (letter === 0x75 && readBraced(bytes, i + 1, read)) return true;
  if (letter === 0x75 && readHex(bytes, i + 1, 4, read)) return true;
  if (letter === 0x55 && readHex(bytes, i + 1, 8, read)) return true;
  if (letter === 0x78 && readHex(bytes, i + 1, 2, read)) return true;
  if (readOctal(bytes, i, read)) return true;
  if (!isCutOff(bytes, i)) return found(read, NOTHING, i);
  return i > at + 1 && found(read, BACKSLASH, i);
}

/** Whether the text ends within the hexadecimal escape whose letter is at `at`. */
function isCutOff(bytes: Buffer, at: number): boolean {
  const letter = bytes[at];
  if (letter !== 0x75 && letter !== 0x55 && letter !== 0x78) return false;
  const first = bytes[at + 1] === 0x7b ? at + 2 : at + 1;
  return number(bytes, first, 16).next === bytes.length;
}

/** Reads exactly so many hexadecimal digits. */
function readHex(bytes: Buffer, at: number, digits: number, read: Escape): boolean {
  let code = 0;
  for (let i = at; i < at + digits; i += 1) {
    const digit = i < bytes.length ? (HEX[bytes[i] as number] as number) : 255;
    if (digit > 15) return false;
    code = code * 16 + digit;
  }
  return found(read, code, at + digits);
}

function readBraced(bytes: Buffer, at: number, read: Escape): boolean {
  if (bytes[at] !== 0x7b) return false;
  const { code, next } = number(bytes, at + 1, 16);
  if (next === at + 1 || bytes[next] !== 0x7d) return false;
  return found(read, code, next + 1);
}

/** Three octal digits, or four that begin with a zero. */
function readOctal(bytes: Buffer, at: number, read: Escape): boolean {
  let code = 0;
  let i = at;
  const isLong = bytes[at] === ZERO && isOctal(bytes[at + 3]) && (bytes[at + 1] as number) <= ZERO + 1;
  for (const last = at + (isLong ? 4 : 3); i < last && isOctal(bytes[i]); i += 1) {
    code = code * 8 + (bytes[i] as number) - ZERO;
  }
  return i > at && found(read, code === 0 ? NOTHING : code, i);
}

function isOctal(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= ZERO + 7;
}

/** `%77`, `%u0077`, `%2577`, `%252577` … */
function readPercent(bytes: Buffer, at: number, read: Escape): boolean {
  if (bytes[at + 1] === 0x75 && readHex(bytes, at + 2, 4, read)) return true;
  let i = at + 1;
  while (bytes[i] === 0x32 && bytes[i + 1] === 0x35 && readHex(bytes, i + 2, 2, read)) i += 2;
  return readHex(bytes, i, 2, read);
}

/** `&#119;`, `&#x77;`, `&plus;`, `&amp;plus;`: the semicolon of a number may be missing, as browsers have it. */
function readReference(bytes: Buffer, at: number, read: Escape): boolean {
  let i = at + 1;
  while (isText(bytes, i, 'amp;')) i += 4;
  if (bytes[i] === HASH) {
    const isHex = bytes[i + 1] === 0x78 || bytes[i + 1] === 0x58;
    const first = i + (isHex ? 2 : 1);
    const { code, next } = number(bytes, first, isHex ? 16 : 10);
    if (next > first) return found(read, code, next + (bytes[next] === SEMICOLON ? 1 : 0));
  } else {
    let end = i;
    while (end - i < NAME_MAX && isWord(bytes[end])) end += 1;
    const code = bytes[end] === SEMICOLON ? NAMED.get(bytes.toString('latin1', i, end)) : undefined;
    if (code !== undefined) return found(read, code, end + 1);
  }
  return i > at + 1 && found(read, AMPERSAND, i);
}

function isText(bytes: Buffer, at: number, text: string): boolean {
  for (let i = 0; i < text.length; i += 1) if (bytes[at + i] !== text.charCodeAt(i)) return false;
  return true;
}

/** Reads a number of any length. Beyond the code points it is FOREIGN, as every character that no secret has. */
function number(bytes: Buffer, at: number, base: 10 | 16): { code: number; next: number } {
  let code = 0;
  let i = at;
  for (; i < bytes.length; i += 1) {
    const digit = HEX[bytes[i] as number] as number;
    if (digit >= base) break;
    code = Math.min(code * base + digit, 0x110000);
  }
  return { code, next: i };
}

/** `=77`, in capitals, and the soft line break: an equals sign, white space and the end of the line. */
function readQuotedPrintable(bytes: Buffer, at: number, read: Escape): boolean {
  if (readBrokenLine(bytes, at + 1, read)) return true;
  return isCapitalHex(bytes[at + 1]) && isCapitalHex(bytes[at + 2]) && readHex(bytes, at + 1, 2, read);
}

function isCapitalHex(byte: number | undefined): boolean {
  return byte !== undefined && byte <= 0x46 && (HEX[byte] as number) < 16;
}

/** `0x77`, which stands alone, with what separates it from the next one. */
function readLiteral(bytes: Buffer, at: number, read: Escape): boolean {
  if (!isLiteralStart(bytes, at)) return false;
  if (isWord(bytes[at - 1]) || isWord(bytes[at + 4]) || !readHex(bytes, at + 2, 2, read)) return false;
  let next = at + 4;
  while (isSeparator(bytes[next])) next += 1;
  if (isLiteralStart(bytes, next)) read.next = next;
  // The next one may be cut off.
  const rest = bytes.length - next;
  const isCut = rest < 4 && bytes[next] === ZERO && (rest === 1 || isLiteralStart(bytes, next));
  if (rest === 0 || isCut) read.next = bytes.length;
  return true;
}

function isLiteralStart(bytes: Buffer, at: number): boolean {
  return bytes[at] === ZERO && ((bytes[at + 1] as number) | 0x20) === 0x78;
}

function isSeparator(byte: number | undefined): boolean {
  return byte === 0x2c || byte === SPACE || byte === LF || byte === CR;
}

function isWord(byte: number | undefined): boolean {
  return (
    byte !== undefined && ((byte >= ZERO && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a))
  );
}

/** Returns how many bytes at the end of a text may be the beginning of an escape that was cut off. */
export function openEscapeLength(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - 64);
  let at = bytes.length - 1;
  for (; at >= first; at -= 1) {
    const byte = bytes[at] as number;
    if (byte === PERCENT || byte === BACKSLASH || byte === AMPERSAND || byte === EQUALS)
      return bytes.length - at;
    if (!isWord(byte) && byte !== HASH && byte !== 0x7b) break;
  }
  const length = bytes.length - at - 1;
  return length <= 3 && bytes[at + 1] === ZERO ? length : 0;
}
