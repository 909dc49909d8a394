import { decodeCursor, encodeCursor } from '../pagination.ts';

/** Pages of lists that the store has in the order of its own numbers, which clients see in cursors only. */

/** Returns where the page begins; nothing for the first. */
export function afterOf(query: URLSearchParams): { readonly after?: number } {
  const after = decodeCursor(query.get('cursor'), (position) =>
    /^\d{1,15}$/.test(position) ? Number(position) : undefined,
  );
  return after === undefined ? {} : { after };
}

export function cursorOf({ seq }: { readonly seq: number }): string {
  return encodeCursor(String(seq));
}
