/** One case of the conformance run, and how its record is made. */
import { randomUUID } from 'node:crypto';
import { avroJson, type Ids, type SchemaName } from './event-variants.ts';
import type { JobRecord } from './job.ts';

/** How a record ends. `quarantined: REASON` names one of the reasons of the quarantine. */
export type End =
  | 'delivered'
  | 'not committed'
  | 'refused by the registry'
  | 'refused by Kafka'
  | `quarantined: ${string}`;

export interface Case {
  /** Unique among the cases. */
  readonly name: string;
  /** The row of the table: cases of one row are counted together. */
  readonly row: string;
  readonly group: 'codecs and transactions' | 'naming' | 'schemas' | 'sizes' | 'events' | 'poison';
  /** Any of these is right. */
  readonly expected: readonly End[];
  /** What the body of the webhook must contain. */
  readonly bodyHas?: readonly string[];
  readonly record: CaseRecord;
}

export type CaseRecord = Omit<JobRecord, 'id' | 'partition'> & { readonly eventId: string };

export interface CaseContext {
  readonly merchantId: string;
  /** The registry's id of hookrail's own schema. */
  readonly schemaIdOf: (schema: 'ours' | 'KYB' | 'fiatToCrypto') => number;
}

export function newIds({ merchantId }: CaseContext): Ids {
  return { eventId: randomUUID(), entityId: randomUUID(), merchantId };
}

/** A record that the client serializes itself. */
export function eventRecord(
  ids: Ids,
  schema: SchemaName,
  event: Readonly<Record<string, unknown>>,
  change: Partial<CaseRecord> = {},
): CaseRecord {
  return {
    key: ids.entityId,
    codec: 'none',
    mode: 'plain',
    naming: 'record',
    eventId: ids.eventId,
    schema,
    event: avroJson(schema, event),
    ...change,
  };
}

/** A case of bytes that the driver made. The key tells which record of the quarantine it is. */
export function rawCase(
  group: Case['group'],
  row: string,
  reason: string | readonly End[],
  raw: Buffer | null,
  change: Partial<CaseRecord> = {},
): Case {
  const expected = typeof reason === 'string' ? [`quarantined: ${reason}` as const] : reason;
  const record: CaseRecord = {
    key: randomUUID(),
    codec: 'none',
    mode: 'plain',
    eventId: randomUUID(),
    raw: raw === null ? null : raw.toString('base64'),
    ...change,
  };
  return { name: row, row, group, expected, record };
}
