import avro from 'avsc';
import { EventDecoder, eventSchemaText } from '../../../services/codec/events.ts';
import type { EventType } from '../../../services/domain/event.ts';

// biome-ignore lint/suspicious/noExplicitAny: a schema is changed as the JSON that it is.
export type Json = any;

export const HEADER = {
  eventId: '11111111-1111-4111-8111-111111111111',
  merchantId: 'm1',
  entityId: '22222222-2222-4222-8222-222222222222',
  entityKind: 'USER',
  subType: 'DETECTED',
  occurredAt: 1_900_000_000_000,
  simulated: false,
};
/** 1.5 at scale 18. */
const AMOUNT = Buffer.from('14d1120d7b160000', 'hex');
export const MISMATCH = {
  transactionUuid: '33333333-3333-4333-8333-333333333333',
  expectedName: 'A',
  senderName: 'B',
  matchResult: 'NO_MATCH',
  currencyFiat: 'EUR',
  amountFiat: AMOUNT,
  action: 'REFUND',
};
const KYC = {
  status: 'SOFT_KYC_FAILED',
  docs_missing: [{ docType: 'SELFIE', docSubType: null }],
  kyc_reject_label: ['blurred'],
  kyc_enduser_error_message: null,
  can_retry: true,
  attempt: 2,
  updated_at: 1_900_000_000_000,
};
export const GIVEN: Partial<Record<EventType, Json>> = {
  senderNameMismatch: { header: HEADER, data: MISMATCH },
  KYC: { header: { ...HEADER, subType: 'SOFT_KYC_FAILED' }, data: KYC },
};

export interface Written {
  readonly type?: EventType;
  /** Changes our schema to the writer's; `root` has the fields header and data. */
  readonly schema: (header: Json, data: Json, root: Json) => void;
  /** Changes the record. */
  readonly record?: (header: Json, data: Json) => void;
  /** Changes the registered text only: what avsc cannot write with. */
  readonly text?: (text: string) => string;
  readonly wrapUnions?: 'always' | 'never';
}

/** Writes a record with plain avsc, as a producer does, and decodes it. */
export function decoded({
  type = 'senderNameMismatch',
  schema,
  record,
  text,
  wrapUnions = 'never',
}: Written) {
  const root = JSON.parse(eventSchemaText(type));
  const [header, data] = root.fields.map((field: Json) => field.type);
  const given = structuredClone(GIVEN[type]);
  // A structured clone of a Buffer is a Uint8Array, which avsc does not write.
  if (given.data.amountFiat) given.data.amountFiat = AMOUNT;
  schema(header, data, root);
  record?.(given.header, given.data);
  const body = avro.Type.forSchema(root, { wrapUnions }).toBuffer(given);
  const registered = JSON.stringify(root);
  const decoder = new EventDecoder(() => text?.(registered) ?? registered);
  return decoder.decode(Buffer.concat([Buffer.from([0, 0, 0, 0, 7]), body]));
}

export const fieldOf = (record: Json, name: string) =>
  record.fields.find((field: Json) => field.name === name);
export const retype = (record: Json, name: string, type: Json) => {
  fieldOf(record, name).type = type;
};
export const millis = (unit: string, type = 'long') => ({ type, logicalType: unit });
