import { followed, type Parameter, type Schema } from './description.ts';
import { type Html, html } from './html.ts';
import { prose } from './markdown.ts';

/** A description of an object's property, with the properties inside it. */
interface Row {
  readonly name: string;
  readonly type: string;
  readonly notes: readonly string[];
  readonly values: readonly string[];
  readonly description?: string | undefined;
  readonly rows: readonly Row[];
}

const DEPTH_MAX = 4;

/** The properties of a schema, as a list; undefined when it has none. */
export function schemaTable(schema: Schema, isRequest: boolean): Html | undefined {
  const rows = rowsOf(schema, isRequest, 0);
  return rows.length === 0 ? undefined : list(rows);
}

/** Parameters as the same list. */
export function parameterTable(parameters: readonly Parameter[]): Html {
  return list(
    parameters.map(({ name, schema, description, required }) =>
      rowOf(
        name,
        { ...followed(schema), ...(description ? { description } : {}) },
        required ? ['required'] : [],
        true,
        0,
      ),
    ),
  );
}

/** One line of a list of fields. */
export function fieldRow(row: Row): Html {
  return html`<li><div class="field"><code class="name">${row.name}</code> <span class="type">${row.type}</span>${row.notes.map((note) => html` <span class="note${note === 'required' ? ' must' : ''}">${note}</span>`)}</div>${row.description === undefined ? undefined : html`<div class="about">${prose(row.description)}</div>`}${row.values.length > 0 && html`<p class="values">${row.values.map((value) => html`<code>${value}</code> `)}</p>`}${row.rows.length > 0 && html`<details class="inner"><summary>Fields of <code>${row.name}</code></summary>${list(row.rows)}</details>`}</li>`;
}

function list(rows: readonly Row[]): Html {
  return html`<ul class="fields">${rows.map(fieldRow)}</ul>`;
}

function rowsOf(schema: Schema, isRequest: boolean, depth: number): Row[] {
  const whole = followed(schema);
  if (depth > DEPTH_MAX) return [];
  if (whole.items) return rowsOf(whole.items, isRequest, depth);
  const parts = (whole.allOf ?? []).flatMap((part) => rowsOf(part, isRequest, depth));
  const required = new Set(whole.required);
  const own = Object.entries(whole.properties ?? {}).map(([name, property]) => {
    const isRequired = required.has(name);
    // Answers always have what they require, so only what may be missing is worth a word there.
    const note = isRequest ? isRequired && 'required' : !isRequired && 'may be absent';
    return rowOf(name, followed(property), note ? [note] : [], isRequest, depth);
  });
  if (parts.length + own.length > 0) return [...parts, ...own];
  const [choice] = (whole.oneOf ?? whole.anyOf ?? []).map((each) => rowsOf(each, isRequest, depth));
  return choice ?? [];
}

function rowOf(
  name: string,
  schema: Schema,
  notes: readonly string[],
  isRequest: boolean,
  depth: number,
): Row {
  const item = schema.items ? followed(schema.items) : undefined;
  const { enum: allowed, 'x-known-values': known } = { ...item, ...schema, ...valuesIn(schema) };
  return {
    name,
    type: typeOf(schema),
    notes: [...notes, ...limitsOf(schema), ...(known && !allowed ? ['more values may come'] : [])],
    values: (allowed ?? known ?? []).map(String),
    description: schema.description ?? item?.description,
    rows: rowsOf(schema, isRequest, depth + 1),
  };
}

/** The values of `oneOf: [a list of values, null]`. */
function valuesIn(schema: Schema): Schema {
  const choice = schema.oneOf
    ?.map((each) => followed(each))
    .find((each) => each.enum ?? each['x-known-values']);
  return choice
    ? { ...(choice.enum ? { enum: choice.enum } : {}), 'x-known-values': choice['x-known-values'] ?? [] }
    : {};
}

function typeOf(schema: Schema): string {
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices && schema.type === undefined)
    return [...new Set(choices.map((each) => typeOf(followed(each))))].join(' or ');
  const types = [schema.type ?? (schema.allOf || schema.properties ? 'object' : 'any')].flat();
  return types
    .map((type) => {
      if (type === 'array')
        return schema.items ? `array of ${plural(typeOf(followed(schema.items)))}` : 'array';
      if (type !== 'string') return type;
      return { uuid: 'UUID', 'date-time': 'timestamp', uri: 'URL' }[schema.format ?? ''] ?? 'string';
    })
    .join(' or ');
}

const plural = (type: string) => (/\bor\b|s$/.test(type) ? type : `${type}s`);

function limitsOf(schema: Schema): string[] {
  const limits: string[] = [];
  const { minimum, maximum, maxLength, maxItems } = schema;
  if (minimum !== undefined && maximum !== undefined) limits.push(`${minimum} to ${maximum}`);
  else if (minimum !== undefined) limits.push(`at least ${minimum}`);
  else if (maximum !== undefined) limits.push(`at most ${maximum}`);
  if (maxLength !== undefined) limits.push(`at most ${maxLength} characters`);
  if (maxItems !== undefined) limits.push(`at most ${maxItems}`);
  if (schema.default !== undefined) limits.push(`default ${JSON.stringify(schema.default)}`);
  return limits;
}
