import { FairTurns } from '../../../process/fair-turns.ts';
import { toSeries } from '../../log/tally/metrics-fold.ts';
import { inSteps } from '../../log/tally/metrics-steps.ts';
import type { MetricSeries, Metrics, MetricsQuery } from '../../metrics.ts';
import type { ReaderOps } from '../reader.ts';
import type { ThreadCalls } from '../thread-calls.ts';

/** The metrics on the main thread: each step of a query is a call of its own, so that other reads come between them. */
export class SqliteMetrics implements Metrics {
  readonly #reader: ThreadCalls<ReaderOps>;
  readonly #turns = new FairTurns(1);

  constructor(reader: ThreadCalls<ReaderOps>) {
    this.#reader = reader;
  }

  async read(merchantId: string, query: MetricsQuery): Promise<readonly MetricSeries[]> {
    const all = await this.#reader.call('metricEndpoints', [merchantId]);
    const names = new Map(all.map(({ seq, endpointId }) => [seq, endpointId]));
    const { endpointId } = query;
    const wanted = all.filter((each) => endpointId === undefined || each.endpointId === endpointId);
    const endpoints = wanted.map(({ seq }) => seq);
    const turns = { fair: this.#turns, merchantId };
    const counts = await inSteps(query, endpoints.length, turns, (range) =>
      this.#reader.call('metricCounts', [query, endpoints, range]),
    );
    return toSeries(query, counts, (endpoint) => names.get(endpoint) ?? `${endpoint}`);
  }
}
