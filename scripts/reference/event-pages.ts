import {
  entityKindsOf,
  fieldsOf,
  isShown,
  SUB_TYPES,
  subTypesOf,
  typesOf,
} from '../../services/domain/catalog/catalog.ts';
import { EVENT_MEANINGS } from '../../services/domain/catalog/event-meanings.ts';
import type { Field } from '../../services/domain/catalog/field.ts';
import { MACHINES } from '../../services/domain/catalog/machines.ts';
import { API_VERSIONS, type ApiVersion } from '../../services/domain/endpoint.ts';
import { EVENT_TYPES, type EventType } from '../../services/domain/event.ts';
import { knownValues } from '../webhooks/body-schema.ts';
import { allWebhooks, type Webhook } from './description.ts';
import { codeSample, codeTabs } from './highlight.ts';
import { type Html, html } from './html.ts';
import { address, type Page } from './layout.ts';
import { inline, prose } from './markdown.ts';
import { fieldRow } from './schema-table.ts';
import { stateGraph } from './state-graph.ts';

const VERSIONS: readonly ApiVersion[] = [...API_VERSIONS].reverse();

/** The catalogue of webhooks: a list of the types, and a page for each. */
export function eventPages(): Page[] {
  return [catalogue(), ...allWebhooks().map(eventPage)];
}

function catalogue(): Page {
  const path = 'events/catalogue';
  const row = (type: EventType) => {
    const versions = VERSIONS.filter((version) => typesOf(version).includes(type));
    return html`<tr data-only="${versions.join(' ')}"><td><a href="${address(path, `events/${type}`)}"><code>${type}</code></a></td><td>${EVENT_MEANINGS[type].about}</td><td data-label="subTypes">${SUB_TYPES[type].length}</td><td data-label="Versions">${versions.join(', ')}</td></tr>`;
  };
  return {
    path,
    title: 'Event catalogue',
    label: 'Catalogue',
    section: 'Events',
    summary: 'Every event type that hookrail delivers.',
    hasVersions: true,
    content: html`<div class="lead"><p>Every webhook has the same envelope: <code>type</code>, <code>subType</code>, the <code>uuid</code> of the user or corporate, and <code>data</code>. Types, subTypes, fields and values may be added: acknowledge and ignore what you do not know.</p></div>
<div class="table" tabindex="0" role="region" aria-label="Event types"><table><thead><tr><th>Type</th><th>About</th><th>subTypes</th><th>Versions</th></tr></thead><tbody>${EVENT_TYPES.map(row)}</tbody></table></div>`,
  };
}

function eventPage(webhook: Webhook): Page {
  const type = webhook.type as EventType;
  const { about, subTypes } = EVENT_MEANINGS[type];
  const unsaid = SUB_TYPES[type].filter((subType) => !(subType in subTypes));
  if (unsaid.length > 0)
    throw new Error(
      `services/domain/catalog/event-meanings.ts does not say when ${type} ${unsaid.join(', ')} is sent`,
    );
  const machine = MACHINES[type];
  return {
    path: `events/${type}`,
    title: type,
    section: 'Events',
    summary: about,
    hasVersions: true,
    isWide: true,
    parts: [
      ...(machine ? [{ id: 'states', label: 'States' }] : []),
      { id: 'fields', label: 'Fields' },
      ...SUB_TYPES[type].map((subType) => ({ id: subType, label: subType })),
    ],
    content: html`<div class="lead"><p>${about} The envelope’s <code>uuid</code> names a ${entityKindsOf(type)
      .map((kind) => kind.toLowerCase())
      .join(' or a ')}.</p></div>
${VERSIONS.filter((version) => !typesOf(version).includes(type)).map((version) => html`<p class="absent" data-only="${version}">Version ${version} does not have this type: its endpoints skip these events.</p>`)}
${machine ? html`<section aria-labelledby="states"><h2 id="states"><a href="#states">States</a></h2><p>${SUB_TYPES[type].length > 1 ? 'An event is sent for each state that is reached.' : html`The states are the values of <code>data.status</code>.`} States may be added.</p>${stateGraph(type, machine)}</section>` : undefined}
<section aria-labelledby="fields"><h2 id="fields"><a href="#fields">Fields of data</a></h2>${VERSIONS.map((version) => fieldsIn(type, version))}</section>
${SUB_TYPES[type].map((subType) => subTypeSection(webhook, type, subType))}`,
  };
}

function fieldsIn(type: EventType, version: ApiVersion): Html | undefined {
  const subTypes = subTypesOf(type, version);
  if (subTypes.length === 0) return undefined;
  const fields = fieldsOf(type).filter((field) =>
    subTypes.some((subType) => isShown(field, subType, version)),
  );
  return html`<div class="in-version" data-only="${version}"><p class="version-title">In version ${version}</p><ul class="fields">${fields.map((field) => row(field, subTypes, version))}</ul></div>`;
}

