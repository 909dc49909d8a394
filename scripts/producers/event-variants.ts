/** Schemas as producers change them over time, and events in Avro's JSON encoding. */
import avro from 'avsc';
import { eventSchemaText } from '../../services/codec/events.ts';

interface RecordSchema {
  name: string;
  namespace?: string;
  fields: { name: string; type: unknown; default?: unknown }[];
}

const OPTIONAL = (name: string) => ({ name, type: ['null', 'string'], default: null });

/** The KYC schema after a change of its header or its data. */
function changed(change: (header: RecordSchema, data: RecordSchema) => void): string {
  const schema = JSON.parse(eventSchemaText('KYC'));
  const [header, data] = schema.fields.map(({ type }: { type: RecordSchema }) => type);
  change(header, data);
  return JSON.stringify(schema);
}

function without(record: RecordSchema, name: string): void {
  record.fields = record.fields.filter((field) => field.name !== name);
}

function addSymbol(header: RecordSchema): void {
  const kind = header.fields.find(({ name }) => name === 'entityKind')?.type as { symbols: string[] };
  kind.symbols.push('PARTNER');
}

function retype(record: RecordSchema, name: string, type: unknown): void {
  for (const field of record.fields) if (field.name === name) field.type = type;
}

export const SCHEMAS = {
  ours: eventSchemaText('KYC'),
  'field added to data': changed((_, data) => data.fields.push(OPTIONAL('risk_class'))),
  'field added to header': changed((header) => header.fields.push(OPTIONAL('sourceSystem'))),
  'new version': changed((header, data) => {
    header.fields.push(OPTIONAL('sourceSystem'));
    data.fields.push(OPTIONAL('risk_class'), OPTIONAL('country'));
  }),
  'optional field removed': changed((_, data) => without(data, 'kyc_enduser_error_message')),
  'required field removed': changed((_, data) => without(data, 'attempt')),
  'required field added': changed((_, data) => data.fields.push({ name: 'risk_class', type: 'string' })),
  'enum symbol added': changed((header) => addSymbol(header)),
  'enum symbol used': changed((header) => addSymbol(header)),
  'field nullable': changed((_, data) => retype(data, 'status', ['null', 'string'])),
  'field nullable, null last': changed((_, data) => retype(data, 'status', ['string', 'null'])),
  'map added': changed((_, data) =>
    data.fields.push({ name: 'labels', type: ['null', { type: 'map', values: 'string' }], default: null }),
  ),
  'int for long': changed((_, data) => retype(data, 'attempt', 'int')),
  'header of another namespace': changed((header) => {
    header.namespace = 'com.example.common';
  }),
  'data of another name': changed((_, data) => {
    data.name = 'KycPayload';
  }),
  'time without a unit': changed((_, data) => retype(data, 'updated_at', 'long')),
  'time in microseconds': changed((_, data) =>
    retype(data, 'updated_at', { type: 'long', logicalType: 'timestamp-micros' }),
  ),
  'record that is no event': JSON.stringify({
    type: 'record',
    name: 'Invoice',
    namespace: 'com.example.billing',
    fields: [{ name: 'number', type: 'string' }],
  }),
  KYB: eventSchemaText('KYB'),
  fiatToCrypto: eventSchemaText('fiatToCrypto'),
} as const;

export type SchemaName = keyof typeof SCHEMAS;

export interface Ids {
  readonly eventId: string;
  readonly entityId: string;
  readonly merchantId: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns an event in Avro's JSON encoding, without fields that the schema does not have. */
export function avroJson(schema: SchemaName, event: Fields): string {
  return typeOf(schema).toString(event);
}

/** Returns it in Avro's binary encoding, after the prefix of the registry's wire format. */
export function wireFormat(schema: SchemaName, schemaId: number, event: Fields): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(schemaId, 1);
  return Buffer.concat([prefix, typeOf(schema).toBuffer(event)]);
}

const types = new Map<SchemaName, avro.Type>();

