import { createHash } from 'node:crypto';

/**
 * A deterministic generator: the same parts give the same draws on every machine. Each purpose has a generator of its
 * own (named by its parts), so that an added draw does not change the others.
 */
export class Chance {
  readonly #state: Uint32Array;

  constructor(...parts: readonly string[]) {
    const hash = createHash('sha256').update(JSON.stringify(parts)).digest();
    this.#state = Uint32Array.of(
      hash.readUInt32LE(0),
      hash.readUInt32LE(4),
      hash.readUInt32LE(8),
      hash.readUInt32LE(12),
    );
  }

  /** Returns an integer from 0 to bound − 1; the bound is at most 2^32. */
  below(bound: number): number {
    return Math.floor((this.#next() / 2 ** 32) * bound);
  }

  /** Returns an integer from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  pick<T>(list: readonly T[]): T {
    const item = list[this.below(list.length)];
    if (item === undefined) throw new RangeError('there is nothing to pick from');
    return item;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.below(256));
  }

  hex(count: number): string {
    return this.#characters('0123456789abcdef', count);
  }

  digits(count: number): string {
    return this.#characters('0123456789', count);
  }

  letters(count: number): string {
    return this.#characters('ABCDEFGHIJKLMNOPQRSTUVWXYZ', count);
  }

  #characters(alphabet: string, count: number): string {
    let text = '';
    for (let i = 0; i < count; i += 1) text += alphabet[this.below(alphabet.length)];
    return text;
  }

  /** sfc32 (Chris Doty-Humphrey's Small Fast Chaotic generator): 32 bits. */
  #next(): number {
    const s = this.#state;
    // Read one by one: destructuring would use an iterator for every draw.
    const a = s[0] ?? 0;
    const b = s[1] ?? 0;
    const c = s[2] ?? 0;
    const counter = s[3] ?? 0;
    const drawn = (a + b + counter) | 0;
    s[3] = counter + 1;
    s[0] = b ^ (b >>> 9);
    s[1] = c + (c << 3);
    s[2] = ((c << 21) | (c >>> 11)) + drawn;
    return drawn >>> 0;
  }
}
