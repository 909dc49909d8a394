import { SEQUENCES_PER_MS } from '../../../domain/catalog/sequence.ts';
import type { Partition, ReadRecord } from '../../../kafka-client/consumer/partition.ts';

/** A record that is further ahead of the brokers' clocks was stamped by a producer with a wrong one. */
const AHEAD_MS_MAX = 60_000;

/**
 * The sequences of the events topic (docs/design/order.md). A record's is its offset plus the lead of its partition: the
 * largest `time × 1000 − offset` of the records up to it. So they rise with the offsets, whatever the records' times are,
 * and the same record has the same one whenever it is read: the lead is stored with the position.
 */
export class Sequences {
  readonly #brokersNow: () => number;
  readonly #leads = new Map<Partition, Leads>();

  /** `brokersNow` returns the time of the brokers' clocks, milliseconds. */
  constructor(brokersNow: () => number) {
    this.#brokersNow = brokersNow;
  }

  /** A partition is ours, and will be read from its position, or from before it, on. */
  assigned(partition: Partition): void {
    const leads = new Leads(partition.mark);
    this.#leads.set(partition, leads);
    partition.markAt = (offset) => leads.at(offset);
  }

  /** Forgets partitions that are no longer ours. */
  prune(): void {
    for (const partition of this.#leads.keys()) if (!partition.isAlive) this.#leads.delete(partition);
  }

  /** Returns the sequence of a record. Records of a partition must come in the order of their offsets. */
  of({ partition, offset, timestamp }: Pick<ReadRecord, 'partition' | 'offset' | 'timestamp'>): number {
    const leads = this.#leads.get(partition);
    const now = this.#brokersNow();
    if (!leads) return leadOf(Math.min(timestamp, now), offset) + offset;
    if (timestamp <= now + AHEAD_MS_MAX) leads.rise(offset, leadOf(timestamp, offset));
    else if (leads.last === undefined) leads.rise(offset, leadOf(now, offset));
    return (leads.last ?? 0) + offset;
  }
}

function leadOf(timestamp: number, offset: number): number {
  return Math.floor(Math.max(0, timestamp) * SEQUENCES_PER_MS) - offset;
}

/** The leads of a partition: the last one, and those before it that a committed position may still need. */
class Leads {
  /** `from`: the first offset with this lead. */
  #kept: { readonly from: number; readonly lead: number }[] = [];
  #head = 0;
  last: number | undefined;

  /** `mark`: the lead at the position where work is to be done. */
  constructor(mark: number | undefined) {
    this.last = mark;
    if (mark !== undefined) this.#kept.push({ from: 0, lead: mark });
  }

  rise(from: number, lead: number): void {
    if (this.last !== undefined && lead <= this.last) return;
    this.last = lead;
    this.#kept.push({ from, lead });
  }

  /** Returns the lead at an offset, and forgets those before it. */
  at(offset: number): number | undefined {
    while ((this.#kept[this.#head + 1]?.from ?? Number.POSITIVE_INFINITY) <= offset) this.#head += 1;
    if (this.#head > this.#kept.length / 2) {
      this.#kept = this.#kept.slice(this.#head);
      this.#head = 0;
    }
    return this.#kept[this.#head]?.lead;
  }
}
