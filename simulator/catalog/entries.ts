import { entityKindsOf, SUB_TYPES, subTypesOf } from '../../services/domain/catalog/catalog.ts';
import { EVENT_MEANINGS } from '../../services/domain/catalog/event-meanings.ts';
import { MACHINES, START } from '../../services/domain/catalog/machines.ts';
import { API_VERSIONS, type ApiVersion } from '../../services/domain/endpoint.ts';
import type { EventType } from '../../services/domain/event.ts';
import { uuidV5 } from '../../services/domain/ids.ts';
import { renderBody } from '../../services/domain/versions/render.ts';
import { sampleEvent } from '../../services/samples/sample.ts';

/** The merchant, user and corporate of the samples: those of the reference, so that the bodies are the same. */
const MERCHANT = '0a4f6a52-41f4-4c25-9a3e-9d4b8c4d6a10';
const USER = '3f0c1d5e-8b1a-4a53-8f3f-2b7c6f0d9a11';
const CORPORATE = 'c0a8b1f6-2d4e-4f7a-9b3c-5e6d7f8a9b01';
const OCCURRED_AT = Date.parse('2025-03-01T10:15:29.000Z');

/** A subType of the catalogue. */
export interface SubTypeEntry {
  readonly subType: string;
  /** When it is sent. */
  readonly when: string;
  readonly versions: readonly ApiVersion[];
  /** It may be the first event of its process. */
  readonly first: boolean;
  /** The subTypes that may follow in its process; null = its events may come at any time. */
  readonly follows: readonly string[] | null;
}

export interface TypeEntry {
  readonly type: EventType;
  readonly about: string;
  readonly entity_kinds: readonly string[];
  /** The states of `data.status` and what may follow each, where one subType reports them all. */
  readonly states: Readonly<Record<string, readonly string[]>> | null;
  readonly sub_types: readonly SubTypeEntry[];
}

/** Returns the catalogue's entry of a type; with a version, only what that version has. */
export function typeEntry(type: EventType, version: ApiVersion | undefined): TypeEntry {
  const { about } = EVENT_MEANINGS[type];
  const machine = MACHINES[type];
  const subTypes = version === undefined ? SUB_TYPES[type] : subTypesOf(type, version);
  const isByStatus = machine !== undefined && SUB_TYPES[type].length === 1;
  return {
    type,
    about,
    entity_kinds: entityKindsOf(type),
    states: isByStatus ? machine : null,
    sub_types: subTypes.map((subType) => subTypeEntry(type, subType)),
  };
}

export function subTypeEntry(type: EventType, subType: string): SubTypeEntry {
  const machine = MACHINES[type];
  return {
    subType,
    when: plain(EVENT_MEANINGS[type].subTypes[subType] ?? ''),
    versions: API_VERSIONS.filter((version) => subTypesOf(type, version).includes(subType)),
    first: machine === undefined || (machine[START] ?? []).includes(subType),
    follows: machine?.[subType] ?? null,
  };
}

/** Returns the body of a webhook, byte for byte as it is sent; undefined when the version does not have it. */
export function sampleBody(type: EventType, subType: string, version: ApiVersion): string | undefined {
  const event = sampleEvent({
    type,
    subType,
    merchantId: MERCHANT,
    entityId: entityKindsOf(type).includes('USER') ? USER : CORPORATE,
    seed: uuidV5('reference', type),
    occurredAt: OCCURRED_AT,
  });
  const rendered = renderBody(event, version, { senderAccountDetails: false });
  return rendered.kind === 'rendered' ? Buffer.from(rendered.body).toString('utf8') : undefined;
}

/** The meanings are Markdown. */
export function plain(text: string): string {
  return text.replaceAll('`', '');
}
