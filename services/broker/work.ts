import { ListNode } from '../process/linked-list.ts';
import type { Ownership } from './broker.ts';

/** Shared by engines: work that is handed over to a station and settled by it. */

/** Work that was handed over and is not settled. Engines add the record and how it is acknowledged. */
export abstract class Item extends ListNode<Item> {
  /** The number of times the handler threw, and since when; 0 = never. */
  failures = 0;
  since = 0;
  /** Cancels the pause before it is offered again. */
  cancel: (() => void) | null = null;
  /** The consumer that settled it, notified when that is durable. */
  settledBy: { durable(item: Item): void } | null = null;

  /** Whether it may still be started; see the port. */
  get ownership(): Ownership {
    return 'owned';
  }

  /** Its settlement is durable: releases the engine's resources for it. */
  abstract completed(): void;

  /** Called by the engine once its settlement is durable. */
  durable(): void {
    this.settledBy?.durable(this);
  }
}

/** A supply of work for a source. */
export interface Feed<It extends Item> {
  take(): It | undefined;
  /** Called when `take` may have something again. */
  onAvailable: () => void;
}
