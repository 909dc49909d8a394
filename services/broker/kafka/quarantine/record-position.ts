import type { TopicRecord } from '../../../kafka-client/client/topic-reader.ts';

/** The position of a stored record. */
export type RecordPosition = Pick<TopicRecord, 'timestamp' | 'partition' | 'offset'>;

export type StoredTopicRecord = TopicRecord & { readonly value: Buffer };

/** Oldest first; records of one moment by partition and offset, so that every record has one position. */
export function comparePositions(one: RecordPosition, other: RecordPosition): number {
  return one.timestamp - other.timestamp || one.partition - other.partition || one.offset - other.offset;
}

export function positionText({ timestamp, partition, offset }: RecordPosition): string {
  return `${timestamp}-${partition}-${offset}`;
}

const NUMBER = '(0|[1-9]\\d{0,14})';
const POSITION = new RegExp(`^${NUMBER}-${NUMBER}-${NUMBER}$`);

/** Returns undefined for a text that `positionText` cannot have made. */
export function readPosition(text: string): RecordPosition | undefined {
  const match = POSITION.exec(text);
  if (!match) return undefined;
  const [timestamp = 0, partition = 0, offset = 0] = match.slice(1).map(Number);
  return { timestamp, partition, offset };
}

/**
 * The oldest of many records, the last of each key. Records of a key come in their order. Keeps more than requested:
 * some may turn out to be removed from the store.
 */
export class OldestRecords {
  readonly #keptMax: number;
  #kept = new Map<string, StoredTopicRecord>();
  /** The oldest one that is not kept. */
  #dropped: StoredTopicRecord | null = null;

  constructor(limit: number) {
    this.#keptMax = limit * 2;
  }

  /** Whether there were more than are kept. */
  get hasDropped(): boolean {
    return this.#dropped !== null;
  }

  /** Returns whether it replaces an earlier record of its key. */
  add(key: string, record: StoredTopicRecord): boolean {
    const hadEarlier = this.#kept.has(key);
    this.#kept.set(key, record);
    // Room for as many again, so that sorting is not needed at every record.
    if (this.#kept.size >= this.#keptMax * 2) this.#drop();
    return hadEarlier;
  }

  /** Returns the kept records that are certainly older than every dropped one. */
  sorted(): StoredTopicRecord[] {
    this.#drop();
    const dropped = this.#dropped;
    return [...this.#kept.values()].filter((one) => !dropped || comparePositions(one, dropped) < 0);
  }

  #drop(): void {
    const sorted = [...this.#kept].sort(([, one], [, other]) => comparePositions(one, other));
    const dropped = sorted[this.#keptMax]?.[1];
    if (dropped && (!this.#dropped || comparePositions(dropped, this.#dropped) < 0)) this.#dropped = dropped;
    this.#kept = new Map(sorted.slice(0, this.#keptMax));
  }
}
