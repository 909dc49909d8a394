import { Allowance } from './allowance.ts';

/** The parked tasks of one endpoint, as far as this process knows. */
export class ParkedTasks {
  /** Counts those parked for the shortest time lately. */
  readonly soon: Allowance;
  #count = 0;
  #lastAt = Number.NEGATIVE_INFINITY;
  #isWaking = false;

  constructor(soonMs: number) {
    this.soon = new Allowance(soonMs);
  }

  /** Returns whether there may be one. */
  get any(): boolean {
    return this.#count > 0;
  }

  /** Returns whether one may be brought back: none is being brought back now. */
  get canCome(): boolean {
    return this.#count > 0 && !this.#isWaking;
  }

  /** A task is parked. `isKnown`: it can be brought back. */
  add(now: number, isKnown: boolean): void {
    if (isKnown) this.#count += 1;
    this.#lastAt = now;
  }

  /** A task has come back. */
  cameBack(): void {
    if (this.#count > 0) this.#count -= 1;
  }

  /** Brings some back, by `wake`, which resolves with their number. None was there: they are forgotten after `parkedMsMax`. */
  bringBack(wake: () => Promise<number>, now: number, parkedMsMax: number): void {
    this.#isWaking = true;
    const done = (count: number) => {
      this.#isWaking = false;
      // None does not prove that no task is parked: on a full disk they become durable late.
      if (count === 0 && now - this.#lastAt >= parkedMsMax) this.#count = 0;
    };
    wake().then(done, () => done(0));
  }
}