const KINDS: Readonly<Record<Field['kind'], string>> = {
  string: 'string',
  uuid: 'UUID',
  decimal: 'number',
  integer: 'integer',
  boolean: 'boolean',
  timestamp: 'timestamp',
  object: 'object',
  array: 'array',
};

function row(field: Field, subTypes: readonly string[], version: ApiVersion): Html {
  return fieldRow(described(field, subTypes, version));
}

function described(
  field: Field,
  subTypes: readonly string[],
  version: ApiVersion,
): Parameters<typeof fieldRow>[0] {
  const on = subTypes.filter((subType) => isShown(field, subType, version));
  const place = on.length === subTypes.length ? [] : [`on ${on.join(', ')}`];
  const nulls = field.nullOn?.filter((subType) => on.includes(subType)) ?? [];
  const values = on.flatMap((subType) => knownValues(field, subType, version) ?? []);
  return {
    name: field.name,
    type: field.kind === 'array' && !field.fields ? 'array of strings' : KINDS[field.kind],
    notes: [
      ...place,
      ...(field.required ? [] : ['may be absent']),
      ...(nulls.length > 0 ? [`null on ${nulls.join(', ')}`] : []),
      ...(field.entitlement ? ['only to entitled merchants'] : []),
    ],
    values: [...new Set(values)],
    description: field.description,
    rows: (field.fields ?? [])
      .filter((inner) => inner.versions.includes(version))
      .map((inner) => described(inner, [''], version)),
  };
}

function subTypeSection(webhook: Webhook, type: EventType, subType: string): Html {
  const versions = VERSIONS.filter((version) => subTypesOf(type, version).includes(subType));
  const next = MACHINES[type]?.[subType];
  const sample = `npx --no hookrail sim trigger ${type}/${subType}`;
  return html`<section class="operation" aria-labelledby="${subType}" data-only="${versions.join(' ')}">
<div class="text">
<h2 id="${subType}"><a href="#${subType}">${subType}</a></h2>
${prose(EVENT_MEANINGS[type].subTypes[subType] ?? '')}
${next !== undefined && html`<p class="next">${next.length === 0 ? 'Nothing follows: the process is over.' : html`May be followed by ${next.map((state, i) => html`${i > 0 && ', '}<a href="#${state}"><code>${state}</code></a>`)}.`}</p>`}
${versions.length < VERSIONS.length && html`<p class="only">Only in version ${versions.join(', ')}.</p>`}
<p>Send yourself one, in the sandbox:</p>
${codeSample('Sandbox', 'sh', sample)}
</div>
<div class="samples">${versions.map((version) => html`<div data-only="${version}">${bodies(webhook, type, subType, version)}</div>`)}</div>
</section>`;
}

function bodies(webhook: Webhook, type: EventType, subType: string, version: ApiVersion): Html {
  const found = Object.entries(webhook.examples).filter(
    ([name]) => name.startsWith(`${type}.${subType}.`) && name.endsWith(`.${version}`),
  );
  const title = `${type} ${subType}, version ${version}`;
  const tabs = found.map(([name, { value }]) => ({
    label: name.slice(`${type}.${subType}.`.length, -version.length - 1) || subType,
    language: 'json' as const,
    code: JSON.stringify(value, null, 2),
  }));
  const [first] = tabs;
  if (first === undefined) throw new Error(`${title} has no example in schemas/webhooks.yaml`);
  if (tabs.length === 1) return codeSample(title, 'json', first.code);
  return codeTabs(`${subType}-${version.replaceAll('.', '-')}`, title, tabs);
}

/** The headers of every webhook as a list, and an example of a whole request. */
export function webhookRequest(): Html {
  const [webhook] = allWebhooks();
  if (webhook === undefined) throw new Error('schemas/webhooks.yaml has no webhooks');
  const rows = webhook.headers.map(
    ({ name, description, example, required }) =>
      html`<tr id="name-${name}"><td><code>${name}</code></td><td>${inline(description ?? '')}${required === false && ' Optional.'}</td><td class="value"><code>${String(example)}</code></td></tr>`,
  );
  return html`<h2 id="headers">Headers of a webhook</h2><div class="table" tabindex="0" role="region" aria-label="Headers"><table><thead><tr><th>Header</th><th>Meaning</th><th>Example</th></tr></thead><tbody><tr><td><code>Authorization</code></td><td><code>API-Key</code> and the signing secret of the endpoint.</td><td class="value"><code>API-Key whsec_…</code></td></tr>${rows}</tbody></table></div>`;
}
