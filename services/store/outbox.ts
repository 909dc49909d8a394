import type { DirectoryChange } from '../domain/directory.ts';

/** Directory changes that are committed and not yet on the DIRECTORY stream, in order. */
export interface Outbox {
  /** Those after the id `after`, or from the first. */
  pending(
    limit: number,
    after?: number,
  ): Promise<readonly { readonly outboxId: number; readonly change: DirectoryChange }[]>;
  published(upTo: number): Promise<void>;
  /** Called after each commit that added rows: the relay's wake-up. */
  onAdded(listener: () => void): void;
  /** Highest outbox id whose change was published. */
  publishedUpTo(): number;
  /** Every merchant and endpoint as it stands, deleted ones included, in pages: `after` is null, then the last `next`. */
  standing(after: StandingCursor | null, limit: number): Promise<StandingPage>;
  /** Puts changes that the stream lacks into the outbox once more. */
  addAgain(changes: readonly DirectoryChange[]): Promise<void>;
  /**
   * Takes over what the DIRECTORY stream knows better than this store, which was restored from a backup. Versions that
   * are not higher are ignored. What only the store knows (descriptions, hints, times) is made up where it is new.
   */
  adopt(changes: readonly DirectoryChange[], at: number): Promise<void>;
}

/** Names a place in the table of one kind. */
export interface StandingCursor {
  readonly kind: DirectoryChange['kind'];
  readonly row: number;
}

export interface StandingPage {
  readonly changes: readonly DirectoryChange[];
  /** Null: that was the last page. */
  readonly next: StandingCursor | null;
}