function typeOf(schema: SchemaName): avro.Type {
  const type = types.get(schema) ?? avro.Type.forSchema(JSON.parse(SCHEMAS[schema]), { wrapUnions: false });
  types.set(schema, type);
  return type;
}

function header(ids: Ids, entityKind: string, subType: string): Fields {
  return {
    ...ids,
    entityKind,
    subType,
    occurredAt: Date.now(),
    simulated: false,
    sourceSystem: 'conformance',
  };
}

/** Returns a KYC/SOFT_KYC_FAILED event; `bytes` is the approximate size of its message, up to 200,000. */
export function kycEvent(ids: Ids, bytes = 0, change: { header?: Fields; data?: Fields } = {}): Fields {
  const labels = Array.from({ length: Math.ceil(bytes / LABEL_BYTES) }, (_, i) => textOf(LABEL_BYTES, i));
  return {
    header: { ...header(ids, 'USER', 'SOFT_KYC_FAILED'), ...change.header },
    data: {
      status: 'SOFT_KYC_FAILED',
      docs_missing: null,
      kyc_reject_label: labels.length > 0 ? labels : null,
      kyc_enduser_error_message: 'Die Vorderseite fehlt – bitte erneut hochladen.',
      can_retry: true,
      attempt: 2,
      updated_at: Date.now(),
      risk_class: 'B',
      country: 'DE',
      labels: { team: 'risk' },
      ...change.data,
    },
  };
}

const LABEL_BYTES = 2000;
/** The length of the two texts of one reason, which `{"code":"","message":""},` surrounds in JSON. */
const REASON = { texts: 4000, bytes: 4026 } as const;

/** Returns KYB/REJECTED with about `bytes` of data as JSON: up to 400,000, or 1,200,000 with characters of three bytes. */
export function kybEvent(ids: Ids, bytes: number, characterBytes: 1 | 3 = 1): Fields {
  const text = (length: number, seed: number) =>
    characterBytes === 3 ? '本'.repeat(length) : textOf(length, seed);
  const reasons: Fields[] = [];
  for (let left = bytes; left > 0; left -= REASON.bytes * characterBytes) {
    const length = Math.min(REASON.texts / 2, Math.ceil(left / characterBytes / 2));
    reasons.push({ code: text(length, 2 * reasons.length), message: text(length, 2 * reasons.length + 1) });
  }
  return {
    header: header(ids, 'CORPORATE', 'REJECTED'),
    data: {
      status: 'REJECTED',
      legal_name: 'Example GmbH',
      registration_number: null,
      country: 'DE',
      rejection_reasons: reasons,
      associated_persons: null,
      updated_at: Date.now(),
    },
  };
}

/** Returns an on-ramp with amounts of 18 decimals, which Avro encodes as bytes. */
export function onRampEvent(ids: Ids, change: Fields = {}): Fields {
  const decimal = (unscaled: bigint) => {
    const hex = unscaled.toString(16);
    const even = hex.length % 2 === 0 ? hex : `0${hex}`;
    return Buffer.from(/^[89a-f]/.test(even) ? `00${even}` : even, 'hex');
  };
  return {
    header: header(ids, 'USER', 'SUCCESS'),
    data: {
      status: 'SUCCESS',
      transactionUuid: ids.eventId,
      amountCrypto: decimal(123_456_789_012_345_678n),
      amountFiat: decimal(250_500_000_000_000_000_000n),
      amountRefunded: null,
      walletAddress: null,
      transactionHash: '0xabc',
      currencyFiat: 'EUR',
      currencyCrypto: 'ETH',
      fees: decimal(1_250_000_000_000_000_000n),
      internalBankAccountId: null,
      chain: null,
      senderDetails: null,
      sendingWalletAddress: null,
      linkedBankAccountUuid: null,
      ...change,
    },
  };
}

/** Returns text that hardly compresses, the same for the same seed. */
function textOf(length: number, seed: number): string {
  let state = (seed + 1) * 2_654_435_761;
  let text = '';
  while (text.length < length) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    text += state.toString(36);
  }
  return text.slice(0, length);
}
