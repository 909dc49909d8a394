import type { LeaseName } from './leases.ts';

/** The state of a store as this process knows it, without asking anybody: a part of the store port (store.ts). */
export interface StoreStatus {
  /** Whether it can be written to, by the last call. While it cannot, that is tested again and again. */
  readonly reachable: boolean;
  /** Connections to the server; null in an engine that has none. */
  readonly connections: {
    readonly inUse: number;
    readonly idle: number;
    /** Calls that wait for a connection. */
    readonly waiting: number;
  } | null;
  /** The leases that this process has now. */
  readonly leases: readonly LeaseName[];
}
