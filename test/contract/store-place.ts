import type { Store } from '../../services/store/store.ts';

/** The location of a test's store, which can be opened, crashed and reopened. */
export interface StorePlace {
  open(): Promise<Store>;
  /** Ends the store as a crash would: nothing is flushed, and running operations are cut off. */
  crash(store: Store): Promise<void>;
  dispose(): Promise<void>;
}
/** The store under test. */
export interface StoreUnderTest {
  readonly store: Store;
  /** Crashes the store and reopens it; afterwards `store` is the new one. */
  crashAndReopen(): Promise<Store>;
  /** Closes the store and reopens it. */
  reopen(): Promise<Store>;
}
/** The auto-disable policy of every store under test. */
export const TEST_POLICY = { withoutSuccessMs: 24 * 3600000, failedAttempts: 5 };
