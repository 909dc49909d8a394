/** Records that retention deleted before they were processed. Several such ranges become one. */
export interface LostRange {
  readonly from: number;
  /** The offset after the last. */
  readonly to: number;
  /** The number of unprocessed records: an upper bound, since some offsets may have had no record. */
  readonly count: number;
}

/** A loss of one partition. */
export interface Loss extends LostRange {
  readonly partition: number;
  readonly isAcknowledged: boolean;
}

/** A topic that is read, and the records lost from it. */
export interface TopicLosses {
  readonly stream: string;
  readonly topic: string;
  readonly partitions: number;
  readonly losses: readonly Loss[];
}
