import { byNewest, type ListKey } from '../../log/list-cursor.ts';
import type { Examined, ListStep } from '../../log/list-pages.ts';

/** A step in this file: once every row behind a place is in the index, the newest rows need not be looked through again. */
export interface SqliteStep extends ListStep {
  readonly isListed: boolean;
}

export type Keyed<Listed> = ListKey & { readonly record: Listed };

export interface SqliteExamined<Listed> extends Examined<Keyed<Listed>> {
  readonly isListed: boolean;
}

/** Examines as many rows as a step may, or until it has as many as are wanted. */
export function examine<Each extends ListKey, Listed>(
  keys: Iterable<Each>,
  { count, wanted }: ListStep,
  find: (key: Each) => Listed | undefined,
): Examined<Keyed<Listed>> {
  const rows: Keyed<Listed>[] = [];
  let examined = 0;
  let last: ListKey | undefined;
  for (const key of keys) {
    if (examined === count || rows.length === wanted) return { rows, last, isEnd: false };
    const record = find(key);
    last = { createdAt: key.createdAt, seq: key.seq };
    if (record !== undefined) rows.push({ ...last, record });
    examined += 1;
  }
  // As many as a step may examine is as many as were read: there may be more.
  return { rows, last, isEnd: examined < count };
}

/** Returns whether a step has passed all rows that the index does not have: there were no more than it could read. */
export function areAllPassed(
  unlisted: readonly ListKey[],
  last: ListKey | undefined,
  { count }: ListStep,
): boolean {
  const oldest = unlisted.at(-1);
  if (oldest === undefined) return true;
  return unlisted.length < count && last !== undefined && byNewest(oldest, last) <= 0;
}

/** Returns whether a step may examine a row: it comes after the step's beginning, and is young enough. */
export function isWithin(
  { since = 0 }: { readonly since?: number },
  { before }: ListStep,
): (key: ListKey) => boolean {
  return (key) => key.createdAt >= since && byNewest(key, before) > 0;
}
