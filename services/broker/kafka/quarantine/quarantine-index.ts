import type { Bounds } from '../../../kafka-client/client/admins.ts';
import type { TopicReader, TopicRecord } from '../../../kafka-client/client/topic-reader.ts';
import {
  headOf,
  idsOf,
  isWanted,
  QUARANTINED_FOUND_MAX,
  type QuarantinedFound,
  type QuarantinedHead,
  type QuarantineWanted,
} from '../../quarantine-find.ts';
import { keyText, learnWithin, type RecordStoreOptions } from './topic-record-store.ts';

/** The records that are remembered, and the most that one look reads. */
const RECORDS_MAX = 10_000;
/** When the newest records are larger than this together, fewer are read: they may have megabytes each. */
const READ_BYTES_MAX = 64 * 1024 * 1024;
const FEWER = 10;
const FEWEST = 20;

/** The newest records are too large to be read all. */
class TooMany extends Error {}

interface Options extends Omit<RecordStoreOptions, 'reader' | 'log'> {
  readonly reader: Pick<TopicReader, 'boundsOf' | 'read'>;
  readonly recordsMax?: number;
  readonly readBytesMax?: number;
}

/**
 * The newest records of the quarantine by their event, subject and entity ids, in memory: a topic finds nothing by an id. The first
 * look reads the end of the topic, each later one only what was appended since. So a look costs little however full the
 * quarantine is, and knows what was there when it began.
 */
export class QuarantineIndex {
  readonly #options: Options;
  readonly #recordsMax: number;
  /** Where reading goes on, by partition. */
  readonly #next = new Map<number, number>();
  /** In the order of reading. */
  readonly #records = new Map<string, QuarantinedHead>();
  /** Keys of records by each id. */
  readonly #keysOf = new Map<string, Set<string>>();
  #since: number | null = null;
  #running: Promise<void> = Promise.resolve();
  #following: Promise<void> | null = null;

  constructor(options: Options) {
    this.#options = options;
    this.#recordsMax = options.recordsMax ?? RECORDS_MAX;
  }

  async find(wanted: QuarantineWanted): Promise<QuarantinedFound> {
    await this.#caughtUp();
    const id = 'eventId' in wanted ? wanted.eventId : wanted.about;
    const records = [...(this.#keysOf.get(id) ?? [])].flatMap((key) => this.#records.get(key) ?? []);
    const newest = records
      .filter((head) => isWanted(head, wanted))
      .sort((one, other) => other.at - one.at)
      .slice(0, QUARANTINED_FOUND_MAX);
    return { records: newest, since: this.#since };
  }

  /** A call that comes while one reads waits for the next one: the running one may have passed its record's place. */
  #caughtUp(): Promise<void> {
    this.#following ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#following = null;
        this.#running = this.#read();
        return this.#running;
      });
    return this.#following;
  }

  async #read(): Promise<void> {
    const { reader, topic } = this.#options;
    const bounds = await reader.boundsOf(topic);
    // A topic that was made anew begins at 0 again.
    if ([...bounds].some(([partition, { high }]) => (this.#next.get(partition) ?? 0) > high)) this.#clear();
    for (let most = this.#recordsMax; ; most = Math.max(FEWEST, Math.ceil(most / FEWER))) {
      try {
        await this.#readNewest(bounds, most);
        return;
      } catch (error) {
        if (!(error instanceof TooMany)) throw error;
        this.#clear();
      }
    }
  }

  async #readNewest(bounds: Bounds, most: number): Promise<void> {
    const { reader, topic, readBytesMax = READ_BYTES_MAX } = this.#options;
    const ofEach = Math.ceil(most / Math.max(1, bounds.size));
    const starts = new Map<number, number>();
    const skipped = new Set<number>();
    for (const [partition, { low, high }] of bounds) {
      const from = Math.max(this.#next.get(partition) ?? 0, low);
      const start = Math.max(from, high - ofEach);
      starts.set(partition, start);
      if (start > from) skipped.add(partition);
    }
    let bytes = 0;
    await reader.read(topic, starts, async (record) => {
      bytes += record.value?.length ?? 0;
      if (bytes > readBytesMax && most > FEWEST) throw new TooMany();
      if (skipped.delete(record.partition)) this.#lookedFrom(record.timestamp);
      await this.#take(record);
      this.#next.set(record.partition, record.offset + 1);
    });
    // The last of them need not be records: the marks of transactions have offsets too.
    for (const [partition, { high }] of bounds)
      this.#next.set(partition, Math.max(high, this.#next.get(partition) ?? 0));
  }

  async #take(item: TopicRecord): Promise<void> {
    const { clock, records } = this.#options;
    const key = keyText(item);
    this.#forget(key);
    if (item.value === null) return;
    await learnWithin(records, item.value, clock);
    const read = readable(() => records.decode('quarantined', item.value as Buffer));
    if (!read) return;
    const head = headOf(read);
    const ids = idsOf(head);
    if (ids.length === 0) return;
    this.#records.set(key, head);
    for (const id of ids) {
      const keys = this.#keysOf.get(id);
      if (keys) keys.add(key);
      else this.#keysOf.set(id, new Set([key]));
    }
    for (const [oldest, { at: oldestAt }] of this.#records) {
      if (this.#records.size <= this.#recordsMax) break;
      this.#lookedFrom(oldestAt);
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    const head = this.#records.get(key);
    if (!head) return;
    this.#records.delete(key);
    for (const id of idsOf(head)) {
      const keys = this.#keysOf.get(id);
      keys?.delete(key);
      if (keys?.size === 0) this.#keysOf.delete(id);
    }
  }

  #lookedFrom(time: number): void {
    this.#since = Math.max(this.#since ?? 0, time);
  }

  #clear(): void {
    this.#next.clear();
    this.#records.clear();
    this.#keysOf.clear();
    this.#since = null;
  }
}

/** Returns undefined for a record of another build: it is logged where it is listed. */
function readable<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}
