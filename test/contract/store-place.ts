import type { Store } from '../../services/store/store.ts';

/** Where one test's store lives: it can be opened, crash, and be opened again. */
export interface StorePlace {
  open(): Promise<Store>;
  /** Ends the store as a crash would: nothing is flushed, whatever runs is cut off. */
  crash(store: Store): Promise<void>;
  dispose(): Promise<void>;
}
/** What a test of the contract works with. */
export interface StoreUnderTest {
  readonly store: Store;
  /** Crashes the store and opens it again; `store` is the new one then. */
  crashAndReopen(): Promise<Store>;
  /** Closes the store and opens it again. */
  reopen(): Promise<Store>;
}
/** Auto-disable policy that every store under test is opened with. */
export const TEST_POLICY = { withoutSuccessMs: 24 * 3600000, failedAttempts: 5 };
