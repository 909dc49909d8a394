import type { ListKey } from '../../log/list-cursor.ts';

/** Reads the next keys of one source that come after `before`, newest first. */
export type ReadKeys = (source: number, before: ListKey, limit: number) => readonly ListKey[];

const CHUNK_MIN = 4;
const CHUNK_MAX = 256;

interface Source {
  readonly source: number;
  /** Keys read and not handed out yet, newest first, from `at` on. */
  keys: readonly ListKey[];
  at: number;
  chunk: number;
}

/**
 * Merges sources that are each in order (the endpoints of a merchant, by their index) into one order, newest first. It
 * reads little more than is taken: a few keys of each source, and of one that is used up twice as many the next time.
 */
export function* newestKeys(
  sources: readonly number[],
  read: ReadKeys,
  after: ListKey,
  expected: number,
): Generator<ListKey> {
  const share = Math.ceil((2 * expected) / Math.max(1, sources.length));
  const chunk = Math.min(CHUNK_MAX, Math.max(CHUNK_MIN, share));
  const open: Source[] = sources
    .map((source) => ({ source, keys: read(source, after, chunk), at: 0, chunk }))
    .filter(({ keys }) => keys.length > 0);
  while (open.length > 0) {
    const newest = open.reduce((best, other) => (isNewer(headOf(other), headOf(best)) ? other : best));
    const key = headOf(newest);
    newest.at += 1;
    if (newest.at === newest.keys.length && !refill(newest, read, key)) open.splice(open.indexOf(newest), 1);
    yield key;
  }
}

/** Reads the next keys of a source that is used up. Returns false when it has none. */
function refill(source: Source, read: ReadKeys, last: ListKey): boolean {
  // Fewer than asked for: these were its last.
  if (source.keys.length < source.chunk) return false;
  source.chunk = Math.min(CHUNK_MAX, 2 * source.chunk);
  source.keys = read(source.source, last, source.chunk);
  source.at = 0;
  return source.keys.length > 0;
}

function headOf({ keys, at }: Source): ListKey {
  return keys[at] as ListKey;
}

function isNewer(one: ListKey, other: ListKey): boolean {
  return one.createdAt > other.createdAt || (one.createdAt === other.createdAt && one.seq > other.seq);
}
