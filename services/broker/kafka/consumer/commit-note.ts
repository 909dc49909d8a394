import type { LostRange } from '../../../domain/losses.ts';

/** Kafka takes 4096 bytes of metadata with an offset; base64 needs four thirds, and the rest some 120. */
const BITMAP_BYTES_MAX = 2700;

/** What is committed with an offset: what is done beyond it, and where reading starts to recognise copies again. */
export interface CommitNote {
  /** Everything before is done. */
  readonly offset: number;
  /** At most `offset`; reading from here fills the window of seen tasks. */
  readonly windowStart: number;
  /** Offsets above `offset` that are done as well. */
  readonly done: ReadonlySet<number>;
  /** The topic that the offsets are of; null = not known. */
  readonly topicId: string | null;
  /** Until an operator acknowledges it. */
  readonly lost: LostRange | null;
}

/**
 * `1;<windowStart>;<bitmap>;<topicId>;<from>-<to>-<count>`: bit i of the bitmap (base64) is offset + 1 + i. What lies too
 * far ahead is left out. The last two may be missing; earlier versions neither
 * write nor read them.
 */
export function writeNote({ offset, windowStart, done, topicId, lost }: CommitNote): string {
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
  const range = lost ? writeRange(lost) : '';
  const known = topicId || range ? `;${topicId ?? ''};${range}` : '';
  return `1;${windowStart};${Buffer.from(bits).toString('base64')}${known}`;
}

/** Reads a note back. What another program committed has none: then nothing beyond the offset is known. */
export function readNote(offset: number, metadata: string | null): CommitNote {
  const [version, start, bitmap, topicId, range] = (metadata ?? '').split(';');
  const windowStart = Number(start);
  if (version !== '1' || bitmap === undefined || !Number.isInteger(windowStart)) {
    return { offset, windowStart: offset, done: new Set(), topicId: null, lost: null };
  }
  const done = new Set<number>();
  for (const [index, byte] of Buffer.from(bitmap, 'base64').entries()) {
    for (let bit = 0; bit < 8; bit += 1) if (byte & (1 << bit)) done.add(offset + 1 + index * 8 + bit);
  }
  return {
    offset,
    windowStart: Math.min(windowStart, offset),
    done,
    topicId: topicId || null,
    lost: readRange(range),
  };
}

/** As `readRange` reads it. */
export function writeRange({ from, to, count }: LostRange): string {
  return `${from}-${to}-${count}`;
}

/** Null where there is none. */
export function readRange(text: string | undefined): LostRange | null {
  const [from, to, count] = (text ?? '').split('-').map(Number);
  if (from === undefined || to === undefined || count === undefined) return null;
  return [from, to, count].every(Number.isSafeInteger) ? { from, to, count } : null;
}
