/** Records that were deleted before they were done. Several such ranges become one. */
export interface LostRange {
  readonly from: number;
  /** The offset after the last. */
  readonly to: number;
  /** How many were not done: at most, since offsets may have had no record. */
  readonly count: number;
}

/** A loss of one partition. */
export interface Loss extends LostRange {
  readonly partition: number;
  readonly isAcknowledged: boolean;
}

/** A topic that is read, and what was deleted of it before it was done. */
export interface TopicLosses {
  readonly stream: string;
  readonly topic: string;
  readonly partitions: number;
  readonly losses: readonly Loss[];
}
