/**
 * Kafka allows 4096 bytes of metadata with an offset; base64 takes four thirds, and the other fields about 120 bytes.
 */
const BITMAP_BYTES_MAX = 2700;

/** Records that were deleted before they were done. Several such ranges become one. */
export interface LostRange {
  readonly from: number;
  /** The offset after the last. */
  readonly to: number;
  /** The number of records: an upper bound, since some offsets may have had no record. */
  readonly count: number;
}

/**
 * The metadata of a committed offset: the records done beyond it, and where reading starts to recognise copies again.
 */
export interface CommitNote {
  /** Everything before it is done. */
  readonly offset: number;
  /** At most `offset`; reading from here fills the window of what was seen. */
  readonly windowStart: number;
  /** Offsets above `offset` that are done as well. */
  readonly done: ReadonlySet<number>;
  /** The topic of the offsets; null = not known. */
  readonly topicId: string | null;
  /** Lost records that no operator has acknowledged. */
  readonly lost: LostRange | null;
  /** A number that the reader keeps with its position. */
  readonly mark?: number | undefined;
}

/**
 * Writes `1;<windowStart>;<bitmap>;<topicId>;<from>-<to>-<count>;<mark>`: bit i of the bitmap (base64) is offset + 1 + i.
 * Offsets too far ahead are omitted, and so are the last fields where there are none.
 */
export function writeNote({ offset, windowStart, done, topicId, lost, mark }: CommitNote): string {
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
  const known = topicId || range || mark !== undefined ? `;${topicId ?? ''};${range}` : '';
  const marked = mark === undefined ? '' : `;${mark}`;
  return `1;${windowStart};${Buffer.from(bits).toString('base64')}${known}${marked}`;
}

/** Parses a note. A commit of another program has none: then nothing beyond the offset is known to be done. */
export function readNote(offset: number, metadata: string | null): CommitNote {
  const [version, start, bitmap, topicId, range, mark] = (metadata ?? '').split(';');
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
    mark: readMark(mark),
  };
}

function readMark(text: string | undefined): number | undefined {
  const mark = Number(text || Number.NaN);
  return Number.isSafeInteger(mark) ? mark : undefined;
}

/** Returns the offset after the last record that is done: the log has been at least this long. */
export function reachOf({ offset, done }: Pick<CommitNote, 'offset' | 'done'>): number {
  let reach = offset;
  for (const one of done) reach = Math.max(reach, one + 1);
  return reach;
}

/** Returns a note without what it says of offsets from `end` on: other records will have them. */
export function noteUpTo(note: CommitNote, end: number): CommitNote {
  return {
    ...note,
    offset: Math.min(note.offset, end),
    windowStart: Math.min(note.windowStart, end),
    done: new Set([...note.done].filter((one) => one < end)),
  };
}

/** Writes a range for `readRange`. */
export function writeRange({ from, to, count }: LostRange): string {
  return `${from}-${to}-${count}`;
}

/** Parses a range; null where there is none. */
export function readRange(text: string | undefined): LostRange | null {
  const [from, to, count] = (text ?? '').split('-').map(Number);
  if (from === undefined || to === undefined || count === undefined) return null;
  return [from, to, count].every(Number.isSafeInteger) ? { from, to, count } : null;
}
