import { readFileSync } from 'node:fs';
import { EVENT_TYPES, type EventType } from '../domain/event.ts';

/** Beside `services`, both in the checkout and in the output of `npm run build`. */
const FOLDER = new URL('../../schemas/events/', import.meta.url);

/** Record names that differ from the type's own name, to follow Avro's usual naming. */
const RECORD_NAMES: Partial<Readonly<Record<EventType, string>>> = { KYC: 'Kyc', KYB: 'Kyb', AML: 'Aml' };

/**
 * Returns the record's full name, which is also the registry's subject (record-name strategy):
 * `com.hookrail.events.Kyc`.
 */
export function recordNameOf(type: EventType): string {
  const name = RECORD_NAMES[type] ?? type.charAt(0).toUpperCase() + type.slice(1);
  return `com.hookrail.events.${name}`;
}

const unqualified = (recordName: string) => recordName.slice(recordName.lastIndexOf('.') + 1);

const TYPES_BY_RECORD: ReadonlyMap<string, EventType> = new Map(
  EVENT_TYPES.map((type) => [unqualified(recordNameOf(type)), type]),
);

/** Returns the event type of a record's name, in any namespace, as Avro compares names; undefined when it is not an event. */
export function typeOfRecord(recordName: string): EventType | undefined {
  return TYPES_BY_RECORD.get(unqualified(recordName));
}

/**
 * Returns the text of schemas/events/<type>.avsc: the schema that is registered and that events are written and read
 * with.
 */
export function eventSchemaText(type: EventType): string {
  return readFileSync(new URL(`${type}.avsc`, FOLDER), 'utf8');
}
