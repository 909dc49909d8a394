import type { Deadline } from './deadlines.ts';
import type { Demotable, Demotions } from './demotions.ts';
import type { LoopTurns } from './loop-turns.ts';

/** The receiver's time in one attempt. The exchange tells it each step. */
export interface ReceiverTime {
  /** How long the receiver certainly took so far, without the time in which this process was late, milliseconds. */
  readonly receiverMs: number;
  /** It has to wait for a connection of ours. */
  held(): void;
  /** It has got a connection, which may have to be opened first: it waits for its receiver from now on. */
  carried(): void;
  /** The receiver has answered a step of a new connection, and the next one is sent. */
  stepped(): void;
  /** The receiver has answered, or its answer is missing: what follows is our time. */
  answered(): void;
  /** `turnSlow` is called when the attempt is demoted. */
  whenSlow(turnSlow: () => void): void;
}

/**
 * Whose time passes in one attempt: ours, or its receiver's. Only the receiver's is measured, and only by it an attempt
 * is demoted.
 *
 *     ours ─ carried ──► the receiver's ─ answered ──► ours
 *       │ ▲                   │  ▲
 *  held │ │ goesOn            └──┘ stepped: measured up to here, and the 200 ms until it is demoted begin again
 *       ▼ │
 *     held: neither runs
 */
export class AttemptTime<Attempt> implements ReceiverTime, Demotable<Attempt> {
  readonly attempt: Attempt;
  /** When it got its slot. */
  startedAt = 0;
  deadline: Deadline<Demotable<Attempt>> | null = null;
  receiverMs = 0;
  /** It has had no response in time since our last step. */
  isDemoted = false;
  isHeld = false;
  readonly #turns: LoopTurns;
  /** Absent while it has no slot, or needs none. */
  #demotions: Demotions<Attempt> | null = null;
  /** Since when it waits for the receiver; infinite = it does not. */
  #since = Number.POSITIVE_INFINITY;
  #turnSlow: () => void = () => {};

  constructor(attempt: Attempt, turns: LoopTurns) {
    this.attempt = attempt;
    this.#turns = turns;
  }

  /** It has got a slot: from now on it can be demoted. */
  started(demotions: Demotions<Attempt>, now: number): void {
    this.startedAt = now;
    this.#demotions = demotions;
    demotions.started(this, now);
  }

  held(): void {
    this.isHeld = true;
    this.#demotions?.held(this);
  }

  /** The reason for which it was held has passed. */
  goesOn(): void {
    this.isHeld = false;
    this.#demotions?.goesOn(this);
  }

  carried(): void {
    this.#since = this.#turns.now();
    if (this.isHeld) this.goesOn();
  }

  stepped(): void {
    this.answered();
    this.#since = this.#turns.now();
    this.#demotions?.goesOn(this);
  }

  answered(): void {
    this.receiverMs += Math.max(0, this.#turns.caughtUpAt() - this.#since);
    this.#since = Number.POSITIVE_INFINITY;
  }

  whenSlow(turnSlow: () => void): void {
    this.#turnSlow = turnSlow;
  }

  turnSlow(): void {
    this.isDemoted = true;
    this.#turnSlow();
  }

  /** It has ended: it can no longer be demoted. */
  ended(): void {
    this.#demotions?.ended(this);
  }
}
