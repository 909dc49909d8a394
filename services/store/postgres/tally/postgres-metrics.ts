import { FairTurns } from '../../../process/fair-turns.ts';
import { MetricsFold, type PointCounts, toSeries } from '../../log/tally/metrics-fold.ts';
import { inSteps, type TallyRange } from '../../log/tally/metrics-steps.ts';
import { TALLY_MS, Tallies } from '../../log/tally/tallies.ts';
import type { MetricSeries, Metrics, MetricsQuery } from '../../metrics.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';
import type { LogNames } from '../log/log-names.ts';

/** Queries that are in a step behind their first at a time. */
const STEPS_AT_ONCE = 2;

/**
 * In one statement, which sees each count either merged or not yet merged. `endpoint` is null where it was not merged; those
 * of an endpoint are put together as `eachTally` reads them.
 */
const TALLIES = `SELECT endpoint,
    string_agg(int4send((created_at / ${TALLY_MS})::int) || int4send(length(cells)) || cells, ''::bytea) AS tallies
  FROM tally WHERE endpoint = ANY($1::int[]) AND created_at >= $2 AND created_at < $3 GROUP BY endpoint
  UNION ALL SELECT NULL, tallies FROM tally_delta WHERE last_at >= $2 AND first_at < $3`;

interface TallyRow {
  readonly endpoint: number | null;
  readonly tallies: Buffer;
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
    for (const { endpoint, tallies } of rows)
      if (endpoint === null) pending.add(tallies, wanted);
      else fold.addEncoded(endpoint, tallies);
    for (const { endpoint, createdAt, cells } of pending.list)
      if (createdAt >= from && createdAt < to) fold.add(endpoint, createdAt, cells);
    return fold.counts;
  }
}
