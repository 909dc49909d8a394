import type { Request } from 'express';
import { CursorInvalid } from '../store/change.ts';
import { ApiError } from './problem.ts';

/** Returns a page's cursor, opaque to clients: base64url of the position from which the store continues. */
export function encodeCursor(position: string): string {
  return Buffer.from(position, 'utf8').toString('base64url');
}

/**
 * Opens a cursor. `accept` returns undefined for an invalid position; then the caller gets a 400 that names the cursor.
 */
export function decodeCursor<Position>(
  cursor: string | null,
  accept: (position: string) => Position | undefined,
): Position | undefined {
  if (cursor === null) return undefined;
  const position = accept(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (position !== undefined) return position;
  throw cursorInvalid();
}

/** Converts a store’s error for a text that is no cursor of its lists. */
export function explainCursor(error: unknown): never {
  throw error instanceof CursorInvalid ? cursorInvalid() : error;
}

export function cursorInvalid(): ApiError {
  const errors = [
    { pointer: '/query/cursor', code: 'invalid_format', detail: 'must be a next_cursor of an earlier page' },
  ];
  return new ApiError('validation_error', 'The cursor does not belong to this list.', { errors });
}

/**
 * Returns the query as it was sent: the validator has checked it, and has put its own conversions into request.query.
 */
export function queryOf(request: Request): URLSearchParams {
  const start = request.originalUrl.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : request.originalUrl.slice(start + 1));
}

/** Makes a page of what the store has read as one. `next`: where the next page begins; null: this is the last one. */
export function pageUpTo<Item>(data: readonly Item[], next: string | null) {
  return { data, has_more: next !== null, next_cursor: next };
}

/** Makes a page. One item more than the limit was read: its presence means that there is another page. */
export function page<Item>(items: readonly Item[], limit: number, cursorOf: (item: Item) => string) {
  const data = items.slice(0, limit);
  const last = data.at(-1);
  const hasMore = items.length > limit;
  return { data, has_more: hasMore, next_cursor: hasMore && last !== undefined ? cursorOf(last) : null };
}
