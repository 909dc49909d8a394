/** One case of the conformance run, and functions that create its record. */
import { randomUUID } from 'node:crypto';
import { avroJson, type Ids, type SchemaName } from './event-variants.ts';
import type { JobRecord } from './job.ts';

/** The end of a record. `quarantined: REASON` contains the reason in the quarantine. */
export type End =
  | 'delivered'
  | 'not committed'
  | 'refused by the registry'
  | 'refused by Kafka'
  | `quarantined: ${string}`;

export interface Case {
  /** A unique name. */
  readonly name: string;
  /** The row of the table: cases of one row are counted together. */
  readonly row: string;
  readonly group: 'codecs and transactions' | 'naming' | 'schemas' | 'sizes' | 'events' | 'poison';
  /** The correct ends; any of them is accepted. */
  readonly expected: readonly End[];
  /** Texts that the body of the webhook must contain. */
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

/** Returns a record that the client serializes itself. */
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

/** Returns a case with bytes created by the driver. The key identifies the record in the quarantine. */
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
