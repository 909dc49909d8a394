import type { DeliveryTask } from '../../domain/task.ts';
import type { Clock } from '../../runtime/clock.ts';
import { DueHeap, type DueKey } from '../due-heap.ts';
import type { Feed } from '../work.ts';
import type { ReadRecord } from './partition.ts';
import type { KafkaRecords } from './records.ts';
import { AGAIN_MS, type RecordReader, TopicItem } from './stream-feed.ts';

interface Entry extends DueKey {
  readonly record: ReadRecord;
  readonly tier: RecordReader;
}

interface Options {
  readonly records: KafkaRecords;
  readonly clock: Clock;
  /** Undefined = the record was dealt with otherwise. */
  readonly decode: (record: ReadRecord, tier: RecordReader) => DeliveryTask | undefined;
  readonly closing: AbortSignal;
}

/** The delayed tasks of one class over all tiers: handed over when due, never before, soonest first. */
export class DelayedFeed implements Feed<TopicItem<DeliveryTask>> {
  readonly #options: Options;
  /** Of each tier by itself: one whose consumer is out of its group must not hold up the others. */
  readonly #tiers = new Map<RecordReader, DueHeap<Entry>>();
  #count = 0;
  #timer: { readonly at: number; readonly cancel: () => void } | null = null;
  onAvailable: () => void = () => {};

  constructor(options: Options) {
    this.#options = options;
  }

  /** `due`: the later of what the task says and what the tier's delay makes of the time it was appended. */
  add(record: ReadRecord, due: number, tier: RecordReader): void {
    let heap = this.#tiers.get(tier);
    if (!heap) {
      heap = new DueHeap<Entry>();
      this.#tiers.set(tier, heap);
    }
    heap.push({ due, id: this.#count++, record, tier });
    this.#armAt(due);
  }

  take(): TopicItem<DeliveryTask> | undefined {
    const { clock, records, decode, closing } = this.#options;
    const now = clock.now();
    for (let heap = this.#soonest(now); heap; heap = this.#soonest(now)) {
      const { record, tier } = heap.pop() as Entry;
      if (!record.partition.isAlive) continue;
      if (!records.isKnown(record.value)) {
        void records.learn(record.value ?? Buffer.alloc(0), closing).then(() => this.add(record, now, tier));
        continue;
      }
      const task = decode(record, tier);
      if (!task) continue;
      if (task.dueAt > now) this.add(record, task.dueAt, tier);
      else return new TopicItem(task, record, tier);
    }
    this.#armAfter(now);
    return undefined;
  }

  /** The tier whose first task has been due for longest, of those that may be begun or are not ours any more. */
  #soonest(now: number): DueHeap<Entry> | undefined {
    let soonest: DueHeap<Entry> | undefined;
    for (const [tier, heap] of this.#tiers) {
      const first = heap.top;
      if (!first || first.due > now || (first.record.partition.isAlive && !tier.isTrusted)) continue;
      if (first.due < (soonest?.top?.due ?? Number.POSITIVE_INFINITY)) soonest = heap;
    }
    return soonest;
  }

  /** When the soonest that waits is due. */
  get nextDue(): number | undefined {
    let soonest: number | undefined;
    for (const { top } of this.#tiers.values()) {
      if (top && (soonest === undefined || top.due < soonest)) soonest = top.due;
    }
    return soonest;
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** What is due and could not be begun is looked at again soon. */
  #armAfter(now: number): void {
    for (const { top } of this.#tiers.values()) {
      if (top) this.#armAt(top.due > now ? top.due : now + AGAIN_MS);
    }
  }

  #armAt(at: number): void {
    if (this.#options.closing.aborted || (this.#timer && this.#timer.at <= at)) return;
    this.#timer?.cancel();
    const cancel = this.#options.clock.at(at, () => {
      this.#timer = null;
      this.onAvailable();
    });
    this.#timer = { at, cancel };
  }
}
