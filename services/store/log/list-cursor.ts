import { CursorInvalid } from '../change.ts';

/** A row's place in a list, newest first. */
export interface ListKey {
  readonly createdAt: number;
  readonly seq: number;
}

/** Orders keys as a list has them, newest first. */
export function byNewest(one: ListKey, other: ListKey): number {
  return other.createdAt - one.createdAt || other.seq - one.seq;
}

/** Before every key. */
const NEWEST: ListKey = { createdAt: Number.MAX_SAFE_INTEGER, seq: Number.MAX_SAFE_INTEGER };

/** Returns the place after which a page begins: the cursor's, or the end of the period. Throws CursorInvalid. */
export function startOfList({ after, until }: { readonly after?: string; readonly until?: number }): ListKey {
  const end = until === undefined ? NEWEST : { createdAt: until, seq: 0 };
  if (after === undefined) return end;
  const parts = /^(\d{1,15})\.(\d{1,15})$/.exec(Buffer.from(after, 'base64url').toString());
  if (!parts) throw new CursorInvalid('the cursor does not belong to this list');
  const cursor = { createdAt: Number(parts[1]), seq: Number(parts[2]) };
  return cursor.createdAt < end.createdAt ? cursor : end;
}

export function listCursor({ createdAt, seq }: ListKey): string {
  return Buffer.from(`${createdAt}.${seq}`).toString('base64url');
}
