/** The format of the client programs' input, which lists the records to write, and of their report. */

export const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
export type Codec = (typeof CODECS)[number];

/** How a record is written: `commit` and `abort` are transactions of one record. */
export const MODES = ['plain', 'idempotent', 'commit', 'abort'] as const;
export type Mode = (typeof MODES)[number];

/** The subject naming strategy; `default` is the client's own. */
export const NAMINGS = ['record', 'topic', 'default'] as const;
export type Naming = (typeof NAMINGS)[number];

export interface JobRecord {
  readonly id: string;
  readonly partition: number;
  readonly key: string | null;
  readonly codec: Codec;
  readonly mode: Mode;
  /** The bytes in base64, null for a tombstone. Without it the client serializes `event` itself. */
  readonly raw?: string | null;
  /** The number of zero bytes after `raw`. */
  readonly zeros?: number;
  /** The name of a schema of the job. */
  readonly schema?: string;
  readonly naming?: Naming;
  /** The event in Avro's JSON encoding. */
  readonly event?: string;
  /** Names with values in base64. */
  readonly headers?: readonly (readonly [string, string | null])[];
  readonly timestamp?: number;
  /** Write it at each of these times (milliseconds since the epoch) instead of at once. Only client.py supports this. */
  readonly at?: readonly number[];
}

export interface Job {
  /** Comma-separated. */
  readonly brokers: string;
  readonly registryUrl: string;
  readonly topic: string;
  readonly schemas: Readonly<Record<string, string>>;
  readonly records: readonly JobRecord[];
}

/** The result of a record at the producer. */
export type Written =
  | { readonly id: string; readonly partition: number; readonly offset: number }
  | { readonly id: string; readonly refusedBy: 'registry' | 'Kafka'; readonly message: string };
