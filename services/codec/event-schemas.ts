import { readFileSync } from 'node:fs';
import { EVENT_TYPES, type EventType } from '../domain/event.ts';

/** Beside `services`, in the checkout as in what `npm run build` made. */
const FOLDER = new URL('../../schemas/events/', import.meta.url);

/** Record names where the type's own would not be a name as Avro's users write them. */
const RECORD_NAMES: Partial<Readonly<Record<EventType, string>>> = { KYC: 'Kyc', KYB: 'Kyb', AML: 'Aml' };

/**
 * The record's full name, which is also the registry's subject (record-name strategy): `com.hookrail.events.Kyc`.
 */
export function recordNameOf(type: EventType): string {
  const name = RECORD_NAMES[type] ?? type.charAt(0).toUpperCase() + type.slice(1);
  return `com.hookrail.events.${name}`;
}

const TYPES_BY_RECORD: ReadonlyMap<string, EventType> = new Map(
  EVENT_TYPES.map((type) => [recordNameOf(type), type]),
);

/** The event type of a record's full name; undefined when it is no event. */
export function typeOfRecord(recordName: string): EventType | undefined {
  return TYPES_BY_RECORD.get(recordName);
}

/** The text of schemas/events/<type>.avsc: what is registered, and what events are written and read with. */
export function eventSchemaText(type: EventType): string {
  return readFileSync(new URL(`${type}.avsc`, FOLDER), 'utf8');
}
