import type { TaskClass } from '../../domain/task.ts';
import type { Clock } from '../../process/clock.ts';

/** A timer that fires this late costs no time: the next starts are due by when this one was. */
const LATE_MS = 10;
/** With that, no second has more starts than the limit. */
const SECOND_MS = 1000 + LATE_MS;
/** Tests and resends go first, live ones before replays; of this many turns one is the last class's. */
const LAST_TURN = 4;
const ORDER = ['test', 'live', 'replay'] as const satisfies readonly TaskClass[];
/** Paces of endpoints without a limit are forgotten once there are this many beside those that have one. */
const IDLE_MAX = 1000;

/** Takes the turn of one class: starts an attempt, or nothing where none waits any more. */
type Turn = () => void;

/**
 * Spaces the attempts to one endpoint out: the generic cell rate algorithm with a burst of one. A start is due one interval
 * after the one before was due, or started where that was later than LATE_MS. Waiting costs no attempt, and holds no slot.
 */
export class EndpointPace {
  readonly #clock: Clock;
  /** Requests per second. A change holds from the next start on. */
  rate: number;
  #nextAt = Number.NEGATIVE_INFINITY;
  /** The start that may be given back, and when the next was due before it. */
  #last: { readonly task: object; readonly nextAt: number } | null = null;
  readonly #waiting = new Map<TaskClass, Turn>();
  #turns = 0;
  #isTurn = false;
  #timer: { readonly at: number; readonly cancel: () => void } | null = null;

  constructor(clock: Clock, rate: number) {
    this.#clock = clock;
    this.rate = rate;
  }

  /** Returns whether an attempt may start now; otherwise the class gets its turn later. */
  mayStart(taskClass: TaskClass, turn: Turn, now: number): boolean {
    if (now >= this.#nextAt && (this.#isTurn || this.#waiting.size === 0)) return true;
    if (!this.#waiting.has(taskClass)) this.#waiting.set(taskClass, turn);
    this.#arm();
    return false;
  }

  started(task: object, now: number): void {
    const nextAt = this.#nextAt;
    this.#isTurn = false;
    this.#last = { task, nextAt };
    this.#nextAt = Math.max(nextAt, now - LATE_MS) + SECOND_MS / this.rate;
  }

  /** No request came of a start: it does not count, if none followed. */
  giveBack(task: object): void {
    if (this.#last?.task !== task) return;
    this.#nextAt = this.#last.nextAt;
    this.#last = null;
    this.#arm();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#waiting.clear();
  }

  #arm(): void {
    if (this.#waiting.size === 0 || (this.#timer && this.#timer.at <= this.#nextAt)) return;
    this.#timer?.cancel();
    const at = Math.max(this.#nextAt, this.#clock.now());
    this.#timer = { at, cancel: this.#clock.at(at, () => this.#fire()) };
  }

  #fire(): void {
    this.#timer = null;
    // Each class that waits now gets one turn at the most: it waits again if it has more.
    for (let left = this.#waiting.size; left > 0 && this.#clock.now() >= this.#nextAt; left -= 1) {
      const taskClass = this.#nextClass();
      const turn = this.#waiting.get(taskClass);
      this.#waiting.delete(taskClass);
      this.#isTurn = true;
      turn?.();
      this.#isTurn = false;
    }
    this.#arm();
  }

  #nextClass(): TaskClass {
    this.#turns = (this.#turns + 1) % LAST_TURN;
    const waiting = ORDER.filter((each) => this.#waiting.has(each));
    return (this.#turns === 0 ? waiting.at(-1) : waiting[0]) ?? 'live';
  }
}

/** The paces of the endpoints that have a limit of their own, for the lanes of all classes of one sender. */
export class Paces {
  readonly #clock: Clock;
  readonly #rates: ReadonlyMap<string, number>;
  readonly #paces = new Map<string, EndpointPace>();

  /** `rates`: the requests per second by endpoint, as they are now; others have no limit. */
  constructor(clock: Clock, rates: ReadonlyMap<string, number>) {
    this.#clock = clock;
    this.#rates = rates;
  }

  /** Returns the pace of an endpoint; null: it has no limit. While none has one, this costs nothing. */
  of(endpointId: string): EndpointPace | null {
    if (this.#rates.size === 0) return null;
    const rate = this.#rates.get(endpointId);
    return rate === undefined ? null : this.#paceOf(endpointId, rate);
  }

  #paceOf(endpointId: string, rate: number): EndpointPace {
    const known = this.#paces.get(endpointId);
    if (known) {
      known.rate = rate;
      return known;
    }
    if (this.#paces.size >= this.#rates.size + IDLE_MAX)
      for (const id of this.#paces.keys()) if (!this.#rates.has(id)) this.#paces.delete(id);
    const pace = new EndpointPace(this.#clock, rate);
    this.#paces.set(endpointId, pace);
    return pace;
  }

  stop(): void {
    for (const pace of this.#paces.values()) pace.stop();
  }
}
