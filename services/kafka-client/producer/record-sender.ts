export type HeaderValue = string | Buffer | null;
/** Headers by name; several values = the name occurs as often. */
export type Headers = Readonly<Record<string, HeaderValue | readonly HeaderValue[]>>;

/** A record to send to a topic. */
export interface OutgoingRecord {
  readonly topic: string;
  readonly partition: number;
  readonly key: Buffer | null;
  /** null removes the key's earlier record from a record store or a compacted topic. */
  readonly value: Buffer | null;
  readonly headers?: Headers;
  /** If given, the record may be joined with its neighbours in the partition. Only without headers. */
  readonly joins?: Joining;
}

/** Returns the bytes of a record's key and value. */
function contentBytes({ key, value }: Pick<OutgoingRecord, 'key' | 'value'>): number {
  return (key?.length ?? 0) + (value?.length ?? 0);
}

export interface Joining {
  /** The most that are joined. */
  readonly max: number;
  /** Appends a value to the parts of another, which are written one after the other. */
  readonly join: (parts: Buffer[], value: Buffer) => void;
}

/** The position of a written record. */
export interface Sent {
  readonly partition: number;
  readonly offset: number;
  /** When the broker appended it (LogAppendTime), or else when it was sent; milliseconds since the epoch. */
  readonly timestamp: number;
}

/** Brokers refuse the record because of its content: it would be refused again. */
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

/** Told once about records that are written together: that all are durable, or that one has failed. */
export interface Told {
  /** All in-sync replicas have all of them. */
  durable(): void;
  /** One of them has failed, as `send` rejects. */
  failed(error: Error): void;
}

export interface RecordSender {
  /**
   * Resolves when all in-sync replicas have the record; sends it repeatedly until then. Rejects with SenderClosed when
   * closed, with RecordRefused when brokers will never accept the record, and after `giveUpMs`: then it may or may not
   * have been written.
   */
  send(record: OutgoingRecord, giveUpMs?: number): Promise<Sent>;
  /** Like `send` for several records, without promises: for the records of every delivery. */
  write(records: readonly OutgoingRecord[], told: Told): void;
  /** Returns the partition of a key: murmur2, as in Java's default partitioner. */
  partitionOf(topic: string, key: string): number;
}

/** Returns the error for a record that is refused before it is sent; `bytes`: headers included. */
export function tooLarge({ topic }: OutgoingRecord, bytes: number): RecordRefused {
  return new RecordRefused(`a record of ${bytes} bytes is too large for ${topic}`, 'too_large');
}

/** Returns the error for a record that the brokers refuse for good. */
export function refused(
  record: OutgoingRecord,
  partition: string,
  detail: string,
  reason: RecordRefused['reason'],
): RecordRefused {
  const what = `a record of ${contentBytes(record)} bytes for ${partition}`;
  return new RecordRefused(`Kafka rejects ${what} permanently (${detail})`, reason);
}

/** Returns the error for a record whose outcome is unknown when its time is over. */
export function outOfTime({ topic, partition }: OutgoingRecord): Error {
  return new Error(
    `Kafka did not acknowledge a record of ${topic}/${partition} in time: it may have been written`,
  );
}
