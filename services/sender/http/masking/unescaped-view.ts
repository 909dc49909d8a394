import type { View } from './view.ts';

/** A view without its escapes: what stands between two of them is as it was. */
export class UnescapedView implements View {
  readonly #source: View;
  readonly #out: Buffer;
  #length = 0;
  /** The source up to here is written. */
  #written = 0;
  /** Of each escape: where it begins and ends in the source, and where the text after it begins here. */
  readonly #begins: number[] = [];
  readonly #ends: number[] = [];
  readonly #afters: number[] = [];

  constructor(source: View) {
    this.#source = source;
    this.#out = Buffer.allocUnsafe(source.bytes.length);
  }

  /** Takes the next escape of the source, and the byte that it stands for; 0 or less: for none. */
  add(begin: number, end: number, byte: number): void {
    this.#copyUntil(begin);
    if (byte > 0) {
      this.#out[this.#length] = byte;
      this.#length += 1;
    }
    this.#written = end;
    this.#begins.push(begin);
    this.#ends.push(end);
    this.#afters.push(this.#length);
  }

  /** Takes what follows the last escape. */
  end(): void {
    this.#copyUntil(this.#source.bytes.length);
  }

  get bytes(): Buffer {
    return this.#out.subarray(0, this.#length);
  }

  get isTail(): boolean {
    return this.#source.isTail;
  }

  startOf(index: number): number {
    return this.#source.startOf(this.#firstIn(index));
  }

  endOf(index: number): number {
    const first = this.#firstIn(index);
    const escapes = this.#escapesUntil(first);
    const isEscape = escapes > 0 && this.#begins[escapes - 1] === first;
    return this.#source.endOf(isEscape ? (this.#ends[escapes - 1] as number) - 1 : first);
  }

  #copyUntil(end: number): void {
    const { bytes } = this.#source;
    let length = this.#length;
    for (let i = this.#written; i < end; i += 1) {
      this.#out[length] = bytes[i] as number;
      length += 1;
    }
    this.#length = length;
    this.#written = end;
  }

  /** Returns where the source of a byte begins, in the view that this one was made of. */
  #firstIn(index: number): number {
    const escapes = countUntil(this.#afters, index);
    if (escapes === 0) return index;
    return (this.#ends[escapes - 1] as number) + index - (this.#afters[escapes - 1] as number);
  }

  #escapesUntil(source: number): number {
    return countUntil(this.#begins, source);
  }
}

/** Returns how many of some numbers in ascending order are at most `limit`. */
function countUntil(numbers: readonly number[], limit: number): number {
  let from = 0;
  let to = numbers.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((numbers[middle] as number) <= limit) from = middle + 1;
    else to = middle;
  }
  return from;
}
