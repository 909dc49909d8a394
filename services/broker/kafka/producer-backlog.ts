import type { Pending } from './producer.ts';

/** Of one request: records, bytes in all, and bytes of one partition (a broker refuses a larger batch). */
const RECORDS_MAX = 2000;
const BYTES_MAX = 4 * 1024 * 1024;
const PARTITION_BYTES_MAX = 900 * 1024;

interface Lane {
  pending: Pending[];
  /** Since when a request has been under way; null = none is. */
  busySince: number | null;
  /** When the first record of that request was handed in; Infinity = none is. */
  sentAt: number;
}

/** What waits to be sent, in order, one lane per leader: a lane has one request under way at most. */
export class Backlog {
  readonly #lanes = new Map<number, Lane>();
  #leaderOf: (topic: string, partition: number) => number = () => 0;
  #bytes = 0;

  /** Bytes waiting or under way. */
  get bytes(): number {
    return this.#bytes;
  }

  /** When the oldest record was handed in that is not acknowledged; undefined = there is none. */
  get oldestAt(): number | undefined {
    let oldest: number | undefined;
    for (const { pending, sentAt } of this.#lanes.values()) {
      const first = Math.min(pending[0]?.at ?? Number.POSITIVE_INFINITY, sentAt);
      if (Number.isFinite(first) && (oldest === undefined || first < oldest)) oldest = first;
    }
    return oldest;
  }

  /** When the request was sent that has been under way for longest; Infinity = none is. */
  get busySince(): number {
    let since = Number.POSITIVE_INFINITY;
    for (const lane of this.#lanes.values()) since = Math.min(since, lane.busySince ?? since);
    return since;
  }

  add(pending: Pending): void {
    this.#bytes += pending.bytes + 1;
    this.#laneOf(pending).pending.push(pending);
  }

  /** One batch for every lane that has something and nothing under way. `done` must be called for each. */
  takeBatches(now: number): { readonly leader: number; readonly pending: readonly Pending[] }[] {
    const batches: { leader: number; pending: Pending[] }[] = [];
    for (const [leader, lane] of this.#lanes) {
      if (lane.busySince !== null || lane.pending.length === 0) continue;
      lane.busySince = now;
      const batch = lane.pending.splice(0, batchLength(lane.pending));
      lane.sentAt = batch[0]?.at ?? now;
      batches.push({ leader, pending: batch });
    }
    return batches;
  }

  /** A batch is over; `again` comes before everything that waits. What is not in it was acknowledged. */
  done(leader: number, again: readonly Pending[], acknowledged: readonly Pending[] = []): void {
    for (const { bytes } of acknowledged) this.#bytes -= bytes + 1;
    const lane = this.#lanes.get(leader);
    if (!lane) return;
    lane.busySince = null;
    lane.sentAt = Number.POSITIVE_INFINITY;
    if (again.length > 0) lane.pending = [...again, ...lane.pending];
  }

  /** Puts what waits into the lanes of the present leaders. Nothing may be under way. */
  regroup(leaderOf: (topic: string, partition: number) => number): void {
    this.#leaderOf = leaderOf;
    const waiting = [...this.#lanes.values()].flatMap(({ pending }) => pending);
    this.#lanes.clear();
    for (const pending of waiting) this.#laneOf(pending).pending.push(pending);
  }

  /** Takes out what has waited too long. */
  takeOverdue(now: number): Pending[] {
    const overdue: Pending[] = [];
    for (const lane of this.#lanes.values()) {
      if (lane.busySince !== null || !lane.pending.some(({ giveUpAt }) => giveUpAt <= now)) continue;
      overdue.push(...lane.pending.filter(({ giveUpAt }) => giveUpAt <= now));
      lane.pending = lane.pending.filter(({ giveUpAt }) => giveUpAt > now);
    }
    for (const { bytes } of overdue) this.#bytes -= bytes + 1;
    return overdue;
  }

  takeAll(): Pending[] {
    const all = [...this.#lanes.values()].flatMap(({ pending }) => pending);
    this.#lanes.clear();
    this.#bytes = 0;
    return all;
  }

  #laneOf({ record }: Pending): Lane {
    const leader = this.#leaderOf(record.topic, record.partition);
    let lane = this.#lanes.get(leader);
    if (!lane) {
      lane = { pending: [], busySince: null, sentAt: Number.POSITIVE_INFINITY };
      this.#lanes.set(leader, lane);
    }
    return lane;
  }
}

/** How many records from the front fit into one request; one always does. */
function batchLength(pending: readonly Pending[]): number {
  const byPartition = new Map<string, number>();
  let total = 0;
  let length = 0;
  for (const { record, bytes } of pending) {
    const partition = `${record.topic}/${record.partition}`;
    const ofPartition = (byPartition.get(partition) ?? 0) + bytes;
    total += bytes;
    const isFull = length >= RECORDS_MAX || total > BYTES_MAX || ofPartition > PARTITION_BYTES_MAX;
    if (isFull && length > 0) break;
    byPartition.set(partition, ofPartition);
    length += 1;
  }
  return length;
}
