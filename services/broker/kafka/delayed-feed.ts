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
  readonly #heap = new DueHeap<Entry>();
  #count = 0;
  #timer: { readonly at: number; readonly cancel: () => void } | null = null;
  onAvailable: () => void = () => {};

  constructor(options: Options) {
    this.#options = options;
  }

  /** `due`: the later of what the task says and what the tier's delay makes of the time it was appended. */
  add(record: ReadRecord, due: number, tier: RecordReader): void {
    this.#heap.push({ due, id: this.#count++, record, tier });
    this.#arm();
  }

  take(): TopicItem<DeliveryTask> | undefined {
    const { clock, records, decode, closing } = this.#options;
    const now = clock.now();
    for (let next = this.#heap.top; next && next.due <= now; next = this.#heap.top) {
      const { record, tier } = next;
      if (record.partition.isAlive && !tier.isTrusted) {
        this.#armAt(now + AGAIN_MS);
        return undefined;
      }
      this.#heap.pop();
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
    this.#arm();
    return undefined;
  }

  /** When the soonest that waits is due. */
  get nextDue(): number | undefined {
    return this.#heap.top?.due;
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #arm(): void {
    const due = this.#heap.top?.due;
    if (due !== undefined) this.#armAt(due);
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
