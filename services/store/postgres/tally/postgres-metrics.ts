import { FairTurns } from '../../../process/fair-turns.ts';
import { MetricsFold, type PointCounts, toSeries } from '../../log/tally/metrics-fold.ts';
import { inSteps, type TallyRange } from '../../log/tally/metrics-steps.ts';
import { Tallies } from '../../log/tally/tallies.ts';
import type { MetricSeries, Metrics, MetricsQuery } from '../../metrics.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';
import type { LogNames } from '../log/log-names.ts';

/** Queries that are in a step behind their first at a time. */
const STEPS_AT_ONCE = 2;

/** In one statement, which sees each count either merged or not yet merged. `endpoint` is null where it was not merged. */
const TALLIES = `SELECT endpoint, created_at AS at, cells FROM tally
  WHERE endpoint = ANY($1::int[]) AND created_at >= $2 AND created_at < $3
  UNION ALL SELECT NULL, first_at, tallies FROM tally_delta WHERE last_at >= $2 AND first_at < $3`;

interface TallyRow {
  readonly endpoint: number | null;
  readonly at: number;
  readonly cells: Buffer;
}

interface EndpointName {
  readonly seq: number;
  readonly id: string;
}

export class PostgresMetrics implements Metrics {
  readonly #database: PostgresDatabase;
  readonly #names: LogNames;
  readonly #turns = new FairTurns(STEPS_AT_ONCE);

  constructor(database: PostgresDatabase, names: LogNames) {
    this.#database = database;
    this.#names = names;
  }

  async read(merchantId: string, query: MetricsQuery): Promise<readonly MetricSeries[]> {
    const { endpointId } = query;
    const merchant = await this.#names.merchant(merchantId);
    const all = merchant === undefined ? [] : await this.#endpoints(merchant);
    const wanted = all.filter(({ id }) => endpointId === undefined || id === endpointId);
    const endpoints = wanted.map(({ seq }) => seq);
    const turns = { fair: this.#turns, merchantId };
    const counts = await inSteps(query, endpoints.length, turns, (range) =>
      this.#counts(query, endpoints, range),
    );
    const names = new Map(wanted.map(({ seq, id }) => [seq, id]));
    return toSeries(query, counts, (endpoint) => names.get(endpoint) ?? `${endpoint}`);
  }

  /** Deleted ones included. */
  #endpoints(merchant: number): Promise<readonly EndpointName[]> {
    return this.#database.read(({ rows }) =>
      rows<EndpointName>('SELECT seq, endpoint_id AS id FROM log_endpoint WHERE merchant = $1', [merchant]),
    );
  }

  async #counts(
    query: MetricsQuery,
    endpoints: readonly number[],
    { from, to }: TallyRange,
  ): Promise<readonly PointCounts[]> {
    const rows = await this.#database.read((statements) =>
      statements.rows<TallyRow>(TALLIES, [endpoints, from, to]),
    );
    const fold = new MetricsFold(query);
    const wanted = new Set(endpoints);
    const pending = new Tallies();
    for (const { endpoint, at, cells: bytes } of rows) {
      if (endpoint === null) {
        pending.add(bytes, wanted);
        continue;
      }
      fold.addEncoded(endpoint, at, bytes);
    }
    for (const { endpoint, createdAt, cells } of pending.list)
      if (createdAt >= from && createdAt < to) fold.add(endpoint, createdAt, cells);
    return fold.counts;
  }
}
