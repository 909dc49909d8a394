import type { DeliveryTask, Parking } from '../../../domain/task.ts';
import type { BrokerTime } from '../../../kafka-client/client/broker-time.ts';
import type { Partition, ReadRecord } from '../../../kafka-client/consumer/partition.ts';
import type { Clock } from '../../../process/clock.ts';
import { DueHeap, type DueKey } from '../../due-heap.ts';
import { ParkedTally } from '../../parked-tally.ts';
import type { Feed } from '../../work.ts';
import type { KafkaRecords } from '../registry/records.ts';
import { type DueWindow, dueTime } from '../time/due-time.ts';
import { AGAIN_MS, type RecordReader, TopicItem } from './stream-feed.ts';

/** `due` is in the brokers' time. */
interface Entry extends DueKey {
  readonly record: ReadRecord;
  readonly tier: RecordReader;
  readonly window: DueWindow;
  readonly parked: Parking | undefined;
}

interface Options {
  readonly records: KafkaRecords;
  readonly clock: Clock;
  readonly time: Pick<BrokerTime, 'isKnown' | 'now' | 'toClock'>;
  /** Returns undefined for a record that was handled otherwise. */
  readonly decode: (record: ReadRecord, tier: RecordReader) => DeliveryTask | undefined;
  readonly closing: AbortSignal;
}

/**
 * The delayed tasks of one class over all tiers: handed over when they are due by the brokers' time, never before,
 * soonest first. Their `dueAt` is then in this process's time.
 */
export class DelayedFeed implements Feed<TopicItem<DeliveryTask>> {
  readonly #options: Options;
  /** A heap per tier: a tier whose consumer is out of its group must not hold up the others. */
  readonly #tiers = new Map<RecordReader, DueHeap<Entry>>();
  /** The tally of each partition: when one is lost, its tasks wait in another process. */
  readonly #parked = new Map<Partition, ParkedTally>();
  #count = 0;
  #timer: { readonly at: number; readonly cancel: () => void } | null = null;
  onAvailable: () => void = () => {};

  constructor(options: Options) {
    this.#options = options;
  }

  /** `due`: by the brokers' time, as far as is known before the record is decoded. `parked`: absent for a retry. */
  add(record: ReadRecord, due: number, window: DueWindow, tier: RecordReader, parked?: Parking): void {
    let heap = this.#tiers.get(tier);
    if (!heap) {
      heap = new DueHeap<Entry>();
      this.#tiers.set(tier, heap);
    }
    heap.push({ due, id: this.#count++, record, tier, window, parked });
    if (parked) this.#tallyOf(record.partition).add(parked);
    this.#armAt(this.#options.time.toClock(due));
  }

  take(): TopicItem<DeliveryTask> | undefined {
    const { clock, records, decode, closing, time } = this.#options;
    const now = time.now();
    for (let heap = this.#soonest(now); heap; heap = this.#soonest(now)) {
      const { record, tier, window, parked } = heap.pop() as Entry;
      this.#parked.get(record.partition)?.remove(parked);
      if (!record.partition.isAlive) continue;
      if (!records.isKnown(record.value, record.readAt)) {
        const learnt = records.learn(record.value, closing, record.readAt);
        void learnt.then(() => this.add(record, now, window, tier, parked));
        continue;
      }
      const task = decode(record, tier);
      if (!task) continue;
      const due = dueTime(task, window);
      if (due > now) {
        this.add(record, due, window, tier, parked);
        continue;
      }
      // No later than the clock shows: the conversion rounds.
      const dueAt = Math.min(time.toClock(Math.min(task.dueAt, due)), clock.now());
      return new TopicItem({ ...task, dueAt }, record, tier);
    }
    this.#armAfter(now);
    return undefined;
  }

  /**
   * Returns the tier whose first task has been due for longest, among tasks that may be started or are no longer ours.
   */
  #soonest(now: number): DueHeap<Entry> | undefined {
    let soonest: DueHeap<Entry> | undefined;
    for (const [tier, heap] of this.#tiers) {
      const first = heap.top;
      if (!first || first.due > now || (first.record.partition.isAlive && !tier.isTrusted)) continue;
      if (first.due < (soonest?.top?.due ?? Number.POSITIVE_INFINITY)) soonest = heap;
    }
    return soonest;
  }

  /** When the soonest waiting task is due, by the brokers' time. */
  get nextDue(): number | undefined {
    let soonest: number | undefined;
    for (const { top } of this.#tiers.values()) {
      if (top && (soonest === undefined || top.due < soonest)) soonest = top.due;
    }
    return soonest;
  }

  /** The tallies of the partitions that are ours. */
  get parked(): Iterable<ParkedTally> {
    for (const partition of this.#parked.keys()) if (!partition.isAlive) this.#parked.delete(partition);
    return this.#parked.values();
  }

  #tallyOf(partition: Partition): ParkedTally {
    const tally = this.#parked.get(partition) ?? new ParkedTally();
    this.#parked.set(partition, tally);
    return tally;
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** Sets the timer. Due tasks that could not be started are checked again soon. */
  #armAfter(now: number): void {
    const { clock, time } = this.#options;
    for (const { top } of this.#tiers.values()) {
      if (top) this.#armAt(top.due > now ? time.toClock(top.due) : clock.now() + AGAIN_MS);
    }
  }

  #armAt(at: number): void {
    // Until the brokers' time is known nothing is due: `onAvailable` is called then.
    if (!this.#options.time.isKnown || this.#options.closing.aborted || (this.#timer && this.#timer.at <= at))
      return;
    this.#timer?.cancel();
    const cancel = this.#options.clock.at(at, () => {
      this.#timer = null;
      this.onAvailable();
    });
    this.#timer = { at, cancel };
  }
}
