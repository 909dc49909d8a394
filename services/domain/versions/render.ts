/**
 * Renders an event into the webhook's body for an API version: `{type, subType, uuid, data}` and nothing else
 * (docs/specification.md, "Webhook envelope"), the fields of `data` by the presence table and in its order. The bytes
 * of the first render are kept and sent on every attempt, so the same event always gives the same bytes.
 *
 * Routers call this for every event: a writer per (type, subType, version, entitlement) is compiled once, at load.
 */
import { fieldsOf, isShown, SUB_TYPES, subTypesOf, typesOf } from '../catalog/catalog.ts';
import { API_VERSIONS, type ApiVersion } from '../endpoint.ts';
import { type DomainEvent, EVENT_TYPES, type EventType } from '../event.ts';
import { isUuid } from '../ids.ts';
import { compileFields, type Fault, type WriteField, writeObject } from './write-field.ts';

export type Rendered =
  /** UTF-8 JSON. The array may be a view of a larger buffer: copy it before transferring it to another thread. */
  | { readonly kind: 'rendered'; readonly body: Uint8Array }
  | { readonly kind: 'skipped'; readonly reason: 'type_not_in_api_version' | 'subtype_not_in_api_version' }
  /** The event breaks the presence table; `detail` never holds the value, which may be personal. */
  | { readonly kind: 'invalid'; readonly pointer: string; readonly detail: string };

interface Writer {
  /** `{"type":"…","subType":"…","uuid":"` */
  readonly head: string;
  readonly fields: readonly WriteField[];
}

/** The compiled writers of one type and subType, by version: the plain one and the one for entitled merchants. */
type Compiled = Readonly<
  Record<ApiVersion, Rendered | { readonly plain: Writer; readonly entitled: Writer }>
>;

const WRITERS: ReadonlyMap<EventType, ReadonlyMap<string, Compiled>> = new Map(
  EVENT_TYPES.map((type) => [
    type,
    new Map(SUB_TYPES[type].map((subType) => [subType, compile(type, subType)] as const)),
  ]),
);

function compile(type: EventType, subType: string): Compiled {
  const byVersion = API_VERSIONS.map((version) => {
    if (!typesOf(version).includes(type)) {
      return [version, { kind: 'skipped', reason: 'type_not_in_api_version' }];
    }
    if (!subTypesOf(type, version).includes(subType)) {
      return [version, { kind: 'skipped', reason: 'subtype_not_in_api_version' }];
    }
    return [
      version,
      {
        plain: compileWriter(type, subType, version, false),
        entitled: compileWriter(type, subType, version, true),
      },
    ];
  });
  return Object.fromEntries(byVersion);
}

function compileWriter(type: EventType, subType: string, version: ApiVersion, entitled: boolean): Writer {
  const fields = fieldsOf(type).filter((field) => isShown(field, subType, version));
  return {
    head: `{"type":"${type}","subType":"${subType}","uuid":"`,
    fields: compileFields(fields, '/data', version, entitled, subType),
  };
}

/**
 * Renders one event for one API version. `merchant.senderAccountDetails`: whether the merchant is entitled to the
 * sender's bank details (docs/decisions.md, "Event data"). Never throws because of an event's content.
 */
export function renderBody(
  event: DomainEvent,
  apiVersion: ApiVersion,
  merchant: { readonly senderAccountDetails: boolean },
): Rendered {
  const compiled = WRITERS.get(event.type)?.get(event.subType)?.[apiVersion];
  if (compiled === undefined) {
    return {
      kind: 'invalid',
      pointer: '/subType',
      detail: `${event.type} has no subType ${JSON.stringify(event.subType).slice(0, 60)}`,
    };
  }
  if ('kind' in compiled) return compiled;
  // Written unescaped: anything but a UUID could break out of the JSON string.
  if (!isUuid(event.entityId)) {
    return { kind: 'invalid', pointer: '/header/entityId', detail: 'is not a UUID' };
  }
  const writer = merchant.senderAccountDetails ? compiled.entitled : compiled.plain;
  const fault: Fault = { pointer: '', detail: '' };
  const data = writeObject(writer.fields, event.data, fault);
  if (fault.pointer !== '') return { kind: 'invalid', pointer: fault.pointer, detail: fault.detail };
  return { kind: 'rendered', body: Buffer.from(`${writer.head}${event.entityId}","data":${data}}`) };
}
