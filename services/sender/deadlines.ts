import type { Clock } from '../runtime/clock.ts';
import { Link, LinkedList } from '../runtime/linked-list.ts';

/** A member of a `Deadlines`: keep it to remove it. */
export class Deadline<Item> extends Link<Deadline<Item>> {
  readonly item: Item;
  readonly dueAt: number;

  constructor(item: Item, dueAt: number) {
    super();
    this.item = item;
    this.dueAt = dueAt;
  }
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
  readonly #waiting = new LinkedList<Deadline<Item>>();
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
    const deadline = new Deadline(item, now + this.#aheadMs);
    this.#waiting.append(deadline);
    if (!this.#disarm) this.#arm(deadline.dueAt);
    return deadline;
  }

  /** Removes a deadline; one that went off or was removed already is left alone. */
  remove(deadline: Deadline<Item>): void {
    this.#waiting.remove(deadline);
    // The timer stays: it looks at the head when it fires, which is cheaper than one cancel per removal.
  }

  /** How many have not gone off. */
  get size(): number {
    return this.#waiting.size;
  }

  /** What has a deadline that has not gone off, the oldest first. */
  items(): Item[] {
    return this.#waiting.nodes().map(({ item }) => item);
  }

  /** Forgets every deadline and the timer. */
  clear(): void {
    this.#disarm?.();
    this.#disarm = null;
    this.#waiting.clear();
  }

  #arm(at: number): void {
    this.#disarm = this.#clock.at(at, () => this.#fire());
  }

  #fire(): void {
    this.#disarm = null;
    const now = this.#clock.now();
    const { first } = this.#waiting;
    if (first && now - first.dueAt > HELD_UP_MS && !this.#hasWaited) {
      // What came while this process was held up is read first: it may remove what looks overdue.
      this.#hasWaited = true;
      this.#arm(now + 1);
      return;
    }
    this.#hasWaited = false;
    let next = first;
    for (; next && next.dueAt <= now; next = this.#waiting.first) {
      this.#waiting.remove(next);
      this.#onDue(next.item);
    }
    if (next && !this.#disarm) this.#arm(Math.max(next.dueAt, now + TIMER_MS_MIN));
  }
}
