import { CursorInvalid } from '../change.ts';

/**
 * Parses the place in a list of sealed values. Endpoints come first: null = all of them are done. Throws CursorInvalid.
 */
export function parseSealingCursor(cursor: string | undefined): {
  readonly endpoint: number | null;
  readonly scope: string;
} {
  if (cursor === undefined) return { endpoint: 0, scope: '' };
  const endpoint = /^endpoint:(\d{1,15})$/.exec(cursor)?.[1];
  if (endpoint !== undefined) return { endpoint: Number(endpoint), scope: '' };
  if (cursor.startsWith('answer:')) return { endpoint: null, scope: cursor.slice('answer:'.length) };
  throw new CursorInvalid('the cursor does not belong to this list');
}
