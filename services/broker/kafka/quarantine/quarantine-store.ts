import type { Quarantined, QuarantineReason } from '../../../domain/quarantine.ts';
import {
  type OutgoingRecord,
  RecordRefused,
  type RecordSender,
} from '../../../kafka-client/producer/record-sender.ts';
import { errorLine } from '../../../messages/error-message.ts';
import type { Random } from '../../../process/random.ts';
import type { Broker, RecordStore, Requeued } from '../../broker.ts';
import { clearTextOf } from './clear-text.ts';
import { CannotPutBack, type PutBackDeps, putBackRecord } from './put-back.ts';
import { QuarantineIndex } from './quarantine-index.ts';
import { positionText, readPosition, type StoredTopicRecord } from './record-position.ts';
import { learnWithin, type RecordStoreOptions, TopicRecordStore } from './topic-record-store.ts';

const REQUEUE_MS_MAX = 30_000;
/** Records put back before reading continues: limits the memory. */
const REQUEUE_AT_ONCE = 500;
const REQUEUE_BYTES_AT_ONCE = 8 * 1024 * 1024;
/** A value up to this size is kept whole: with key, headers and reason it fits the topic's `max.message.bytes`. */
const WHOLE_BYTES_MAX = 2560 * 1024;
/** The part that is kept of a larger value. */
const BEGINNING_BYTES = 64 * 1024;

export interface QuarantineOptions extends RecordStoreOptions, Omit<PutBackDeps, 'partitionOf'> {
  readonly sender: RecordSender;
  readonly random: Random;
}

/** Records that could not be used. Each has a key of its own, so that a null removes exactly one. */
export class QuarantineStore {
  readonly list: RecordStore<Quarantined>['list'];
  readonly visit: RecordStore<Quarantined>['visit'];
  readonly find: Broker['quarantine']['find'];
  /** Counts since this process started. */
  readonly putByReason = new Map<QuarantineReason, number>();
  readonly #options: QuarantineOptions;
  readonly #store: TopicRecordStore<'quarantined'>;

  constructor(options: QuarantineOptions) {
    this.#options = options;
    this.#store = new TopicRecordStore('quarantined', options);
    const index = new QuarantineIndex(options);
    this.find = (wanted) => index.find(wanted);
    this.list = (page) => this.#store.list(page);
    this.visit = (use) => this.#store.visit(use);
  }

  /** Does nothing: the topic's retention deletes old records. */
  async forget(): Promise<void> {}

  /** Resolves when it is durable, however long that takes. A value that does not fit is cut, and marked as cut. */
  async put(given: Quarantined): Promise<void> {
    try {
      await this.#send(fitting(given, WHOLE_BYTES_MAX));
    } catch (error) {
      // The topic's limit is lower than specified.
      if (!(error instanceof RecordRefused) || given.bytes.length <= BEGINNING_BYTES) throw error;
      await this.#send(fitting(given, BEGINNING_BYTES));
    }
  }

  async #send(record: Quarantined): Promise<void> {
    const { random, records, sender, topic } = this.#options;
    const key = random.uuid();
    const value = records.encode('quarantined', record);
    // Records of one merchant keep their order, which their millisecond times do not show.
    const partition = sender.partitionOf(topic, record.merchantId ?? '');
    await sender.send({ topic, partition, key: Buffer.from(key), value });
    this.putByReason.set(record.reason, (this.putByReason.get(record.reason) ?? 0) + 1);
  }

  read: Broker['quarantine']['read'] = async (position) => {
    if (!readPosition(position)) throw new RangeError(`"${position}" is not a position in this store`);
    let found: Quarantined | undefined;
    await this.#store.take([position], async (item) => {
      found = await this.#decoded(item);
    });
    return found;
  };

  clearText: Broker['quarantine']['clearText'] = (record) => clearTextOf(record, this.#options);

  /**
   * See the port. Rejects with "outcome unknown" when brokers do not respond for 30 s: some may be requeued by then.
   */
  requeue: Broker['quarantine']['requeue'] = async (
    positions,
    { newIdOf = () => null, stillRefused, isDryRun } = {},
  ) => {
    const refused: Requeued['refused'][number][] = [];
    let requeued = 0;
    let waiting: Promise<void>[] = [];
    let bytes = 0;
    await this.#store.take(positions, async (item) => {
      try {
        const stored = await this.#decoded(item);
        const put = { key: item.key, newId: newIdOf(stored), stillRefused };
        const record = await putBackRecord(stored, put, this.#putBackDeps());
        if (!isDryRun) waiting.push(this.#putBack(item, record));
      } catch (error) {
        if (!(error instanceof CannotPutBack)) throw error;
        refused.push({ position: positionText(item), detail: error.message });
        return;
      }
      requeued += 1;
      bytes += item.value.length;
      if (waiting.length < REQUEUE_AT_ONCE && bytes < REQUEUE_BYTES_AT_ONCE) return;
      await Promise.all(waiting);
      waiting = [];
      bytes = 0;
    });
    await Promise.all(waiting);
    return { requeued, refused };
  };

  /**
   * Writes the record first, then the null: a crash between the two leaves it stored, and it is delivered twice
   * when it is put back again. The router recognises an event by its header, which names the stored record; a
   * task by its mark.
   */
  async #putBack({ key, partition }: StoredTopicRecord, record: OutgoingRecord): Promise<void> {
    const { sender, topic } = this.#options;
    await sender.send(record, REQUEUE_MS_MAX);
    await sender.send({ topic, partition, key, value: null }, REQUEUE_MS_MAX);
  }

  async #decoded({ value }: StoredTopicRecord): Promise<Quarantined> {
    const { clock, records } = this.#options;
    await learnWithin(records, value, clock);
    try {
      return records.decode('quarantined', value);
    } catch (error) {
      throw new CannotPutBack(`the stored record cannot be read: ${errorLine(error)}`);
    }
  }

  #putBackDeps(): PutBackDeps {
    const { sender } = this.#options;
    return { ...this.#options, partitionOf: (topic, key) => sender.partitionOf(topic, key) };
  }
}

function fitting(record: Quarantined, bytesMax: number): Quarantined {
  const { bytes, detail, origin } = record;
  if (bytes.length <= bytesMax) return record;
  const cut = {
    ...record,
    bytes: bytes.subarray(0, BEGINNING_BYTES),
    detail: `${detail} (the record has ${bytes.length} bytes; the first ${BEGINNING_BYTES} are kept)`,
  };
  return origin === undefined ? cut : { ...cut, origin: { ...origin, isWhole: false } };
}
