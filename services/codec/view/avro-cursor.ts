/** Reads Avro's primitive values one after the other, without making objects. */

const LONG_BYTES_MAX = 10;
const DOUBLE_BYTES = 8;

/** A position in bytes. The caller compares the position at the end with the record's end, to notice a read past it. */
export class AvroCursor {
  bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  /** Reads an integer: seven bits a byte, the lowest first; the lowest bit of all is the sign. */
  long(): number {
    let byte = this.bytes[this.at++] ?? 0;
    let twice = byte & 0x7f;
    let factor = 0x80;
    for (let count = 1; byte >= 0x80; count += 1) {
      if (count >= LONG_BYTES_MAX)
        throw new Error(`the number at byte ${this.at} of an Avro record has no end`);
      byte = this.bytes[this.at++] ?? 0;
      twice += (byte & 0x7f) * factor;
      factor *= 0x80;
    }
    return twice % 2 === 0 ? twice / 2 : -(twice + 1) / 2;
  }

  /** Returns the length of what follows: text or bytes. */
  length(): number {
    const length = this.long();
    if (length < 0) throw new Error(`a length before byte ${this.at} of an Avro record is ${length}`);
    return length;
  }

  double(): number {
    const value = this.bytes.readDoubleLE(this.at);
    this.at += DOUBLE_BYTES;
    return value;
  }

  boolean(): boolean {
    return this.bytes[this.at++] === 1;
  }

  text(): string {
    const length = this.length();
    this.at += length;
    return this.bytes.toString('utf8', this.at - length, this.at);
  }

  /** Reads a text that often comes again, such as a word or the id of a merchant: it is not made anew. */
  knownText(): string {
    const length = this.length();
    this.at += length;
    return textOf(this.bytes, this.at - length, this.at);
  }

  /** A view of bytes. */
  view(): Buffer {
    const length = this.length();
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  /** Passes over text or bytes. */
  skip(): void {
    const length = this.length();
    this.at += length;
  }

  /** Returns whether an optional value is there. */
  isPresent(): boolean {
    const branch = this.long();
    if (branch !== 0 && branch !== 1)
      throw new Error(`byte ${this.at} of an Avro record names branch ${branch}`);
    return branch === 1;
  }

  /** Returns the number of items in the next block of an array; 0: it has ended. */
  block(): number {
    let count = this.long();
    if (count < 0) {
      count = -count;
      this.long();
    }
    // An item has at least a byte.
    if (count > this.bytes.length - this.at)
      throw new Error(`the array at byte ${this.at} of an Avro record has ${count} items`);
    return count;
  }
}

const SLOTS = 4096;
const KNOWN_LENGTH_MAX = 40;

interface Known {
  readonly bytes: Buffer;
  readonly text: string;
}

/** The texts last seen, each in the place that its bytes give it: making a string anew costs more than comparing. */
const known: (Known | undefined)[] = new Array(SLOTS).fill(undefined);

function textOf(bytes: Buffer, from: number, to: number): string {
  if (to - from > KNOWN_LENGTH_MAX) return bytes.toString('utf8', from, to);
  let hash = to - from;
  for (let at = from; at < to; at += 1) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0;
  const slot = hash & (SLOTS - 1);
  const found = known[slot];
  if (found && isSame(found.bytes, bytes, from, to)) return found.text;
  const text = bytes.toString('utf8', from, to);
  known[slot] = { bytes: Buffer.from(bytes.subarray(from, to)), text };
  return text;
}

function isSame(one: Buffer, bytes: Buffer, from: number, to: number): boolean {
  if (one.length !== to - from) return false;
  for (let at = 0; at < one.length; at += 1) if (one[at] !== bytes[from + at]) return false;
  return true;
}
