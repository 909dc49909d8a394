import type { FailureCode } from '../../../domain/attempt.ts';
import {
  METRIC_STEP_MS,
  type MetricCounts,
  type MetricGroup,
  type MetricSeries,
  type MetricsQuery,
} from '../../metrics.ts';
import { EVENT_TYPE, FAILURE_CODE } from '../codes.ts';
import { BUCKETS, percentile } from './latency-buckets.ts';
import {
  bucketIn,
  type Cells,
  eachCell,
  eachTally,
  failureCodeIn,
  OUTCOME,
  outcomeIn,
  slotIn,
  typeIn,
} from './tallies.ts';

/** The failures in which a receiver was asked, so that the attempt's duration says how long it took. */
const TIMED: readonly FailureCode[] = [
  ...(['response_timeout', 'http_1xx', 'http_3xx', 'http_4xx', 'http_5xx', 'endpoint_gone'] as const),
];
/** By code; 0 is a success. */
const IS_TIMED = Array.from(
  { length: 64 },
  (_, code) => code === 0 || TIMED.some((each) => FAILURE_CODE.of[each] === code),
);

/** The counts of one point of one series. */
export interface PointCounts {
  /** The number of the outcome, failure code, event type or endpoint; 0 in a query without `by`. */
  readonly series: number;
  readonly point: number;
  attempts: number;
  failed: number;
  /** Of those whose receiver was asked, by bucket of latency. */
  readonly buckets: Uint32Array;
}

export type FoldedQuery = Pick<MetricsQuery, 'from' | 'to' | 'step' | 'by' | 'type'>;

/** Adds up tallies to the points of a query. */
export class MetricsFold {
  readonly #query: FoldedQuery;
  readonly #type: number | null;
  /** By series and point. */
  readonly #counts = new Map<number, Map<number, PointCounts>>();

  constructor(query: FoldedQuery) {
    this.#query = query;
    this.#type = query.type === undefined ? null : EVENT_TYPE.of[query.type];
  }

  add(endpoint: number, createdAt: number, cells: Cells): void {
    const add = this.#adding(endpoint, createdAt);
    for (const [cell, count] of cells) add(cell, count);
  }

  /** Adds tallies of an endpoint as `eachTally` reads them. */
  addEncoded(endpoint: number, tallies: Uint8Array): void {
    eachTally(tallies, (createdAt, cells) => eachCell(cells, this.#adding(endpoint, createdAt)));
  }

  /**
   * Returns a function that adds the cells of a tally. A day has some hundred thousand cells: nothing is allocated for each,
   * and a point is looked up only when it changes.
   */
  #adding(endpoint: number, createdAt: number): (cell: number, count: number) => void {
    const { from, to, step, by } = this.#query;
    const type = this.#type;
    let [lastSeries, lastPoint] = [-1, -1];
    let counts: PointCounts | undefined;
    return (cell, count) => {
      const at = createdAt + slotIn(cell) * METRIC_STEP_MS;
      if (at < from || at >= to || (type !== null && typeIn(cell) !== type)) return;
      const series = seriesOf(by, cell, endpoint);
      if (series === null) return;
      const point = Math.floor((at - from) / step);
      if (counts === undefined || series !== lastSeries || point !== lastPoint) {
        counts = this.#point(series, point);
        [lastSeries, lastPoint] = [series, point];
      }
      counts.attempts += count;
      if (outcomeIn(cell) !== OUTCOME.delivered) counts.failed += count;
      if (!IS_TIMED[failureCodeIn(cell)]) return;
      const bucket = bucketIn(cell);
      counts.buckets[bucket] = (counts.buckets[bucket] ?? 0) + count;
    };
  }

  get counts(): readonly PointCounts[] {
    return [...this.#counts.values()].flatMap((points) => [...points.values()]);
  }

  #point(series: number, point: number): PointCounts {
    let points = this.#counts.get(series);
    if (!points) {
      points = new Map();
      this.#counts.set(series, points);
    }
    let counts = points.get(point);
    if (!counts) {
      counts = { series, point, attempts: 0, failed: 0, buckets: new Uint32Array(BUCKETS) };
      points.set(point, counts);
    }
    return counts;
  }
}

/** Returns the series of a cell; null: it has none, because the attempt did not fail. */
function seriesOf(by: MetricGroup | undefined, cell: number, endpoint: number): number | null {
  switch (by) {
    case undefined:
      return 0;
    case 'outcome':
      return outcomeIn(cell);
    case 'code':
      return failureCodeIn(cell) || null;
    case 'type':
      return typeIn(cell);
    case 'endpoint':
      return endpoint;
  }
}

/** Returns the series of a query from the counts of its points, which may come in parts. */
export function toSeries(
  query: FoldedQuery,
  counts: Iterable<PointCounts>,
  endpointName: (endpoint: number) => string,
): readonly MetricSeries[] {
  const { from, to, step, by } = query;
  const series = new Map<number, PointCounts[]>(by === undefined ? [[0, []]] : []);
  for (const each of counts) {
    const known = series.get(each.series);
    if (known) known.push(each);
    else series.set(each.series, [each]);
  }
  const length = Math.ceil((to - from) / step);
  const found = [...series].map(([number, parts]) => {
    const byPoint = new Map<number, PointCounts[]>();
    for (const part of parts) byPoint.set(part.point, [...(byPoint.get(part.point) ?? []), part]);
    return {
      name: nameOf(by, number, endpointName),
      ...toCounts(sumOf(parts)),
      points: Array.from({ length }, (_, point) => ({
        at: from + point * step,
        ...toCounts(sumOf(byPoint.get(point) ?? [])),
      })),
    };
  });
  return found.sort(
    (one, other) => other.attempts - one.attempts || `${one.name}`.localeCompare(`${other.name}`),
  );
}

type Counts = Pick<PointCounts, 'attempts' | 'failed' | 'buckets'>;

function sumOf(points: readonly PointCounts[]): Counts {
  const [first, ...others] = points;
  if (first && others.length === 0) return first;
  const buckets = new Uint32Array(BUCKETS);
  for (const point of points)
    for (const [bucket, count] of point.buckets.entries()) buckets[bucket] = (buckets[bucket] ?? 0) + count;
  const sum = (of: 'attempts' | 'failed') => points.reduce((before, point) => before + point[of], 0);
  return { attempts: sum('attempts'), failed: sum('failed'), buckets };
}

function toCounts({ attempts, failed, buckets }: Counts): MetricCounts {
  return { attempts, failed, p50Ms: percentile(buckets, 0.5), p99Ms: percentile(buckets, 0.99) };
}

const OUTCOME_WORDS = new Map(Object.entries(OUTCOME).map(([word, number]) => [number, word]));

function nameOf(
  by: MetricGroup | undefined,
  series: number,
  endpointName: (endpoint: number) => string,
): string | null {
  switch (by) {
    case undefined:
      return null;
    case 'outcome':
      return OUTCOME_WORDS.get(series) ?? `${series}`;
    case 'code':
      return FAILURE_CODE.word(series);
    case 'type':
      return EVENT_TYPE.word(series);
    case 'endpoint':
      return endpointName(series);
  }
}
