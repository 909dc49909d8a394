import type { Glance } from './activity.ts';

export interface StallBounds {
  /** A stall of this length is reported, milliseconds. */
  readonly reportMs: number;
  /** A stall of this length is to be written down already; infinite = none is. */
  readonly earlyMs: number;
  /** A stall of this length ends the process; infinite = none does. */
  readonly endMs: number;
}

export type Verdict =
  | { readonly kind: 'stalled'; readonly stalledMs: number }
  | { readonly kind: 'resumed'; readonly stalledMs: number }
  /** `early`: others may take the work over soon. `over`: the process is to end. `label`: of the work that has gone on since the look before; null = none has, or it has no label. */
  | { readonly kind: 'early' | 'over'; readonly stalledMs: number; readonly label: string | null };

/**
 * Judges from regular looks whether the main thread stands still while others run. Only intervals count in which the
 * look itself came on time: of a process that is suspended, a machine that sleeps or one that has no time for this
 * process, the looks are late, too.
 */
export class StallWatch {
  readonly #bounds: StallBounds;
  readonly #everyMs: number;
  #before: { readonly at: number; readonly glance: Glance } | null = null;
  #stalledMs = 0;
  #isReported = false;
  #isEarly = false;
  #isOver = false;

  constructor(bounds: StallBounds, everyMs: number) {
    this.#bounds = bounds;
    this.#everyMs = everyMs;
  }

  /**
   * Takes a look at a moment of a monotonic clock, milliseconds. `waitedMs`: how long the main thread has waited for a
   * CPU in all, which does not count. Returns what is to be told, if anything.
   */
  look(at: number, glance: Glance, waitedMs = 0): Verdict | null {
    const before = this.#before;
    this.#before = { at: at - waitedMs, glance };
    if (before === null || this.#isOver) return null;
    if (glance.heartbeat !== before.glance.heartbeat) return this.#runs();
    const passedMs = Math.max(0, at - waitedMs - before.at);
    if (passedMs < 2 * this.#everyMs) this.#stalledMs += passedMs;
    const stalledMs = this.#stalledMs;
    const label = glance.section === before.glance.section ? glance.label : null;
    if (stalledMs >= this.#bounds.endMs) {
      this.#isOver = true;
      return { kind: 'over', stalledMs, label };
    }
    if (stalledMs >= this.#bounds.earlyMs && !this.#isEarly) {
      this.#isEarly = true;
      return { kind: 'early', stalledMs, label };
    }
    if (stalledMs < this.#bounds.reportMs || this.#isReported) return null;
    this.#isReported = true;
    return { kind: 'stalled', stalledMs };
  }

  #runs(): Verdict | null {
    const [stalledMs, isReported] = [this.#stalledMs, this.#isReported];
    this.#stalledMs = 0;
    this.#isReported = false;
    this.#isEarly = false;
    return isReported ? { kind: 'resumed', stalledMs } : null;
  }
}
