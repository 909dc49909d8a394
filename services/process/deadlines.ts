import type { Clock } from './clock.ts';
import { Link, LinkedList } from './linked-list.ts';

/** A member of a `Deadlines`: keep it to remove it. */
export class Deadline<Item> extends Link<Deadline<Item>> {
  readonly item: Item;
  /** By the clock's `now()`. Only the `Deadlines` writes it: it may move, see `extendsWhenHeldUp`. */
  dueAt: number;

  constructor(item: Item, dueAt: number) {
    super();
    this.item = item;
    this.dueAt = dueAt;
  }
}

/** Timers are armed no closer than this: what is due in between goes off together. */
const TIMER_MS_MIN = 5;
/** Nor further ahead, where lost time is given back: it is noticed to within this. */
const TIMER_MS_MAX = 100;
/** A timer that fires later than this was held up by this process or machine, not by a receiver. */
const HELD_UP_MS = 30;

export interface DeadlinesOptions {
  /** How far ahead each deadline lies, milliseconds. */
  readonly aheadMs: number;
  /**
   * Time in which this process stood still (stopped, suspended, or its event loop starved) does not count: every waiting
   * deadline moves by it. For deadlines that judge a receiver, who had no chance to be heard meanwhile.
   */
  readonly extendsWhenHeldUp: boolean;
}

/**
 * Deadlines that all lie the same time ahead, so the order of adding is the order of falling due: a linked list and
 * one timer for its head. An AbortSignal.timeout or a timer per request would cost more than the request's bookkeeping.
 */
export class Deadlines<Item> {
  readonly #clock: Clock;
  readonly #options: DeadlinesOptions;
  readonly #onDue: (item: Item) => void;
  readonly #waiting = new LinkedList<Deadline<Item>>();
  #disarm: (() => void) | null = null;
  #armedFor = 0;
  #hasWaited = false;

  /** `onDue` must not throw. */
  constructor(clock: Clock, options: DeadlinesOptions, onDue: (item: Item) => void) {
    this.#clock = clock;
    this.#options = options;
    this.#onDue = onDue;
  }

  /** `now`: the clock's time, which the caller has read already. */
  add(item: Item, now: number): Deadline<Item> {
    const deadline = new Deadline(item, now + this.#options.aheadMs);
    this.#waiting.append(deadline);
    if (!this.#disarm) this.#armFor(deadline, now);
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

  #armFor({ dueAt }: Deadline<Item>, now: number): void {
    const latest = this.#options.extendsWhenHeldUp ? now + TIMER_MS_MAX : dueAt;
    this.#arm(Math.max(Math.min(dueAt, latest), now + TIMER_MS_MIN));
  }

  #arm(at: number): void {
    this.#armedFor = at;
    this.#disarm = this.#clock.at(at, () => this.#fire());
  }

  #fire(): void {
    this.#disarm = null;
    const now = this.#clock.now();
    const lateMs = now - this.#armedFor;
    const isHeldUp = lateMs > HELD_UP_MS && this.#waiting.size > 0;
    if (isHeldUp && this.#options.extendsWhenHeldUp) {
      for (const deadline of this.#waiting.nodes()) deadline.dueAt += lateMs;
    }
    if (isHeldUp && !this.#hasWaited) {
      // What came while this process was held up is read first: it may remove what is due.
      this.#hasWaited = true;
      this.#arm(now + 1);
      return;
    }
    this.#hasWaited = false;
    let next = this.#waiting.first;
    for (; next && next.dueAt <= now; next = this.#waiting.first) {
      this.#waiting.remove(next);
      this.#onDue(next.item);
    }
    if (next && !this.#disarm) this.#armFor(next, now);
  }
}
