/**
 * Checks an event's `data` against the catalog and converts it into its one canonical form, whether it came as JSON or
 * Avro. Checks are compiled once per type and subType: this is the hot path of ingestion.
 */
import { fieldsOf, isShown, SUB_TYPES } from '../domain/catalog/catalog.ts';
import type { Field } from '../domain/catalog/field.ts';
import { API_VERSION_DEFAULT } from '../domain/endpoint.ts';
import { EVENT_TYPES, type EventData, type EventType, type EventValue } from '../domain/event.ts';
import { didYouMean } from '../messages/did-you-mean.ts';
import {
  ARRAY_ITEMS_MAX,
  type CheckScalar,
  checkBoolean,
  checkCountry,
  checkCurrency,
  checkDecimal,
  checkInteger,
  checkOpenValue,
  checkString,
  checkTime,
  checkUuid,
} from './check-value.ts';
import { type EventProblem, pointerPart, report, shown } from './event-problem.ts';

interface CheckedField {
  readonly name: string;
  readonly pointer: string;
  readonly required: boolean;
  readonly check: CheckScalar<EventValue>;
  /** Checked when present, but not kept: the renderer fills in the constant. */
  readonly dropped: boolean;
}

const CHECKS: ReadonlyMap<EventType, ReadonlyMap<string, CheckScalar<EventData>>> = new Map(
  EVENT_TYPES.map((type) => [
    type,
    new Map(SUB_TYPES[type].map((subType) => [subType, compileData(type, subType)] as const)),
  ]),
);

/**
 * Returns the canonical data of an event, or undefined after reporting every problem. The type must have the subType.
 * Fields that the subType does not show are allowed and kept; null is the same as absent.
 */
export function checkData(
  type: EventType,
  subType: string,
  value: unknown,
  problems: EventProblem[],
): EventData | undefined {
  const check = CHECKS.get(type)?.get(subType);
  if (check === undefined) throw new Error(`${type} has no subType ${subType}: check it before its data`);
  return check(value, '/data', problems);
}

function compileData(type: EventType, subType: string): CheckScalar<EventData> {
  // The latest version has every field, so what it requires is what the event must hold.
  const fields = fieldsOf(type).map((field) =>
    compileField(field, '/data', subType, isShown(field, subType, API_VERSION_DEFAULT)),
  );
  return compileObject(fields);
}

/** `pointer` is the parent's location: from the root, or, within an array's item, from the item. */
function compileField(field: Field, parent: string, subType: string, isShownHere: boolean): CheckedField {
  const isNull = field.nullOn?.includes(subType) ?? false;
  return {
    name: field.name,
    pointer: `${parent}/${field.name}`,
    required: field.required && isShownHere && !isNull && field.constant === undefined,
    check: isNull ? mustBeNull(subType) : compileCheck(field, `${parent}/${field.name}`, subType),
    dropped: field.constant !== undefined,
  };
}

function mustBeNull(subType: string): CheckScalar<EventValue> {
  return (_value, pointer, problems) =>
    report(problems, pointer, 'invalid_value', `must be null or absent on ${subType}`);
}

function compileCheck(field: Field, pointer: string, subType: string): CheckScalar<EventValue> {
  switch (field.kind) {
    case 'string':
      return compileString(field, subType);
    case 'uuid':
      return checkUuid;
    case 'decimal':
      return checkDecimal;
    case 'integer':
      return checkInteger;
    case 'boolean':
      return checkBoolean;
    case 'timestamp':
      return (value, at, problems) => {
        const time = checkTime(value, at, problems);
        return time === undefined ? undefined : new Date(time).toISOString();
      };
    case 'object':
      return compileObject(compileNested(field, pointer));
    case 'array':
      return compileArray(field);
  }
}

function compileNested(field: Field, pointer: string): readonly CheckedField[] {
  return (field.fields ?? []).map((nested) => compileField(nested, pointer, '', true));
}

function compileString(field: Field, subType: string): CheckScalar<EventValue> {
  const { constant } = field;
  if (constant !== undefined) {
    return (value, pointer, problems) =>
      value === constant ? constant : report(problems, pointer, 'invalid_enum', `must be ${constant}`);
  }
  if (field.format === 'country') return checkCountry;
  if (field.format === 'currency') return checkCurrency;
  const known = field.valuesOn?.[subType] ?? field.values;
  return known === undefined ? checkString : checkOpenValue(known);
}

function compileObject(fields: readonly CheckedField[]): CheckScalar<EventData> {
  const names = fields.map((field) => field.name);
  return (value, at, problems) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return report(problems, at, 'invalid_type', 'must be an object');
    }
    const given = value as { readonly [name: string]: unknown };
    const data: EventData = {};
    let seen = 0;
    for (const field of fields) {
      const item = given[field.name];
      if (item !== undefined) seen += 1;
      if (item === undefined || item === null) {
        if (field.required) report(problems, field.pointer, 'required', 'is required but missing');
        continue;
      }
      const checked = field.check(item, field.pointer, problems);
      if (checked !== undefined && !field.dropped) data[field.name] = checked;
    }
    if (Object.keys(given).length !== seen) reportUnknown(given, names, fields[0]?.pointer ?? '', problems);
    return data;
  };
}

function reportUnknown(
  given: object,
  names: readonly string[],
  sibling: string,
  problems: EventProblem[],
): void {
  const parent = sibling.slice(0, sibling.lastIndexOf('/'));
  for (const name of Object.keys(given)) {
    if (names.includes(name)) continue;
    const detail = `${shown(name)} is not a known field${didYouMean(name, names)}`;
    report(problems, `${parent}/${pointerPart(name)}`, 'unknown_field', detail);
  }
}

function compileArray(field: Field): CheckScalar<EventValue> {
  const check =
    field.fields === undefined ? compileString(field, '') : compileObject(compileNested(field, ''));
  return (value, pointer, problems) => {
    if (!Array.isArray(value)) return report(problems, pointer, 'invalid_type', 'must be an array');
    if (value.length > ARRAY_ITEMS_MAX) {
      return report(problems, pointer, 'invalid_value', `must have at most ${ARRAY_ITEMS_MAX} items`);
    }
    const items: EventValue[] = [];
    for (const [index, item] of value.entries()) {
      const before = problems.length;
      const checked = check(item, '', problems);
      if (checked !== undefined) items.push(checked);
      // An item's checks are compiled once for all items: they point from the item, not from the root.
      for (const problem of problems.slice(before)) problem.pointer = `${pointer}/${index}${problem.pointer}`;
    }
    return items;
  };
}
