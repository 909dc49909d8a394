import type { CommitNote, LostRange } from './commit-note.ts';

/** Returns the part of a loss at and after an offset; null = nothing. */
export function rangeFrom(range: LostRange | null, offset: number): LostRange | null {
  if (!range || range.to <= offset) return null;
  const from = Math.max(range.from, offset);
  return { from, to: range.to, count: Math.min(range.count, range.to - from) };
}

/** Joins two losses into one range. */
export function joined(one: LostRange | null, other: LostRange | null): LostRange | null {
  if (!one || !other) return one ?? other;
  return {
    from: Math.min(one.from, other.from),
    to: Math.max(one.to, other.to),
    count: one.count + other.count,
  };
}

/** Returns the records between a position and the oldest existing record, unless they were done; null = none. */
export function deletedBefore(
  first: number,
  { offset, done }: Pick<CommitNote, 'offset' | 'done'>,
  acknowledged: number,
): LostRange | null {
  const from = Math.max(offset, acknowledged);
  const doneAmong = [...done].filter((one) => one >= from && one < first).length;
  const count = first - from - doneAmong;
  return count > 0 ? { from, to: first, count } : null;
}
