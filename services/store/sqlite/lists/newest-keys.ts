import { byNewest, type ListKey } from '../../log/list-cursor.ts';

/** Reads the next keys of one source that come after `before`, newest first. */
export type ReadKeys<Key extends ListKey> = (
  source: number,
  before: ListKey,
  limit: number,
) => readonly Key[];

const CHUNK_MIN = 4;
const CHUNK_MAX = 256;

interface Source<Key> {
  readonly source: number;
  /** Keys read and not handed out yet, newest first, from `at` on. */
  keys: readonly Key[];
  at: number;
  chunk: number;
}

/**
 * Merges sources that are each in order (the endpoints of a merchant, by their index) into one order, newest first. It
 * reads little more than is taken: a few keys of each source, and of one that is used up twice as many the next time.
 */
export function* newestKeys<Key extends ListKey>(
  sources: readonly number[],
  read: ReadKeys<Key>,
  after: ListKey,
  expected: number,
): Generator<Key> {
  const share = Math.ceil((2 * expected) / Math.max(1, sources.length));
  const chunk = Math.min(CHUNK_MAX, Math.max(CHUNK_MIN, share));
  // In the order of their next keys, the newest last.
  const open: Source<Key>[] = sources
    .map((source) => ({ source, keys: read(source, after, chunk), at: 0, chunk }))
    .filter(({ keys }) => keys.length > 0)
    .sort((one, other) => byNewest(headOf(other), headOf(one)));
  for (let newest = open.pop(); newest; newest = open.pop()) {
    const key = headOf(newest);
    newest.at += 1;
    if (newest.at < newest.keys.length || refill(newest, read, key))
      open.splice(placeOf(newest, open), 0, newest);
    yield key;
  }
}

/** Returns where a source belongs among the others. */
function placeOf<Key extends ListKey>(source: Source<Key>, open: readonly Source<Key>[]): number {
  const key = headOf(source);
  let [from, to] = [0, open.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (byNewest(headOf(open[middle] as Source<Key>), key) > 0) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Reads the next keys of a source that is used up. Returns false when it has none. */
function refill<Key extends ListKey>(source: Source<Key>, read: ReadKeys<Key>, last: ListKey): boolean {
  // Fewer than asked for: these were its last.
  if (source.keys.length < source.chunk) return false;
  source.chunk = Math.min(CHUNK_MAX, 2 * source.chunk);
  source.keys = read(source.source, last, source.chunk);
  source.at = 0;
  return source.keys.length > 0;
}

function headOf<Key>({ keys, at }: Source<Key>): Key {
  return keys[at] as Key;
}
