import type { DomainEvent } from '../../../domain/event.ts';
import type { Partition } from '../../../kafka-client/consumer/partition.ts';
import type { IdsBudget } from './ids-budget.ts';
import { RecentIds } from './recent-ids.ts';

export interface SeenEventsOptions {
  readonly windowMs: number;
  readonly budget: IdsBudget;
}

/** `repeat`: the same id with the same content came before; `conflict`: the same id with other content did. */
export type Verdict = 'first' | 'repeat' | 'conflict';

/**
 * Distinguishes the first record of an event id from later ones, by partition. The record with the lowest offset in the
 * window is the first, whoever reads it and whatever happened to it, so that a redelivery of that record is routed
 * again and a second record never is. Records must come in the order of their offsets.
 */
export class RepeatedEvents {
  readonly #options: SeenEventsOptions;
  readonly #windows = new Map<Partition, RecentIds>();

  constructor(options: SeenEventsOptions) {
    this.#options = options;
  }

  /** A partition is ours; reading begins at most as many records before its position as ids can be remembered. */
  assigned(partition: Partition): void {
    const { windowMs, budget } = this.#options;
    const from = Math.max(partition.next ?? 0, partition.prefix - budget.max);
    partition.next = from;
    const window = new RecentIds({ windowMs, budget, from, hasContent: true });
    this.#windows.set(partition, window);
    partition.windowStart = () => window.start;
  }

  /** Forgets partitions that are no longer ours. */
  prune(): void {
    for (const [partition, window] of this.#windows) {
      if (partition.isAlive) continue;
      window.close();
      this.#windows.delete(partition);
    }
  }

  /**
   * Looks up an event and remembers it. Contents are equal when the decoded events are, whatever version of the schema
   * they were written with. `requeuedAs`: name of the quarantined record that an operator put back; such an event is
   * routed once more, unless the same quarantined record was put back twice, or another event has got its id meanwhile.
   */
  check(
    partition: Partition,
    offset: number,
    at: number,
    event: DomainEvent,
    requeuedAs: string | undefined,
  ): Verdict {
    const window = this.#windows.get(partition);
    if (!window) return 'first';
    const content = JSON.stringify(event);
    const known = window.add(event.eventId, offset, at, content);
    if (known === 'other') return 'conflict';
    if (requeuedAs !== undefined) {
      return window.add(`requeued ${requeuedAs}`, offset, at, content) === 'same' ? 'repeat' : 'first';
    }
    return known === 'same' ? 'repeat' : 'first';
  }
}
