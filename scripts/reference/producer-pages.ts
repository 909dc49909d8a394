import { eventSchemaText, eventToJson } from '../../services/codec/events.ts';
import { entityKindsOf, fieldsOf, SUB_TYPES } from '../../services/domain/catalog/catalog.ts';
import type { Field } from '../../services/domain/catalog/field.ts';
import { EVENT_TYPES, type EventType } from '../../services/domain/event.ts';
import { sampleEvent } from '../../services/samples/sample.ts';
import { isRequired } from '../producers/rules-table.ts';
import { codeBlock, codeTabs } from './highlight.ts';
import { type Html, html } from './html.ts';
import { address, type Page } from './layout.ts';
import { fieldRow } from './schema-table.ts';

const IDS = {
  merchantId: '9a6b0f0c-7d1e-4a3b-8c2d-1e0f2a3b4c5d',
  entityId: '3f0c1d5e-8b1a-4a53-8f3f-2b7c6f0d9a11',
};

/** The pages for producers: one for each type, with the fields of `data`, its JSON and its Avro schema. */
export function producerPages(): Page[] {
  return EVENT_TYPES.map((type) => {
    const path = `producers/${type}`;
    return {
      path,
      title: `Publish ${type}`,
      label: type,
      section: 'Producers',
      summary: `What producers send as ${type}: the schema of data in JSON and Avro.`,
      parts: [
        { id: 'data', label: 'Fields of data' },
        { id: 'json', label: 'JSON' },
        { id: 'avro', label: 'Avro' },
      ],
      content: html`<div class="lead"><p>What producers send as <code>${type}</code>: to <a href="${address(path, 'operations/producers')}#publishEvents"><code>POST /producer/events</code></a> as JSON, or to Kafka as Avro. It has more than merchants get, who see <a href="${address(path, `events/${type}`)}">the webhook</a>. <code>header.entityKind</code> is ${entityKindsOf(type).map((kind, i) => html`${i > 0 && ' or '}<code>${kind}</code>`)}.</p></div>
<section aria-labelledby="data"><h2 id="data"><a href="#data">Fields of data that producers send</a></h2><p>A field that is not named here is refused over REST, and ignored on Kafka. In JSON, null is the same as absent. <code>?dry_run=true</code> tells what is wrong with an event, and publishes nothing.</p><ul class="fields">${fieldsOf(type).map((field) => fieldRow(described(field, SUB_TYPES[type])))}</ul></section>
<section aria-labelledby="json"><h2 id="json"><a href="#json">JSON of each subType</a></h2>${samples(type)}</section>
<section aria-labelledby="avro"><h2 id="avro"><a href="#avro">Avro schema</a></h2><p>The record’s name is the subject in the schema registry. Avro allows null where any subType goes without a field: the list above says which of them require it.</p>${codeBlock(eventSchemaText(type).trim(), 'json', `Avro schema of ${type}`)}</section>`,
    };
  });
}

const KINDS: Readonly<Record<Field['kind'], string>> = {
  string: 'string',
  uuid: 'UUID',
  decimal: 'decimal, a string in JSON',
  integer: 'integer',
  boolean: 'boolean',
  timestamp: 'RFC 3339 or milliseconds',
  object: 'object',
  array: 'array',
};

const FORMATS = { country: 'country, two capital letters', currency: 'currency, three capital letters' };

function described(field: Field, subTypes: readonly string[]): Parameters<typeof fieldRow>[0] {
  const values = subTypes.flatMap((subType) => field.valuesOn?.[subType] ?? field.values ?? []);
  return {
    name: field.name,
    type:
      field.kind === 'array' && !field.fields
        ? 'array of strings'
        : ((field.format && FORMATS[field.format]) ?? KINDS[field.kind]),
    notes: notesOf(field, subTypes),
    values: [...new Set(field.constant === undefined ? values : [field.constant])],
    description: field.description,
    rows: (field.fields ?? []).map((inner) => described(inner, [''])),
  };
}

/** When the field must be there. */
function notesOf(field: Field, subTypes: readonly string[]): string[] {
  const on = subTypes.filter((subType) => isRequired(field, subType));
  const nulls = field.nullOn?.filter((subType) => subTypes.includes(subType)) ?? [];
  const isAlways = on.length === subTypes.length;
  return [
    ...(isAlways ? ['required'] : [on.length > 0 ? `required on ${on.join(', ')}` : 'optional']),
    ...(nulls.length > 0 ? [`null or absent on ${nulls.join(', ')}`] : []),
    ...(field.constant === undefined ? [] : ['need not be sent']),
  ];
}

function samples(type: EventType): Html {
  const tabs = SUB_TYPES[type].map((subType) => {
    const entityKind = entityKindsOf(type)[0] ?? 'USER';
    const occurredAt = Date.UTC(2026, 0, 31, 12);
    const made = { type, subType, ...IDS, seed: `docs ${type} ${subType}`, occurredAt, simulated: false };
    const json = eventToJson({ ...sampleEvent(made), entityKind });
    return { label: subType, language: 'json' as const, code: JSON.stringify(json, null, 2) };
  });
  const [first] = tabs;
  if (tabs.length === 1 && first) return codeBlock(first.code, 'json', `${type} ${first.label}`);
  return codeTabs(`json-${type}`, `JSON of ${type}`, tabs);
}
