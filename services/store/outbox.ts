import type { DirectoryChange } from '../domain/directory.ts';

/**
 * Directory changes that are committed but not yet on the DIRECTORY stream. The changes of one merchant or endpoint have
 * ascending ids. An engine with several writers may show an id after a higher one of another key, so changes are
 * forgotten by their ids, and never up to an id.
 */
export interface Outbox {
  /** Returns the changes after the id `after`, or from the first. */
  pending(
    limit: number,
    after?: number,
  ): Promise<readonly { readonly outboxId: number; readonly change: DirectoryChange }[]>;
  /** Forgets changes that are on the DIRECTORY stream. */
  published(outboxIds: readonly number[]): Promise<void>;
  /** Returns whether a committed change is on the DIRECTORY stream: it is not in the outbox any more. */
  isPublished(outboxId: number): Promise<boolean>;
  /**
   * Calls back after each commit of this process that added rows, to wake the relay. Returns a function that ends it.
   */
  onAdded(listener: () => void): () => void;
  /**
   * Returns every merchant and endpoint in its present state, deleted ones included, in pages: `after` is null, then
   * the last `next`.
   */
  snapshot(after: SnapshotCursor | null, limit: number): Promise<SnapshotPage>;
  /**
   * Adds changes that the stream lacks to the outbox again, unless the store has another version by now. Returns how many
   * were added.
   */
  addAgain(changes: readonly DirectoryChange[]): Promise<number>;
  /**
   * Adds the present state of merchants and endpoints again, with versions above these: the stream has records that are
   * refused, and whoever cannot check them takes them for newer. Returns how many were added.
   */
  addAbove(records: readonly RecordAbove[]): Promise<number>;
  /**
   * Applies changes of the DIRECTORY stream that are newer than this store's: it was restored from a backup. Versions
   * that are not higher are ignored. Fields that only the store has (descriptions, hints, times) get defaults in new
   * rows. Returns how many were applied.
   */
  adopt(changes: readonly DirectoryChange[], at: number): Promise<number>;
  /**
   * Returns the timeline of the store; null in an engine that one process has for itself. A failover or a restore begins
   * another one, and committed changes may be missing on it: every change of a merchant or an endpoint is refused
   * (StoreUnavailable) until the store was reconciled with the DIRECTORY stream.
   */
  timeline(): Promise<Timeline | null>;
  /**
   * Accepts changes on this timeline. Versions given from then on are higher than those of changes that were lost and are
   * still on their way to the stream. Rejects with StoreUnavailable when the store is on another timeline by now.
   */
  reconciled(timeline: string): Promise<void>;
}

export interface RecordAbove extends Pick<DirectoryChange, 'kind' | 'id'> {
  /** The version that the next one must exceed. */
  readonly above: number;
}

export interface Timeline {
  readonly name: string;
  /** Whether changes are accepted on it. */
  readonly isReconciled: boolean;
}

/** A position in the table of one kind. */
export interface SnapshotCursor {
  readonly kind: DirectoryChange['kind'];
  readonly row: number;
}

export interface SnapshotPage {
  readonly changes: readonly DirectoryChange[];
  /** Null on the last page. */
  readonly next: SnapshotCursor | null;
}
