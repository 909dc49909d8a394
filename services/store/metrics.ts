/** The numbers of a merchant: the part of the store port (store.ts) that counts attempts. */
import type { WebhookType } from '../domain/notices/notice.ts';

/** The attempts are counted for each five minutes: a step is a multiple of that. */
export const METRIC_STEP_MS = 300_000;

export const METRIC_GROUPS = ['outcome', 'code', 'type', 'endpoint'] as const;
export type MetricGroup = (typeof METRIC_GROUPS)[number];

export interface MetricsQuery {
  /** Multiples of `step`, milliseconds since the epoch; `to` is not included. */
  readonly from: number;
  readonly to: number;
  /** Milliseconds, a multiple of five minutes. */
  readonly step: number;
  /** A series for each of these; undefined = one of all attempts. */
  readonly by?: MetricGroup;
  readonly endpointId?: string;
  readonly type?: WebhookType;
}

export interface MetricCounts {
  readonly attempts: number;
  /** The failed ones among them. */
  readonly failed: number;
  /**
   * How long the receivers took, milliseconds: of attempts that were answered, or not answered in time. Null when there
   * was none.
   */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

export interface MetricPoint extends MetricCounts {
  readonly at: number;
}

/** Counts of the whole period, and a point for each step, also where nothing happened. */
export interface MetricSeries extends MetricCounts {
  /** The outcome, failure code, event type or endpoint; null in a query without `by`. */
  readonly name: string | null;
  readonly points: readonly MetricPoint[];
}

/**
 * Counts of the delivery log's attempts by when they began. Retention (`DeliveryLog.retain`) deletes the counts of an hour
 * that ended at its limit or earlier, or, where the log is kept in leaves, with their leaf. What stays is whole: an attempt
 * is counted for as long as its hour is, also when its delivery was deleted, which was accepted earlier.
 */
export interface Metrics {
  /** Returns the series that have an attempt, largest first; without `by` always one. */
  read(merchantId: string, query: MetricsQuery): Promise<readonly MetricSeries[]>;
}
