import type { MissedBecause } from '../../domain/replay.ts';
import { replays } from '../../domain/replay.ts';
import { CursorInvalid } from '../change.ts';
import type { MissedEvent, ReplayScope } from '../replays.ts';
import { STATUS } from './codes.ts';

/**
 * Returns why an endpoint has missed an event. `status`: of the event's own delivery, null when that is no longer kept.
 * Null: the delivery is in progress, or no longer kept.
 */
export function becauseOf(hasDelivery: boolean, status: number | null): MissedBecause | null {
  if (!hasDelivery) return 'skipped';
  if (status === STATUS.of.exhausted) return 'exhausted';
  if (status === STATUS.of.refused) return 'refused';
  return status === STATUS.of.cancelled ? 'cancelled' : null;
}

export function isWanted(
  { because, type, eventId }: MissedEvent,
  { only, types, eventIds }: ReplayScope,
): boolean {
  const isNamed = eventIds === null || eventIds.includes(eventId);
  return isNamed && replays(only, because) && (types === null || types.includes(type));
}

/** `seq`: the row of the replay. */
export function replayCursor(seq: number): string {
  return Buffer.from(`${seq}`).toString('base64url');
}

/** Throws CursorInvalid. */
export function parseReplayCursor(cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString();
  if (!/^\d{1,15}$/.test(text)) throw new CursorInvalid('the cursor does not belong to this list');
  return Number(text);
}
