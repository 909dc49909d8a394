import type { HeldLease, Leases, StopJobs } from '../leases.ts';

/** The leases of a store that has one process: it gets each at once, and for ever. */
export const soleProcess: Leases = {
  async hold(_name, start: () => Promise<StopJobs>): Promise<HeldLease> {
    const stopJobs = await start();
    let stopped: Promise<void> | undefined;
    return {
      stop: () => {
        stopped ??= stopJobs();
        return stopped;
      },
    };
  },
};
