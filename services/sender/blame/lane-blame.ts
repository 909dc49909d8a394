import type { Clock } from '../../process/clock.ts';
import type { AttemptTime } from './attempt-time.ts';
import { Demotions } from './demotions.ts';
import { FastSlots } from './fast-slots.ts';
import { type HandshakeLimits, Handshakes } from './handshakes.ts';
import { type OwnLateness, Silence } from './silence.ts';
import { UsualAnswer } from './usual-answer.ts';

export interface BlameLimits extends HandshakeLimits {
  /** An attempt that has no response after this is slow. */
  readonly demoteAfterMs: number;
  /** The most attempts in flight that are not slow (yet): the intended rate × the time until demotion. */
  readonly fastSlots: number;
  /** The initial number of them, kept while this thread has no time for more. */
  readonly fastSlotsLeast: number;
}

/** An attempt whose time is measured. */
export interface Timed<Attempt> {
  readonly time: AttemptTime<Attempt>;
}

export interface LaneEvents<Attempt> {
  /** An attempt has had no response in time, and all that had arrived by then was read. */
  demote(attempt: Attempt): void;
  /** Returns whether an attempt has a fast slot. */
  isFast(attempt: Attempt): boolean;
  /** Another attempt may start. */
  more(): void;
}

/** One process: its clock, how late it is, and a call in its next turn. */
export interface Process {
  readonly clock: Clock;
  readonly lateness: OwnLateness;
  /** Calls back once everything that has arrived is handled. */
  readonly afterTurn: (callback: () => void) => void;
}

/** The answers that one set of lanes needs: about its attempts, its endpoints, and this thread. */
export class LaneBlame<Attempt extends Timed<Attempt>> {
  /** The attempts that this thread has time for. */
  readonly slots: FastSlots;
  /** The connections that this thread has time to open. */
  readonly handshakes: Handshakes;
  readonly #limits: BlameLimits;
  readonly #lateness: OwnLateness;
  readonly #demotions: Demotions<Attempt>;
  readonly #usual = new UsualAnswer();

  constructor({ clock, lateness, afterTurn }: Process, limits: BlameLimits, on: LaneEvents<Attempt>) {
    this.#limits = limits;
    this.#lateness = lateness;
    this.#demotions = new Demotions(clock, limits.demoteAfterMs, (attempt) => on.demote(attempt));
    const slots = { least: limits.fastSlotsLeast, most: limits.fastSlots };
    const waitingSince = (at: number) =>
      this.#demotions
        .waitingSince(at)
        .reduce((count, { attempt }) => (on.isFast(attempt) ? count + 1 : count), 0);
    this.slots = new FastSlots(clock, slots, waitingSince, () => on.more());
    this.handshakes = new Handshakes(clock, limits, afterTurn, () => on.more());
  }

  /** An attempt has got its slot. */
  started({ time }: Attempt, now: number): void {
    time.started(this.#demotions, now);
  }

  /**
   * An attempt has ended: returns how long its receiver took, milliseconds. `receiverMs`: as its exchange measured it;
   * all the time since its start by default. A demoted one took at least until it was demoted.
   */
  ended({ time }: Attempt, now: number, receiverMs = now - time.startedAt): number {
    time.ended();
    return time.isDemoted ? Math.max(receiverMs, this.#limits.demoteAfterMs) : receiverMs;
  }

  /** Returns the silence of a new endpoint. */
  silence(): Silence {
    return new Silence(this.#lateness, this.#usual);
  }
}
