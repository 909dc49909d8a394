import type { Field } from '../catalog/field.ts';
import type { ApiVersion } from '../endpoint.ts';
import type { EventValue } from '../event.ts';
import { isUuid } from '../ids.ts';
import { canonicalDecimal } from '../text/decimal.ts';

/** Receives what is wrong; the first fault is kept. */
export interface Fault {
  /** RFC 6901, from the event's root. Empty: nothing is wrong. */
  pointer: string;
  detail: string;
}

/** Returns the value's JSON; after a fault the text is discarded, so it may be anything. */
type WriteValue = (value: EventValue, fault: Fault) => string;

/** Returns `"name":value`, with a comma before it except for an object's first field, or nothing. */
export type WriteField = (data: { readonly [field: string]: EventValue }, fault: Fault) => string;

function fail(fault: Fault, pointer: string, detail: string): string {
  if (fault.pointer === '') {
    fault.pointer = pointer;
    fault.detail = detail;
  }
  return '';
}

/** Compiles the writer of one field of the presence table. */
function compileField(
  field: Field,
  parent: string,
  version: ApiVersion,
  entitled: boolean,
  first: boolean,
): WriteField {
  const { name } = field;
  const key = `${first ? '' : ','}"${name}":`;
  const pointer = `${parent}/${name}`;
  if (field.constant !== undefined) {
    const text = `${key}${JSON.stringify(field.constant)}`;
    return () => text;
  }
  const write = compileValue(field, pointer, version, entitled);
  if (!field.required) {
    return (data, fault) => {
      const value = data[name];
      return value === undefined || value === null ? '' : `${key}${write(value, fault)}`;
    };
  }
  return (data, fault) => {
    const value = data[name];
    if (value === undefined || value === null) return fail(fault, pointer, `${name} is required but missing`);
    return `${key}${write(value, fault)}`;
  };
}

function compileValue(field: Field, pointer: string, version: ApiVersion, entitled: boolean): WriteValue {
  switch (field.kind) {
    case 'string':
    case 'timestamp':
      return compileString(pointer, field.renamed?.[version]);
    case 'uuid':
      return (value, fault) =>
        typeof value === 'string' && isUuid(value) ? `"${value}"` : fail(fault, pointer, 'is not a UUID');
    case 'decimal':
      return (value, fault) =>
        (typeof value === 'string' ? canonicalDecimal(value) : undefined) ??
        fail(fault, pointer, 'is not a plain decimal string');
    case 'integer':
      return (value, fault) =>
        Number.isSafeInteger(value) ? String(value) : fail(fault, pointer, 'is not an integer');
    case 'boolean':
      return (value, fault) =>
        typeof value === 'boolean' ? String(value) : fail(fault, pointer, 'is neither true nor false');
    case 'object':
      return compileObject(field.fields ?? [], pointer, version, entitled);
    case 'array':
      return compileArray(field, pointer, version, entitled);
  }
}

function compileString(pointer: string, renamed?: Readonly<Record<string, string>>): WriteValue {
  if (renamed === undefined) {
    return (value, fault) =>
      typeof value === 'string' ? JSON.stringify(value) : fail(fault, pointer, 'is not a string');
  }
  const names = new Map(Object.entries(renamed));
  return (value, fault) =>
    typeof value === 'string'
      ? JSON.stringify(names.get(value) ?? value)
      : fail(fault, pointer, 'is not a string');
}

function compileObject(
  fields: readonly Field[],
  pointer: string,
  version: ApiVersion,
  entitled: boolean,
): WriteValue {
  const writers = compileFields(fields, pointer, version, entitled);
  return (value, fault) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return fail(fault, pointer, 'is not an object');
    }
    return writeObject(writers, value, fault);
  };
}

function compileArray(field: Field, pointer: string, version: ApiVersion, entitled: boolean): WriteValue {
  const write =
    field.fields === undefined
      ? compileString(pointer)
      : compileObject(field.fields, pointer, version, entitled);
  return (value, fault) => {
    if (!Array.isArray(value)) return fail(fault, pointer, 'is not an array');
    return `[${value.map((item) => write(item, fault)).join(',')}]`;
  };
}

/**
 * Compiles the writers of an object's fields, in the table's order. `subType` is that of the event's `data`; undefined
 * for nested objects. `entitled`: the merchant may see fields that need an entitlement.
 */
export function compileFields(
  fields: readonly Field[],
  parent: string,
  version: ApiVersion,
  entitled: boolean,
  subType?: string,
): readonly WriteField[] {
  const shown = fields.filter((field) => field.entitlement === undefined || entitled);
  // All fields but the first begin with a comma, which is right only because the first is always present.
  if (!shown[0]?.required) throw new Error(`the first field of ${parent} in the catalog must be required`);
  return shown.map((field, index) => {
    if (subType !== undefined && field.nullOn?.includes(subType)) {
      const text = `${index === 0 ? '' : ','}"${field.name}":null`;
      return () => text;
    }
    const write = compileField(field, parent, version, entitled, index === 0);
    return field.onStatus === undefined ? write : onlyOnStatus(field.onStatus, write);
  });
}

function onlyOnStatus(statuses: readonly string[], write: WriteField): WriteField {
  return (data, fault) =>
    typeof data.status === 'string' && statuses.includes(data.status) ? write(data, fault) : '';
}

/** Writes an object with precompiled writers. */
export function writeObject(
  writers: readonly WriteField[],
  data: { readonly [field: string]: EventValue },
  fault: Fault,
): string {
  let text = '{';
  for (const write of writers) text += write(data, fault);
  return `${text}}`;
}
