import { fieldsOf } from '../../services/domain/catalog/catalog.ts';
import type { Field } from '../../services/domain/catalog/field.ts';
import type { DomainEvent, EventData, EventValue } from '../../services/domain/event.ts';
import { uuidV5 } from '../../services/domain/ids.ts';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/** Returns a copy of data whose strings were replaced, wherever they stand. */
export function mapStrings(data: EventData, change: (text: string) => string): EventData {
  const changed = (value: EventValue): EventValue => {
    if (typeof value === 'string') return change(value);
    if (Array.isArray(value)) return value.map(changed);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, changed(item)]));
  };
  return changed(data) as EventData;
}

/**
 * Gives events new ids, derived from the seed: event, user or corporate, transactions, accounts and everything else with
 * a UUID. The same id becomes the same new one in all events, so what belonged together still does.
 */
export function withNewIds(events: readonly DomainEvent[], seed: string): readonly DomainEvent[] {
  const renew = (id: string) => uuidV5('simulator-replay', seed, id.toLowerCase());
  const renewAll = (text: string) => text.replace(UUID, renew);
  return events.map((event) => ({
    ...event,
    eventId: renew(event.eventId),
    entityId: renew(event.entityId),
    data: mapStrings(event.data, renewAll),
  }));
}

/** Moves all times of the events, in header and data, so that the first event happens at `startAt`. */
export function rebased(events: readonly DomainEvent[], startAt: number): readonly DomainEvent[] {
  const shiftMs = startAt - Math.min(...events.map(({ occurredAt }) => occurredAt));
  return events.map((event) => ({
    ...event,
    occurredAt: event.occurredAt + shiftMs,
    data: shifted(fieldsOf(event.type), event.data, shiftMs),
  }));
}

function shifted(fields: readonly Field[], data: EventData, shiftMs: number): EventData {
  const copy = { ...data };
  for (const { name, kind, fields: nested = [] } of fields) {
    const value = copy[name];
    if (kind === 'timestamp' && typeof value === 'string') copy[name] = moved(value, shiftMs);
    if (kind === 'object' && isObject(value)) copy[name] = shifted(nested, value, shiftMs);
    if (kind === 'array' && Array.isArray(value)) {
      copy[name] = value.map((item) => (isObject(item) ? shifted(nested, item, shiftMs) : item));
    }
  }
  return copy;
}

function moved(time: string, shiftMs: number): string {
  return new Date(Date.parse(time) + shiftMs).toISOString();
}

function isObject(value: EventValue | undefined): value is EventData {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
