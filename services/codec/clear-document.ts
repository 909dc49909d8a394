import { occurredAtFault, RFC_3339_MS_MAX } from '../domain/content/event-time.ts';
import type { DomainEvent } from '../domain/event.ts';
import { eventToJson } from './event-json.ts';

/** Records as JSON that a person reads: nothing is left out, and nothing is refused. */

/**
 * Returns an event in the form in which producers publish it. A time in another unit than milliseconds stays a number: it
 * shows the fault, and RFC 3339 may not be able to write it.
 */
export function eventDocument(event: DomainEvent): object {
  const { occurredAt } = event;
  if (occurredAtFault(occurredAt, RFC_3339_MS_MAX) === undefined) return eventToJson(event);
  const { type, header, data } = eventToJson({ ...event, occurredAt: 0 });
  return { type, header: { ...header, occurredAt }, data };
}

/** Returns a record as plain JSON, its bytes as the JSON or the text that they are. */
export function plainDocument(record: unknown): unknown {
  // A Buffer is asked for its JSON before it is replaced, so what it was is looked up.
  return JSON.parse(
    JSON.stringify(record, function (this: Record<string, unknown>, name, value) {
      const given = this[name];
      return given instanceof Uint8Array ? textOrJson(Buffer.from(given).toString()) : value;
    }),
  );
}

function textOrJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
