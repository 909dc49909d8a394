import { Link } from '../process/linked-list.ts';
import type { Standing } from './broker.ts';

/** What engines share: pieces of work that are handed over to a station and settled by it. */

/** Something that was handed over and is not settled. Engines add the record and how it is acknowledged. */
export abstract class Item extends Link<Item> {
  /** How often the handler threw, and since when; 0 = never. */
  failures = 0;
  since = 0;
  /** Cancels the pause before it is offered again. */
  cancel: (() => void) | null = null;
  /** Who settled it, and wants to know when that is durable. */
  settledBy: { durable(item: Item): void } | null = null;

  /** Whether it may still be begun; see the port. */
  get standing(): Standing {
    return 'ours';
  }

  /** What settled it is durable: lets go of what the engine holds for it. */
  abstract completed(): void;

  /** To be called by the engine once what settled it is durable. */
  durable(): void {
    this.settledBy?.durable(this);
  }
}

/** Where a source takes its work from. */
export interface Feed<It extends Item> {
  take(): It | undefined;
  /** Called when `take` may have something again. */
  onAvailable: () => void;
}
