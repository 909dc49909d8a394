import { fieldsOf } from '../../services/domain/catalog/catalog.ts';
import type { Field } from '../../services/domain/catalog/field.ts';
import type { EventData, EventType, EventValue } from '../../services/domain/event.ts';
import { didYouMean } from '../../services/messages/did-you-mean.ts';
import { usage } from '../exit.ts';

/**
 * Returns the fields of an event by path, "data.senderDetails.senderName". Only paths in the catalogue: a mistyped one
 * would silently change nothing, and a test would prove nothing.
 */
export function pathsOf(type: EventType): readonly string[] {
  return namesOf(fieldsOf(type), 'data');
}

function namesOf(fields: readonly Field[], above: string): readonly string[] {
  return fields.flatMap((field) => {
    const path = `${above}.${field.name}`;
    // The renderer fills in constant fields; events do not carry them.
    if (field.constant !== undefined) return [];
    return field.kind === 'object' ? [path, ...namesOf(field.fields ?? [], path)] : [path];
  });
}

/**
 * Returns a copy of the data with a field set. Text is read as the field's kind: amounts stay exact text, numbers and
 * booleans are parsed, arrays and objects are JSON. Throws a usage failure for an unknown path or an unfit value.
 */
export function withField(type: EventType, data: EventData, path: string, value: unknown): EventData {
  const field = fieldAt(type, path);
  return changed(data, segmentsOf(path), readValue(field, path, value));
}

/** Returns a copy of the data without a field. Throws a usage failure for an unknown path. */
export function withoutField(type: EventType, data: EventData, path: string): EventData {
  fieldAt(type, path);
  return changed(data, segmentsOf(path), undefined);
}

function segmentsOf(path: string): readonly string[] {
  return path.split('.').slice(1);
}

function fieldAt(type: EventType, path: string): Field {
  let fields = fieldsOf(type);
  let found: Field | undefined;
  for (const name of path.startsWith('data.') ? segmentsOf(path) : [path]) {
    found = fields.find((field) => field.name === name && field.constant === undefined);
    if (!found || !path.startsWith('data.')) {
      throw usage(`${type} has no field "${path}"${didYouMean(path, pathsOf(type))}`, ...suggestions(type));
    }
    fields = found.fields ?? [];
  }
  if (!found) throw usage(`"${path}" is not a path to a field`);
  return found;
}

function suggestions(type: EventType): readonly string[] {
  return [`the fields of ${type} are ${pathsOf(type).join(', ')}`];
}

function readValue(field: Field, path: string, value: unknown): EventValue {
  const unfit = (what: string) => usage(`${path} must be ${what}, not ${JSON.stringify(value)}`);
  const text = typeof value === 'string' ? value : undefined;
  switch (field.kind) {
    case 'decimal': {
      const amount = String(value);
      if (!/^-?\d+(\.\d+)?$/.test(amount)) throw unfit('a plain decimal number');
      return amount;
    }
    case 'integer': {
      const number = text === undefined ? value : Number(text);
      if (!Number.isSafeInteger(number)) throw unfit('a whole number');
      return number as number;
    }
    case 'boolean': {
      const isTrue = value === true || value === 'true';
      if (!isTrue && value !== false && value !== 'false') throw unfit('true or false');
      return isTrue;
    }
    case 'array':
    case 'object': {
      const parsed = text === undefined ? value : parseJson(text);
      const fits = field.kind === 'array' ? Array.isArray(parsed) : isPlainObject(parsed);
      if (!fits) throw unfit(field.kind === 'array' ? 'a JSON array' : 'a JSON object');
      return parsed as EventValue;
    }
    default:
      if (typeof value === 'object') throw unfit('text');
      return String(value);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isPlainObject(value: unknown): value is EventData {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function changed(data: EventData, segments: readonly string[], value: EventValue | undefined): EventData {
  const [name, ...rest] = segments;
  if (name === undefined) return data;
  const copy = { ...data };
  const below = copy[name];
  if (rest.length > 0) copy[name] = changed(isPlainObject(below) ? below : {}, rest, value);
  else if (value === undefined) delete copy[name];
  else copy[name] = value;
  return copy;
}
