export type HeaderValue = string | Buffer | null;
/** By name; several values = the name occurs as often. */
export type Headers = Readonly<Record<string, HeaderValue | readonly HeaderValue[]>>;

/** A record on its way to a topic. */
export interface OutgoingRecord {
  readonly topic: string;
  readonly partition: number;
  readonly key: Buffer | null;
  /** null takes the key's earlier record off a shelf or a compacted topic. */
  readonly value: Buffer | null;
  readonly headers?: Headers;
  /** Given: may become one record with its neighbours in the partition. Only where there are no headers. */
  readonly joins?: Joining;
}

export interface Joining {
  /** So many become one at most. */
  readonly max: number;
  /** Adds a value to the parts of another, which are written one after the other. */
  readonly join: (parts: Buffer[], value: Buffer) => void;
}

/** Where a record came to lie. */
export interface Sent {
  readonly partition: number;
  readonly offset: number;
  /** When the broker appended it (LogAppendTime), or else when it was sent; milliseconds since the epoch. */
  readonly timestamp: number;
}

/** Brokers refuse the record for what it is: sending it again would be refused again. */
export class RecordRefused extends Error {
  override readonly name = 'RecordRefused';
  readonly reason: 'too_large' | 'write_refused';

  constructor(message: string, reason: 'too_large' | 'write_refused') {
    super(message);
    this.reason = reason;
  }
}

/** The record was not acknowledged when the engine closed. */
export class SenderClosed extends Error {
  override readonly name = 'SenderClosed';

  constructor() {
    super('the broker is closed');
  }
}

export interface RecordSender {
  /**
   * Resolves when all in-sync replicas have the record; sends again by itself until then. Rejects with SenderClosed when
   * closed, with RecordRefused when brokers will never take the record, and after `giveUpMs`: it may or may not be there
   * then.
   */
  send(record: OutgoingRecord, giveUpMs?: number): Promise<Sent>;
  /** The partition of a key: murmur2, as in Java's default partitioner. */
  partitionOf(topic: string, key: string): number;
}
