import { fieldsOf, SUB_TYPES } from '../catalog/catalog.ts';
import type { Field } from '../catalog/field.ts';
import { type DomainEvent, EVENT_TYPES, type EventType } from '../event.ts';
import type { ContentFault } from './content-fault.ts';

/** A field whose known values depend on the subType, with the subTypes of each value. */
interface Dependent {
  readonly name: string;
  readonly subTypesOf: ReadonlyMap<string, readonly string[]>;
}

const DEPENDENTS: ReadonlyMap<EventType, readonly Dependent[]> = new Map(
  EVENT_TYPES.map((type) => [type, fieldsOf(type).flatMap((field) => dependentOf(field, SUB_TYPES[type]))]),
);

function dependentOf({ name, valuesOn }: Field, subTypes: readonly string[]): readonly Dependent[] {
  if (valuesOn === undefined) return [];
  const found = new Map<string, string[]>();
  const add = (value: string, subType: string) => found.set(value, [...(found.get(value) ?? []), subType]);
  for (const subType of subTypes) {
    for (const value of valuesOn[subType] ?? []) add(value, subType);
    // A subType's own name belongs to it, even where the field says something more precise (ON_HOLD).
    if (!valuesOn[subType]?.includes(subType)) add(subType, subType);
  }
  return [{ name, subTypesOf: found }];
}

/**
 * Returns where an event says two things at once: a status that is known to be another subType's, or a status update
 * about somebody else than the event's entity. A value that nobody knows is no contradiction (docs/decisions.md, "Event
 * data").
 */
export function contradictionsIn({ type, subType, entityId, data }: DomainEvent): readonly ContentFault[] {
  const faults: ContentFault[] = [];
  for (const { name, subTypesOf } of DEPENDENTS.get(type) ?? []) {
    const value = data[name];
    const subTypes = typeof value === 'string' ? subTypesOf.get(value) : undefined;
    if (subTypes === undefined || subTypes.includes(subType)) continue;
    const detail = `must not be ${value} on ${subType}: that is a value of ${subTypes.join(', ')}`;
    faults.push({ pointer: `/data/${name}`, detail });
  }
  if (
    type === 'entityStatusUpdate' &&
    typeof data.uuid === 'string' &&
    data.uuid.toLowerCase() !== entityId
  ) {
    const detail = 'must be the entity of the event, /header/entityId';
    faults.push({ pointer: '/data/uuid', detail });
  }
  return faults;
}
