import type { Clock } from '../../process/clock.ts';
import { LinkedList, ListNode } from '../../process/linked-list.ts';

/** A member of a `Deadlines`: keep it to remove it. */
export class Deadline<Item> extends ListNode<Deadline<Item>> {
  readonly item: Item;
  /** By the clock's `now()`. Only the `Deadlines` writes it: it may move, see `WhenLate`. */
  dueAt: number;

  constructor(item: Item, dueAt: number) {
    super();
    this.item = item;
    this.dueAt = dueAt;
  }
}

/** The shortest time between two timers: deadlines in between fire together. */
const TIMER_MS_MIN = 5;
/** The longest time between two timers where lost time is given back: a hold-up is measured to within this. */
const TIMER_MS_MAX = 100;
/** A timer that fires later than this was held up by this process or machine, not by a receiver. */
const HELD_UP_MS = 30;

export interface DeadlinesOptions {
  /** The time that each deadline lies ahead, milliseconds. */
  readonly aheadMs: number;
  readonly whenLate: WhenLate;
}

/**
 * The effect on a deadline of time in which this process was late (stopped, suspended, or its event loop busy).
 * `fire`: nothing, it fires. `read-first`: it fires unless something that had arrived by then removes it: first
 * everything is read. `extend`: the time does not count, and every waiting deadline moves by it; for deadlines until
 * which we have something to do as well.
 */
export type WhenLate = 'fire' | 'read-first' | 'extend';

/**
 * Deadlines that all lie the same time ahead, so they fall due in the order they were added: a linked list with one
 * timer for its head. The one timer is what tells how late this process is, so that the time can be given back to all
 * that wait. (A timer each would cost a delivery 1.7 µs of CPU more, 1.3 %: that alone is no reason.)
 */
export class Deadlines<Item> {
  readonly #clock: Clock;
  readonly #options: DeadlinesOptions;
  readonly #onDue: (item: Item) => void;
  readonly #waiting = new LinkedList<Deadline<Item>>();
  #disarm: (() => void) | null = null;
  #armedFor = 0;
  /** When it saw that deadlines were due, and left it to the next turn to read what had arrived. */
  #lookedAt: number | null = null;

  /** `onDue` must not throw. */
  constructor(clock: Clock, options: DeadlinesOptions, onDue: (item: Item) => void) {
    this.#clock = clock;
    this.#options = options;
    this.#onDue = onDue;
  }

  /** `now`: the clock's time, which the caller has already read. */
  add(item: Item, now: number): Deadline<Item> {
    const deadline = new Deadline(item, now + this.#options.aheadMs);
    this.#waiting.append(deadline);
    if (!this.#disarm) this.#armFor(deadline, now);
    return deadline;
  }

  /** Removes a deadline; ignores one that has fired or was removed. */
  remove(deadline: Deadline<Item>): void {
    this.#waiting.remove(deadline);
    // The timer stays: it checks the head when it fires, which is cheaper than cancelling a timer per removal.
  }

  /** The number of deadlines that have not fired. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Returns the items whose deadline has not fired, the oldest first. */
  items(): Item[] {
    return this.#waiting.nodes().map(({ item }) => item);
  }

  /** Returns the items whose deadline has not fired and lies no later than `at`, the oldest first. */
  dueBy(at: number): Item[] {
    const due: Item[] = [];
    for (let next = this.#waiting.first; next && next.dueAt <= at; next = next.after) due.push(next.item);
    return due;
  }

  /** Forgets every deadline and the timer. */
  clear(): void {
    this.#disarm?.();
    this.#disarm = null;
    this.#waiting.clear();
  }

  #armFor({ dueAt }: Deadline<Item>, now: number): void {
    const latest = this.#options.whenLate === 'extend' ? now + TIMER_MS_MAX : dueAt;
    this.#arm(Math.max(Math.min(dueAt, latest), now + TIMER_MS_MIN));
  }

  #arm(at: number): void {
    this.#armedFor = at;
    this.#disarm = this.#clock.at(at, () => this.#fire());
  }

  #fire(): void {
    this.#disarm = null;
    const now = this.#clock.now();
    const mustRead = this.#options.whenLate === 'extend' ? this.#giveBack(now) : this.#hasUnread(now);
    if (mustRead && this.#lookedAt === null) {
      this.#lookedAt = now;
      this.#arm(now + 1);
      return;
    }
    const until = this.#options.whenLate === 'read-first' ? (this.#lookedAt ?? now) : now;
    this.#lookedAt = null;
    let next = this.#waiting.first;
    for (; next && next.dueAt <= until; next = this.#waiting.first) {
      this.#waiting.remove(next);
      this.#onDue(next.item);
    }
    if (next && !this.#disarm) this.#armFor(next, now);
  }

  /** Moves every waiting deadline by the time that this process is late. Returns whether it is. */
  #giveBack(now: number): boolean {
    const lateMs = now - this.#armedFor;
    if (lateMs <= HELD_UP_MS) return false;
    for (const deadline of this.#waiting.nodes()) deadline.dueAt += lateMs;
    return this.#waiting.size > 0;
  }

  /** Returns whether a deadline is due that something may still remove which has arrived and is not read. */
  #hasUnread(now: number): boolean {
    const { first } = this.#waiting;
    return this.#options.whenLate === 'read-first' && first !== null && first.dueAt <= now;
  }
}
