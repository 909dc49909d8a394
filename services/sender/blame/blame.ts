import type { Clock } from '../../process/clock.ts';
import { AttemptTime } from './attempt-time.ts';
import { type BlameLimits, LaneBlame, type LaneEvents, type Timed } from './lane-blame.ts';
import { Lateness } from './lateness.ts';
import { LoopTurns } from './loop-turns.ts';

export type { AttemptTime, ReceiverTime } from './attempt-time.ts';
export { type Deadline, Deadlines } from './deadlines.ts';
export type { BlameLimits, LaneBlame } from './lane-blame.ts';
export type { Silence } from './silence.ts';

/**
 * Answers one question of the sender: how long did the receiver take, and may it be blamed? One thread does TLS, HTTP and
 * the rest of the process, so time that seems to be a receiver's is often ours. Everything that tells the two apart is in
 * this folder, and nothing outside the folder imports more of it than this file.
 *
 *     an exchange asks    AttemptTime   how long did the receiver certainly take? has the attempt turned slow?
 *     the lanes ask       Silence       an endpoint says nothing: is that its own doing?
 *                         FastSlots     has this thread time for another attempt?
 *                         Handshakes    has this thread time to open another connection?
 *     a time-out asks     Deadlines     was this process there to see it: does the time count?
 *
 * They rest on two measurements: `LoopTurns` knows up to when everything that had arrived was read, `Lateness` how late
 * this process is.
 */
export class Blame {
  readonly #clock: Clock;
  readonly #turns: LoopTurns;
  readonly #lateness: Pick<Lateness, 'isLate' | 'lateMs' | 'watch' | 'stop'>;
  readonly #afterTurn: (callback: () => void) => void;

  /** `afterTurn`: calls back once everything that has arrived is handled. `lateness`: of this process. */
  constructor(
    clock: Clock,
    afterTurn: (callback: () => void) => void = (callback) => void setImmediate(callback),
    lateness: Pick<Lateness, 'isLate' | 'lateMs' | 'watch' | 'stop'> = new Lateness(clock),
  ) {
    this.#clock = clock;
    this.#afterTurn = afterTurn;
    this.#turns = new LoopTurns(clock, afterTurn);
    this.#lateness = lateness;
  }

  /** Call when work begins: this process watches how late it is for as long as `hasWork` says so. */
  watch(hasWork: () => boolean): void {
    this.#lateness.watch(hasWork);
  }

  stop(): void {
    this.#lateness.stop();
  }

  /** Returns the time of a new attempt. */
  timeOf<Attempt>(attempt: Attempt): AttemptTime<Attempt> {
    return new AttemptTime(attempt, this.#turns);
  }

  /** Returns the answers for one set of lanes. */
  ofLanes<Attempt extends Timed<Attempt>>(limits: BlameLimits, on: LaneEvents<Attempt>): LaneBlame<Attempt> {
    const process = { clock: this.#clock, lateness: this.#lateness, afterTurn: this.#afterTurn };
    return new LaneBlame(process, limits, on);
  }
}
