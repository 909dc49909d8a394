import { CursorInvalid } from '../change.ts';

/**
 * Parses the place in a list of sealed values: the secrets of endpoints come first, then the prepared ones, then headers,
 * then responses. null = all of them are done. Throws CursorInvalid.
 */
export function parseSealingCursor(cursor: string | undefined): {
  readonly endpoint: number | null;
  readonly prepared: number | null;
  readonly headers: number | null;
  readonly scope: string;
} {
  const start = { endpoint: 0, prepared: 0, headers: 0, scope: '' };
  if (cursor === undefined) return start;
  const [, kind, row] = /^(endpoint|prepared|headers):(\d{1,15})$/.exec(cursor) ?? [];
  if (kind === 'endpoint') return { ...start, endpoint: Number(row) };
  if (kind === 'prepared') return { ...start, endpoint: null, prepared: Number(row) };
  if (kind === 'headers') return { ...start, endpoint: null, prepared: null, headers: Number(row) };
  if (cursor.startsWith('answer:'))
    return { endpoint: null, prepared: null, headers: null, scope: cursor.slice('answer:'.length) };
  throw new CursorInvalid('the cursor does not belong to this list');
}

/** Parses the place in the walk over all records: merchants first, then endpoints. Throws CursorInvalid. */
export function parseRecordCursor(cursor: string | undefined): {
  readonly kind: 'merchant' | 'endpoint';
  readonly row: number;
} {
  if (cursor === undefined) return { kind: 'merchant', row: 0 };
  const [, kind, row] = /^(merchant|endpoint):(\d{1,15})$/.exec(cursor) ?? [];
  if (kind !== 'merchant' && kind !== 'endpoint')
    throw new CursorInvalid('the cursor does not belong to this walk');
  return { kind, row: Number(row) };
}

/** Returns the next place of that walk, or null at its end. `isFull`: the page may have more behind it. */
export function recordCursor(
  kind: 'merchant' | 'endpoint',
  last: number | undefined,
  isFull: boolean,
): string | null {
  if (isFull && last !== undefined) return `${kind}:${last}`;
  return kind === 'merchant' ? 'endpoint:0' : null;
}
