import type { Store } from '../../services/store/store.ts';

/** The parts of the store that a suite uses. */
type PartsOf<Part extends keyof Store> = Pick<Store, Part | 'close'>;

/** The location of a test's store, which can be opened, crashed and reopened. */
export interface StorePlace<Part extends keyof Store = keyof Store> {
  open(): Promise<PartsOf<Part>>;
  /** Ends the store as a crash would: nothing is flushed, and running operations are cut off. */
  crash(store: PartsOf<Part>): Promise<void>;
  dispose(): Promise<void>;
}
/** The store under test. */
export interface StoreUnderTest<Part extends keyof Store = keyof Store> {
  readonly store: PartsOf<Part>;
  /** Crashes the store and reopens it; afterwards `store` is the new one. */
  crashAndReopen(): Promise<PartsOf<Part>>;
  /** Closes the store and reopens it. */
  reopen(): Promise<PartsOf<Part>>;
}
/** The parts of management: all but the delivery log and what reads it. */
export type ManagementPart =
  | 'merchants'
  | 'keys'
  | 'endpoints'
  | 'answers'
  | 'limits'
  | 'leases'
  | 'outbox'
  | 'audit'
  | 'sealings';
export type ManagementUnderTest = StoreUnderTest<ManagementPart>;
/** The auto-disable policy of every store under test. */
export const TEST_POLICY = { withoutSuccessMs: 24 * 3600000, failedAttempts: 5 };
