import type { Clock } from '../runtime/clock.ts';

/** A member of a `Deadlines`: keep it to remove it. */
export interface Deadline<Item> {
  readonly item: Item;
  readonly dueAt: number;
  before: Deadline<Item> | null;
  after: Deadline<Item> | null;
  waiting: boolean;
}

/** Timers are armed no closer than this: what is due in between goes off together. */
const TIMER_MS_MIN = 5;
/** A timer that fires later than this was held up by this process or machine, not by a receiver. */
const HELD_UP_MS = 30;

/**
 * Deadlines that all lie the same time ahead, so the order of adding is the order of falling due: a linked list and
 * one timer for its head. An AbortSignal.timeout or a timer per request would cost more than the request's bookkeeping.
 */
export class Deadlines<Item> {
  readonly #clock: Clock;
  readonly #aheadMs: number;
  readonly #onDue: (item: Item) => void;
  #first: Deadline<Item> | null = null;
  #last: Deadline<Item> | null = null;
  #disarm: (() => void) | null = null;
  #hasWaited = false;

  /** `aheadMs`: how far ahead each deadline lies, milliseconds. `onDue` must not throw. */
  constructor(clock: Clock, aheadMs: number, onDue: (item: Item) => void) {
    this.#clock = clock;
    this.#aheadMs = aheadMs;
    this.#onDue = onDue;
  }

  /** `now`: the clock's time, which the caller has read already. */
  add(item: Item, now: number): Deadline<Item> {
    const deadline: Deadline<Item> = {
      item,
      dueAt: now + this.#aheadMs,
      before: this.#last,
      after: null,
      waiting: true,
    };
    if (this.#last) this.#last.after = deadline;
    else this.#first = deadline;
    this.#last = deadline;
    if (!this.#disarm) this.#arm(deadline.dueAt);
    return deadline;
  }

  /** Removes a deadline; one that went off or was removed already is left alone. */
  remove(deadline: Deadline<Item>): void {
    if (!deadline.waiting) return;
    deadline.waiting = false;
    const { before, after } = deadline;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
    deadline.before = null;
    deadline.after = null;
    // The timer stays: it looks at the head when it fires, which is cheaper than one cancel per removal.
  }

  /** What has a deadline that has not gone off, the oldest first. */
  items(): Item[] {
    const items: Item[] = [];
    for (let next = this.#first; next; next = next.after) items.push(next.item);
    return items;
  }

  /** Forgets every deadline and the timer. */
  clear(): void {
    this.#disarm?.();
    this.#disarm = null;
    while (this.#first) this.remove(this.#first);
  }

  #arm(at: number): void {
    this.#disarm = this.#clock.at(at, () => this.#fire());
  }

  #fire(): void {
    this.#disarm = null;
    const now = this.#clock.now();
    if (this.#first && now - this.#first.dueAt > HELD_UP_MS && !this.#hasWaited) {
      // What came while this process was held up is read first: it may remove what looks overdue.
      this.#hasWaited = true;
      this.#arm(now + 1);
      return;
    }
    this.#hasWaited = false;
    while (this.#first && this.#first.dueAt <= now) {
      const { item } = this.#first;
      this.remove(this.#first);
      this.#onDue(item);
    }
    if (this.#first && !this.#disarm) this.#arm(Math.max(this.#first.dueAt, now + TIMER_MS_MIN));
  }
}
