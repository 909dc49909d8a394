import { fieldsOf } from '../../services/domain/catalog/catalog.ts';
import type { Field } from '../../services/domain/catalog/field.ts';
import { type EventData, type EventType, type EventValue, isEventType } from '../../services/domain/event.ts';

/** JSON.parse, whose reviver is also given the text of a number or string; TypeScript does not know of it yet. */
const parseExact = JSON.parse as (
  text: string,
  reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown;

/**
 * Returns the data of the event that a webhook's body of the latest version was rendered from: amounts are exact decimal
 * text again, and what the renderer fills in is left out. Throws a SyntaxError when the body is not JSON.
 */
export function dataOfBody(type: string, body: string): EventData {
  // A number as JavaScript has it would lose digits of an amount.
  const { data } = parseExact(body, (_, value, { source }) =>
    typeof value === 'number' ? source : value,
  ) as {
    readonly data: EventData;
  };
  return isEventType(type) ? dataOf(fieldsOf(type as EventType), data) : data;
}

function dataOf(fields: readonly Field[], shown: EventData): EventData {
  const data: EventData = {};
  for (const field of fields) {
    const value = shown[field.name];
    if (value === undefined || value === null || field.constant !== undefined) continue;
    data[field.name] = restored(field, value);
  }
  return data;
}

function restored(field: Field, value: EventValue): EventValue {
  switch (field.kind) {
    case 'integer':
      return Number(value);
    case 'object':
      return isObject(value) ? dataOf(field.fields ?? [], value) : value;
    case 'array':
      if (!Array.isArray(value)) return value;
      return value.map((item) => (isObject(item) ? dataOf(field.fields ?? [], item) : item));
    default:
      return value;
  }
}

function isObject(value: EventValue): value is EventData {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
