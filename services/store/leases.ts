/** Jobs that one process on the store does at a time: a part of the store port (store.ts). */

/** `api`: the relay, replays and erasures. `log`: retention. */
export const LEASE_NAMES = ['api', 'log'] as const;
export type LeaseName = (typeof LEASE_NAMES)[number];

/** Ends the jobs; resolves when nothing of them runs any more. */
export type StopJobs = () => Promise<void>;

export interface Leases {
  /**
   * Starts the jobs whenever this process gets the lease, and ends them when it is lost. Resolves when that was tried
   * once: the jobs have started, or another process has the lease. Rejects when they could not be started that time.
   */
  hold(name: LeaseName, start: () => Promise<StopJobs>): Promise<HeldLease>;
  /** Returns whether any process has the lease. */
  isHeld(name: LeaseName): Promise<boolean>;
}

export interface HeldLease {
  /** Ends the jobs and the lease, so that another process can have it at once. May be called twice. */
  stop(): Promise<void>;
}
