/** Rules that an event's Avro schema cannot express: the nullable fields that a subType requires, and the values that are known. */
import { eventSchemaText } from '../../services/codec/events.ts';
import { entityKindsOf, fieldsOf, isShown, SUB_TYPES } from '../../services/domain/catalog/catalog.ts';
import type { Field } from '../../services/domain/catalog/field.ts';
import { API_VERSION_DEFAULT } from '../../services/domain/endpoint.ts';
import { EVENT_TYPES, type EventType } from '../../services/domain/event.ts';

/** Returns a row for each group of subTypes of a type that share all rules. */
export function rulesTable(): string {
  const rows = EVENT_TYPES.flatMap((type) => rowsOf(type));
  return [
    '| type | subType | required, though the schema allows null | known values |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function rowsOf(type: EventType): string[] {
  const nullable = nullableFieldsOf(type);
  const groups = new Map<string, string[]>();
  for (const subType of SUB_TYPES[type]) {
    const required = fieldsOf(type).filter((field) => nullable.has(field.name) && isRequired(field, subType));
    const rules = `${required.map(({ name }) => code(name)).join(', ')} | ${valuesOf(type, subType)}`;
    groups.set(rules, [...(groups.get(rules) ?? []), subType]);
  }
  const kinds = entityKindsOf(type);
  const of = kinds.length === 1 ? ` (${kinds.map(code).join()})` : '';
  return [...groups].map(
    ([rules, subTypes]) => `| ${code(type)}${of} | ${subTypes.map(code).join(', ')} | ${rules} |`,
  );
}

/** Returns whether an event of the subType must have the field. */
export function isRequired(field: Field, subType: string): boolean {
  const isNull = field.nullOn?.includes(subType) ?? false;
  return (
    field.required && field.constant === undefined && !isNull && isShown(field, subType, API_VERSION_DEFAULT)
  );
}

/** Omits `status` where it repeats the subType, as the text above the table explains. */
function valuesOf(type: EventType, subType: string): string {
  return fieldsOf(type)
    .flatMap((field) => valueRulesOf(field, field.name, subType))
    .join('; ');
}

function valueRulesOf(field: Field, path: string, subType: string): string[] {
  if (field.nullOn?.includes(subType)) return [`${code(path)}: null`];
  const values = field.valuesOn?.[subType] ?? field.values;
  const own =
    values === undefined || values.join() === subType
      ? []
      : [`${code(path)}: ${values.map(code).join(', ')}`];
  const isList = field.kind === 'array';
  const nested = (field.fields ?? []).flatMap((each) =>
    valueRulesOf(each, `${path}${isList ? '[]' : ''}.${each.name}`, subType),
  );
  return [...own, ...nested];
}

/** Returns the names of the fields of `data` that may be null in the schema. */
function nullableFieldsOf(type: EventType): ReadonlySet<string> {
  const { fields } = JSON.parse(eventSchemaText(type)) as Schema;
  const data = fields.find(({ name }) => name === 'data')?.type as Schema;
  const isNullable = (each: unknown) => Array.isArray(each) && each.includes('null');
  return new Set(data.fields.filter((field) => isNullable(field.type)).map(({ name }) => name));
}

interface Schema {
  readonly fields: readonly { readonly name: string; readonly type: unknown }[];
}

function code(text: string): string {
  return `\`${text}\``;
}
