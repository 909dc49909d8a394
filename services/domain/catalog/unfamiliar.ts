/**
 * Values of an event that the catalog does not list. They are delivered as they are, because news about money must not
 * wait for a new build (docs/decisions.md, "Event data"); routers count and log them, so that the catalog can follow.
 */
import { type DomainEvent, EVENT_TYPES, type EventType, type EventValue } from '../event.ts';
import { entityKindsOf, fieldsOf, SUB_TYPES } from './catalog.ts';
import type { Field } from './field.ts';

export interface Unfamiliar {
  /** Its place in the event: `data.status`, `header.entityKind`. Positions in lists are omitted. */
  readonly field: string;
  readonly value: string;
}

/** Adds what is unfamiliar in the value. */
type Find = (value: EventValue | undefined, found: Unfamiliar[]) => void;

const NOTHING: readonly Unfamiliar[] = [];

const FINDERS: ReadonlyMap<EventType, ReadonlyMap<string, Find>> = new Map(
  EVENT_TYPES.map((type) => [
    type,
    new Map(SUB_TYPES[type].map((subType) => [subType, inObject(fieldsOf(type), 'data', subType)] as const)),
  ]),
);

/** Returns the values that are not in the catalog; usually none. */
export function unfamiliarIn(event: DomainEvent): readonly Unfamiliar[] {
  const found: Unfamiliar[] = [];
  if (!entityKindsOf(event.type).includes(event.entityKind)) {
    found.push({ field: 'header.entityKind', value: event.entityKind });
  }
  FINDERS.get(event.type)?.get(event.subType)?.(event.data, found);
  return found.length === 0 ? NOTHING : found;
}

/** `subType` is that of the event's `data`; empty inside it. */
function inObject(fields: readonly Field[], path: string, subType: string): Find {
  const finders = fields.flatMap((field) => {
    const find = inField(field, `${path}.${field.name}`, subType);
    return find === undefined ? [] : [{ name: field.name, find }];
  });
  return (value, found) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    for (const { name, find } of finders) find(value[name], found);
  };
}

function inField(field: Field, path: string, subType: string): Find | undefined {
  const listed = field.valuesOn?.[subType] ?? field.values;
  const inItem =
    field.fields !== undefined
      ? inObject(field.fields, path, '')
      : listed !== undefined
        ? inText(new Set(listed), path)
        : undefined;
  if (inItem === undefined || field.kind !== 'array') return inItem;
  return (value, found) => {
    if (Array.isArray(value)) for (const item of value) inItem(item, found);
  };
}

function inText(known: ReadonlySet<string>, field: string): Find {
  return (value, found) => {
    if (typeof value === 'string' && !known.has(value)) found.push({ field, value });
  };
}
