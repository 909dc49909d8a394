import type { Quarantined, QuarantineReason } from '../../domain/quarantine.ts';
import type { Random } from '../../runtime/random.ts';
import type { Broker, Shelf } from '../broker.ts';
import { errorLine } from './error-line.ts';
import type { RecordSender } from './record-sender.ts';
import type { OnShelf } from './shelf-position.ts';
import { learnWithin, type ShelfOptions, TopicShelf } from './topic-shelf.ts';

const REQUEUE_MS_MAX = 30_000;
/** Written and taken off before the reading goes on: bounds memory. */
const REQUEUE_AT_ONCE = 500;
const REQUEUE_BYTES_AT_ONCE = 8 * 1024 * 1024;

export interface QuarantineOptions extends ShelfOptions {
  readonly sender: RecordSender;
  readonly random: Random;
  readonly eventsTopic: string;
}

/** Events that could not be routed. Every record has a key of its own, so that a null takes off exactly one. */
export class QuarantineShelf {
  readonly list: Shelf<Quarantined>['list'];
  readonly visit: Shelf<Quarantined>['visit'];
  /** Since this process started. */
  readonly putByReason = new Map<QuarantineReason, number>();
  readonly #options: QuarantineOptions;
  readonly #shelf: TopicShelf<'quarantined'>;

  constructor(options: QuarantineOptions) {
    this.#options = options;
    this.#shelf = new TopicShelf('quarantined', options);
    this.list = (page) => this.#shelf.list(page);
    this.visit = (use) => this.#shelf.visit(use);
  }

  /** The topic forgets by age. */
  async forget(): Promise<void> {}

  /** Resolves when it is durable; waits for brokers as long as it takes. */
  async put(record: Quarantined): Promise<void> {
    const { random, records, sender, topic } = this.#options;
    const key = random.uuid();
    const value = records.encode('quarantined', record);
    // One merchant's records keep their order, which times of a millisecond do not tell.
    const partition = sender.partitionOf(topic, record.merchantId ?? '');
    await sender.send({ topic, partition, key: Buffer.from(key), value });
    this.putByReason.set(record.reason, (this.putByReason.get(record.reason) ?? 0) + 1);
  }

  /** See the port. Rejects with "outcome unknown" when brokers do not answer for 30 s: some may be requeued by then. */
  requeue: Broker['quarantine']['requeue'] = async (positions) => {
    const { clock, log, records, topic } = this.#options;
    let requeued = 0;
    let waiting: Promise<void>[] = [];
    let bytes = 0;
    await this.#shelf.take(positions, async (item) => {
      await learnWithin(records, item.value, clock);
      let record: Quarantined;
      try {
        record = records.decode('quarantined', item.value);
      } catch (error) {
        const { partition, offset } = item;
        log.error(
          { topic, partition, offset, detail: errorLine(error) },
          'a shelved record cannot be requeued',
        );
        return;
      }
      const key = await this.#keyOf(record);
      waiting.push(this.#putBack(item, record, key));
      requeued += 1;
      bytes += item.value.length;
      if (waiting.length < REQUEUE_AT_ONCE && bytes < REQUEUE_BYTES_AT_ONCE) return;
      await Promise.all(waiting);
      waiting = [];
      bytes = 0;
    });
    await Promise.all(waiting);
    return requeued;
  };

  /**
   * First the event, then the null: a crash between the two leaves the record on the shelf, and the event comes twice
   * when it is requeued again. That does no harm: ids are deterministic, so its deliveries are the same ones.
   */
  async #putBack({ key, partition }: OnShelf, { bytes }: Quarantined, eventKey: string): Promise<void> {
    const { eventsTopic, sender, topic } = this.#options;
    const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const to = sender.partitionOf(eventsTopic, eventKey);
    await sender.send(
      { topic: eventsTopic, partition: to, key: Buffer.from(eventKey), value },
      REQUEUE_MS_MAX,
    );
    await sender.send({ topic, partition, key, value: null }, REQUEUE_MS_MAX);
  }

  /** The record's own key was not kept: the entity's id, which it should have been, if it can be read. */
  async #keyOf({ bytes, eventId }: Quarantined): Promise<string> {
    const { clock, records } = this.#options;
    const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    await learnWithin(records, value, clock);
    const decoded = records.decodeEvent(value);
    return decoded.ok ? decoded.event.entityId : (eventId ?? '');
  }
}
