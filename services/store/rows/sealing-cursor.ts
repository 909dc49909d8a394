import { CursorInvalid } from '../change.ts';

/**
 * Parses the place in a list of sealed values: the secrets of endpoints come first, then the prepared ones, then responses.
 * null = all of them are done. Throws CursorInvalid.
 */
export function parseSealingCursor(cursor: string | undefined): {
  readonly endpoint: number | null;
  readonly prepared: number | null;
  readonly scope: string;
} {
  if (cursor === undefined) return { endpoint: 0, prepared: 0, scope: '' };
  const [, kind, row] = /^(endpoint|prepared):(\d{1,15})$/.exec(cursor) ?? [];
  if (kind === 'endpoint') return { endpoint: Number(row), prepared: 0, scope: '' };
  if (kind === 'prepared') return { endpoint: null, prepared: Number(row), scope: '' };
  if (cursor.startsWith('answer:'))
    return { endpoint: null, prepared: null, scope: cursor.slice('answer:'.length) };
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
