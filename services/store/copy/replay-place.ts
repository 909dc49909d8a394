import { unpackId } from '../../sqlite/ids.ts';
import { idBytes } from '../postgres/client/packed-id.ts';
import type { Sqlite } from './source.ts';

/**
 * Returns a replay's place as the target has it: an endpoint's row, a time, and an event by its id, where SQLite has the
 * event's row. Events of one millisecond have another order there, so several are gone through again; the ids of the
 * deliveries are the same.
 */
export function translatedPlace(source: Sqlite, place: string | null): string | null {
  if (place === null) return null;
  const [endpoint = '0', createdAt = '0', event = '-1'] = place.split('.');
  return `${endpoint}.${createdAt}.${eventOf(source, Number(endpoint), Number(createdAt), Number(event))}`;
}

/** Returns the event's id in hexadecimal, '' for the beginning of its millisecond. */
function eventOf(source: Sqlite, endpoint: number, createdAt: number, event: number): string {
  const missed = source
    .prepare(
      `SELECT count(*) FROM missed m JOIN log_endpoint n ON n.seq = m.endpoint JOIN endpoint e ON e.uuid = n.endpoint_id
       WHERE e.seq = ? AND m.created_at = ? AND m.event <> ?`,
    )
    .pluck()
    .get(endpoint, createdAt, event) as number;
  if (missed > 0) return '';
  const id = source.prepare('SELECT event_id FROM event WHERE seq = ?').pluck().get(event) as
    | Uint8Array
    | string
    | undefined;
  return id === undefined ? '' : idBytes(unpackId(id)).toString('hex');
}
