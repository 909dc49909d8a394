/** Kafka takes 4096 bytes of metadata with an offset; base64 needs four thirds. */
const BITMAP_BYTES_MAX = 2700;

/** What is committed with an offset: what is done beyond it, and where reading starts to recognise copies again. */
export interface CommitNote {
  /** Everything before is done. */
  readonly offset: number;
  /** At most `offset`; reading from here fills the window of seen tasks. */
  readonly windowStart: number;
  /** Offsets above `offset` that are done as well. */
  readonly done: ReadonlySet<number>;
}

/** `1;<windowStart>;<bitmap>`: bit i of the bitmap (base64) is offset + 1 + i. What lies too far ahead is left out. */
export function writeNote({ offset, windowStart, done }: CommitNote): string {
  let last = -1;
  for (const one of done) {
    const bit = one - offset - 1;
    if (bit < BITMAP_BYTES_MAX * 8 && bit > last) last = bit;
  }
  const bits = new Uint8Array((last >> 3) + 1);
  for (const one of done) {
    const bit = one - offset - 1;
    if (bit <= last) bits[bit >> 3] = (bits[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
  return `1;${windowStart};${Buffer.from(bits).toString('base64')}`;
}

/** Reads a note back. What another program committed has none: then nothing beyond the offset is known. */
export function readNote(offset: number, metadata: string | null): CommitNote {
  const [version, start, bitmap] = (metadata ?? '').split(';');
  const windowStart = Number(start);
  if (version !== '1' || bitmap === undefined || !Number.isInteger(windowStart)) {
    return { offset, windowStart: offset, done: new Set() };
  }
  const done = new Set<number>();
  for (const [index, byte] of Buffer.from(bitmap, 'base64').entries()) {
    for (let bit = 0; bit < 8; bit += 1) if (byte & (1 << bit)) done.add(offset + 1 + index * 8 + bit);
  }
  return { offset, windowStart: Math.min(windowStart, offset), done };
}
