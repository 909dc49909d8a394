import type { HeldLease, LeaseName, Leases, StopJobs } from '../leases.ts';

/** The leases of a store that has one process: it gets each at once, and for ever. */
export class SoleProcess implements Leases {
  readonly #jobs = new Map<object, LeaseName>();

  /** The leases held now. */
  get names(): readonly LeaseName[] {
    return [...new Set(this.#jobs.values())];
  }

  async hold(name: LeaseName, start: () => Promise<StopJobs>): Promise<HeldLease> {
    const stopJobs = await start();
    const key = {};
    this.#jobs.set(key, name);
    let stopped: Promise<void> | undefined;
    return {
      stop: () => {
        this.#jobs.delete(key);
        stopped ??= stopJobs();
        return stopped;
      },
    };
  }

  async isHeld(name: LeaseName): Promise<boolean> {
    return this.names.includes(name);
  }
}
