import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { StreamNews } from '../../client/merchant-stream.ts';

/** The results of the deliveries of a load. */
export interface DeliveryCounts {
  readonly delivered: number;
  /** Given up, or cancelled. */
  readonly failed: number;
  /** Attempts that failed, of whatever delivery. */
  readonly failedAttempts: number;
  /** Events that an endpoint did not get, for each endpoint. */
  readonly skipped: number;
}

/** A point of the plot: the latencies of the events that were due in one part of the time. */
export interface Slice {
  readonly p50: number | undefined;
  readonly p99: number | undefined;
}

const PERCENTILES = { p50: 50, p90: 90, p99: 99, p99_9: 99.9 } as const;
export type LatencyTable = Readonly<Record<keyof typeof PERCENTILES | 'max', number | null>>;

const OVER = ['delivered', 'exhausted', 'refused'];
/** A clock that is this far from ours was moved on, as a sandbox's can be. */
const CLOCK_DIFFERS_MS = 2000;

type AboutDelivery = Extract<StreamNews, { readonly kind: 'routed' | 'skipped' | 'attempt' | 'cancelled' }>;
type Attempt = Extract<StreamNews, { readonly kind: 'attempt' }>['data'];

function isAboutDelivery(news: StreamNews): news is AboutDelivery {
  return ['routed', 'skipped', 'attempt', 'cancelled'].includes(news.kind);
}

interface Pending {
  readonly dueAt: number;
  /** Endpoints whose delivery is over, or that do not get the event. */
  readonly over: Set<string | null>;
}

/**
 * Follows a load by the stream: the latency of a delivery is the time from when its event was due to the end of the
 * attempt that delivered it. An event that had to wait in this process counts from when it was due.
 */
export class Latencies {
  readonly #pending = new Map<string, Pending>();
  readonly #all = createHistogram({ lowest: 1, highest: 3_600_000_000, figures: 3 });
  readonly #slices: RecordableHistogram[];
  readonly #endpoint: string | undefined;
  readonly #endpoints: number;
  readonly #startedAt: number;
  readonly #durationMs: number;
  #clockMs: number | undefined;
  #counts = { delivered: 0, failed: 0, failedAttempts: 0, skipped: 0 };

  constructor(options: {
    /** The only endpoint that counts; undefined = all. */
    readonly endpoint: string | undefined;
    /** The number of endpoints that count: each gets an event or skips it. */
    readonly endpoints: number;
    readonly startedAt: number;
    readonly durationMs: number;
    readonly slices: number;
  }) {
    this.#endpoint = options.endpoint;
    this.#endpoints = options.endpoints;
    this.#startedAt = options.startedAt;
    this.#durationMs = options.durationMs;
    this.#slices = Array.from({ length: options.slices }, () => createHistogram());
  }

  get counts(): DeliveryCounts {
    return this.#counts;
  }

  /** The number of events whose deliveries are not all over. */
  get open(): number {
    return this.#pending.size;
  }

  sent(eventId: string, dueAt: number): void {
    this.#pending.set(eventId, { dueAt, over: new Set() });
  }

  /** Forgets an event that was not accepted. */
  refused(eventId: string): void {
    this.#pending.delete(eventId);
  }

  take(news: StreamNews, now: number): void {
    if (!isAboutDelivery(news)) return;
    const { event_uuid, endpoint_uuid } = news.data;
    const pending = this.#pending.get(event_uuid);
    if (pending === undefined) return;
    if (this.#endpoint !== undefined && endpoint_uuid !== this.#endpoint) return;
    switch (news.kind) {
      case 'routed':
        this.#measureClock(Date.parse(news.data.at), now);
        break;
      case 'skipped':
        this.#over(pending, news.data, 'skipped');
        break;
      case 'attempt':
        this.#attempt(pending, news.data);
        break;
      case 'cancelled':
        this.#over(pending, news.data, 'failed');
        break;
    }
  }

  #attempt(pending: Pending, attempt: Attempt): void {
    const { outcome } = attempt;
    if (outcome !== 'delivered') this.#counts.failedAttempts += 1;
    if (!OVER.includes(outcome)) return;
    if (outcome === 'delivered') {
      const endedAt = Date.parse(attempt.started_at) + attempt.duration_ms - (this.#clockMs ?? 0);
      this.#record(pending.dueAt, endedAt - pending.dueAt);
    }
    this.#over(pending, attempt, outcome === 'delivered' ? 'delivered' : 'failed');
  }

  #over(
    pending: Pending,
    { event_uuid, endpoint_uuid }: AboutDelivery['data'],
    as: 'delivered' | 'failed' | 'skipped',
  ): void {
    this.#counts[as] += 1;
    pending.over.add(endpoint_uuid);
    // No endpoint at all is told by one event without an endpoint.
    if (endpoint_uuid === null || pending.over.size >= this.#endpoints) this.#pending.delete(event_uuid);
  }

  /** The service's clock may have been moved on; the first event tells how far. */
  #measureClock(at: number, now: number): void {
    if (this.#clockMs !== undefined) return;
    const differenceMs = at - now;
    this.#clockMs = Math.abs(differenceMs) > CLOCK_DIFFERS_MS ? differenceMs : 0;
  }

  #record(dueAt: number, latencyMs: number): void {
    const micros = Math.max(1, Math.round(latencyMs * 1000));
    this.#all.record(micros);
    const part = (dueAt - this.#startedAt) / this.#durationMs;
    this.#slices[Math.min(this.#slices.length - 1, Math.floor(part * this.#slices.length))]?.record(micros);
  }

  /** Milliseconds; null while nothing was delivered. */
  table(): LatencyTable {
    const has = this.#all.count > 0;
    const entries = Object.entries(PERCENTILES).map(([name, percent]) => [
      name,
      has ? millis(this.#all.percentile(percent)) : null,
    ]);
    return { ...Object.fromEntries(entries), max: has ? millis(this.#all.max) : null };
  }

  slices(): readonly Slice[] {
    return this.#slices.map((slice) =>
      slice.count === 0
        ? { p50: undefined, p99: undefined }
        : { p50: millis(slice.percentile(50)), p99: millis(slice.percentile(99)) },
    );
  }
}

function millis(micros: number): number {
  return Math.round(micros / 100) / 10;
}
