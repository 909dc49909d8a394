/**
 * Bytes that can be read out of a response, such as those that a base64 text stands for. Where in the response each of
 * them came from is computed when it is asked for, because hardly any response has a secret.
 */
export interface View {
  readonly bytes: Buffer;
  /** Whether it reaches the end of the response, where a secret may be cut off. */
  readonly isTail: boolean;
  /** Returns where the source of a byte begins, in the response. */
  startOf(index: number): number;
  /** Returns where the source of a byte ends. */
  endOf(index: number): number;
}

/** A part of the response: from, and to (exclusive). */
export type Range = readonly [from: number, to: number];

/** Returns the view of the whole response, or of a header. */
export function wholeView(bytes: Buffer, isTail: boolean): View {
  return { bytes, isTail, startOf: (index) => index, endOf: (index) => index + 1 };
}

/** Returns the view of bytes each of which may come from anywhere in another view. */
export function spreadView(source: View, bytes: Buffer): View {
  const last = source.bytes.length - 1;
  return { bytes, isTail: source.isTail, startOf: () => source.startOf(0), endOf: () => source.endOf(last) };
}

/** Returns where the source of `length` bytes of a view lies, from `index` on. */
export function rangeOf(view: View, index: number, length: number): Range {
  return [view.startOf(index), view.endOf(index + length - 1)];
}

/**
 * Returns a function that gives the place of the byte that is number `index` among those which a table marks with `mark`
 * (undefined: with anything but 0), from `from` on. Asked in ascending order, all answers together take one pass.
 */
export function placesOf(
  bytes: Buffer,
  table: Uint8Array,
  from: number,
  mark?: number,
): (index: number) => number {
  let place = from - 1;
  let count = -1;
  return (index) => {
    if (index < count) {
      place = from - 1;
      count = -1;
    }
    while (count < index && place < bytes.length) {
      place += 1;
      const kind = place < bytes.length ? table[bytes[place] as number] : 0;
      if (mark === undefined ? kind !== 0 : kind === mark) count += 1;
    }
    return Math.min(place, bytes.length - 1);
  };
}
