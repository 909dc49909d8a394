import { quoted } from '../../client/curl.ts';
import type { Field } from '../../services/domain/catalog/field.ts';

/** The texts that were typed, by the name of the field. */
export type Texts = Readonly<Record<string, string>>;

/** Returns a value of an event as a field of a form shows it; nothing for one that is absent. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Returns the values that replace those of the sample: an empty text leaves a field out. */
export function valuesOf(fields: readonly Field[], texts: Texts): Record<string, unknown> {
  const given = fields.filter(({ name }) => texts[name] !== undefined);
  return Object.fromEntries(given.map((field) => [field.name, readAs(field, texts[field.name] ?? '')]));
}

/** A text that is no value of its kind is sent as it is: the service says what is wrong with it. */
function readAs({ kind }: Field, text: string): unknown {
  if (text === '') return null;
  if (kind !== 'object' && kind !== 'array' && kind !== 'integer' && kind !== 'boolean') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns the command that sends the same. */
export function lineOf(type: string, subType: string, texts: Texts): string {
  const set = Object.entries(texts).map(([name, text]) =>
    text === '' ? ` --unset data.${name}` : ` --set ${quoted(`data.${name}=${text}`)}`,
  );
  return `sim trigger ${type}/${subType}${set.join('')}`;
}
