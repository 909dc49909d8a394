import type { Glance } from './activity.ts';

export interface StallBounds {
  /** A stall of this length is reported, milliseconds. */
  readonly reportMs: number;
  /** A stall of this length ends the process; infinite = none does. */
  readonly endMs: number;
}

export type Verdict =
  | { readonly kind: 'stalled'; readonly stalledMs: number }
  | { readonly kind: 'resumed'; readonly stalledMs: number }
  /** `label`: of the work that has gone on since the look before; null = none has, or it has no label. */
  | { readonly kind: 'over'; readonly stalledMs: number; readonly label: string | null };

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
    if (stalledMs >= this.#bounds.endMs) {
      this.#isOver = true;
      const isSame = glance.section === before.glance.section;
      return { kind: 'over', stalledMs, label: isSame ? glance.label : null };
    }
    if (stalledMs < this.#bounds.reportMs || this.#isReported) return null;
    this.#isReported = true;
    return { kind: 'stalled', stalledMs };
  }

  #runs(): Verdict | null {
    const [stalledMs, isReported] = [this.#stalledMs, this.#isReported];
    this.#stalledMs = 0;
    this.#isReported = false;
    return isReported ? { kind: 'resumed', stalledMs } : null;
  }
}
