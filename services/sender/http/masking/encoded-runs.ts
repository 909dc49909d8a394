import { placesOf, type View } from './view.ts';

/** Fewer digits cannot hold a secret, and occur in ordinary text. */
const DIGITS_MIN = { base64: 16, hex: 24, decimal: 12 } as const;
/** At the end of the response, where a secret may be cut off. */
const DIGITS_MIN_AT_END = { base64: 8, hex: 12, decimal: 6 } as const;

const DIGIT = 1;
/** Stands between digits. */
const BETWEEN = 2;

const BASE64 = kinds('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_', '\r\n\t');
const HEX = kinds('0123456789abcdefABCDEF', ' \r\n\t:,;-_."\'');
const SPACE = 0x20;
const ZERO = 0x30;

function kinds(digits: string, between: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const digit of digits) table[digit.charCodeAt(0)] = DIGIT;
  for (const byte of between) table[byte.charCodeAt(0)] = BETWEEN;
  return table;
}

/** Digits that follow each other in a view: from, and to (exclusive). */
interface Run {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the bytes that base64, hexadecimal and lists of decimal numbers within a view stand for: each text that is long
 * enough, read from every digit that a group may begin with.
 */
export function decodedRuns(view: View): View[] {
  const decoded: View[] = [];
  for (const run of runsOf(view, BASE64, 'base64')) {
    const text = view.bytes.toString('latin1', run.from, run.to);
    const digits = digitsBefore(text, 4);
    for (let first = 0; first < 4; first += 1) {
      const bytes = Buffer.from(text.slice(digits[first]), 'base64');
      decoded.push(
        decodedView(view, run, BASE64, bytes, (index) => [
          first + (index * 4) / 3,
          first + (index * 8 + 7) / 6,
        ]),
      );
    }
  }
  for (const run of runsOf(view, HEX, 'hex')) {
    const text = digitsOnly(view.bytes, run);
    for (let first = 0; first < 2; first += 1) {
      const bytes = Buffer.from(text.slice(first), 'hex');
      decoded.push(decodedView(view, run, HEX, bytes, (index) => [first + index * 2, first + index * 2 + 1]));
    }
  }
  return [...decoded, ...decimalLists(view)];
}

/** A space ends a base64 text, unless it begins a line. */
function runsOf(view: View, kindOf: Uint8Array, encoding: 'base64' | 'hex'): Run[] {
  const { bytes } = view;
  const runs: Run[] = [];
  let from = 0;
  let digits = 0;
  for (let i = 0; i <= bytes.length; i += 1) {
    const kind = i < bytes.length ? kindOf[bytes[i] as number] : 0;
    if (kind === DIGIT) digits += 1;
    else if (kind !== BETWEEN && !(bytes[i] === SPACE && kindOf[bytes[i - 1] as number] === BETWEEN)) {
      if (digits > 0 && digits >= digitsMin(encoding, view, i)) runs.push({ from, to: i });
      from = i + 1;
      digits = 0;
    }
  }
  return runs;
}

function digitsMin(kind: keyof typeof DIGITS_MIN, view: View, end: number): number {
  return view.isTail && end === view.bytes.length ? DIGITS_MIN_AT_END[kind] : DIGITS_MIN[kind];
}

/** Returns where the first digits of a base64 text are. */
function digitsBefore(text: string, count: number): number[] {
  const places: number[] = [];
  for (let i = 0; i < text.length && places.length < count; i += 1) {
    if (BASE64[text.charCodeAt(i)] === DIGIT) places.push(i);
  }
  return places;
}

function digitsOnly(bytes: Buffer, { from, to }: Run): string {
  const digits = Buffer.allocUnsafe(to - from);
  let length = 0;
  for (let i = from; i < to; i += 1) {
    if (HEX[bytes[i] as number] !== DIGIT) continue;
    digits[length] = bytes[i] as number;
    length += 1;
  }
  return digits.toString('latin1', 0, length);
}

/** `digitsOf`: returns by which of the digits of a run a byte begins and ends; fractions count as the digit they are in. */
function decodedView(
  source: View,
  { from, to }: Run,
  kindOf: Uint8Array,
  bytes: Buffer,
  digitsOf: (index: number) => readonly [first: number, last: number],
): View {
  const firstOf = placesOf(source.bytes, kindOf, from, DIGIT);
  const lastOf = placesOf(source.bytes, kindOf, from, DIGIT);
  return {
    bytes,
    isTail: source.isTail && to === source.bytes.length,
    startOf: (index) => source.startOf(firstOf(Math.floor(digitsOf(index)[0]))),
    endOf: (index) => source.endOf(lastOf(Math.floor(digitsOf(index)[1]))),
  };
}

interface DecimalNumber {
  readonly value: number;
  readonly first: number;
  readonly last: number;
}

/** Reads lists such as `[119, 104, 115]`. */
function decimalLists(view: View): View[] {
  const { bytes } = view;
  const lists: View[] = [];
  let list: DecimalNumber[] = [];
  for (let i = 0; i <= bytes.length; ) {
    const number = isDigit(bytes[i]) ? decimalAt(bytes, i) : null;
    if (number && number.value < 256) list.push(number);
    else if (list.length > 0 && (number || !isBetweenNumbers(bytes[i]))) {
      if (list.length >= digitsMin('decimal', view, i)) lists.push(decimalView(view, list, i));
      // The last number may have been cut off.
      if (view.isTail && i === bytes.length) lists.push(decimalView(view, list.slice(0, -1), i));
      list = [];
    }
    i = number ? number.last + 1 : i + 1;
  }
  return lists;
}

/** Reads a number of at most four digits. */
function decimalAt(bytes: Buffer, first: number): DecimalNumber {
  let value = 0;
  let next = first;
  for (; next < first + 4 && isDigit(bytes[next]); next += 1)
    value = value * 10 + (bytes[next] as number) - ZERO;
  return { value, first, last: next - 1 };
}

function decimalView(source: View, list: readonly DecimalNumber[], end: number): View {
  return {
    bytes: Buffer.from(list.map(({ value }) => value)),
    isTail: source.isTail && end === source.bytes.length,
    startOf: (index) => source.startOf((list[index] as DecimalNumber).first),
    endOf: (index) => source.endOf((list[index] as DecimalNumber).last),
  };
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= ZERO + 9;
}

/** White space, comma. */
function isBetweenNumbers(byte: number | undefined): boolean {
  return byte === SPACE || byte === 0x2c || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
