import type { Database } from 'better-sqlite3';
import { type FoldedQuery, MetricsFold, type PointCounts } from '../../log/tally/metrics-fold.ts';
import type { TallyRange } from '../../log/tally/metrics-steps.ts';
import { TALLY_MS, Tallies } from '../../log/tally/tallies.ts';

export interface EndpointName {
  readonly seq: number;
  readonly endpointId: string;
}

/** The last group of contents whose tallies are merged. */
export const TALLIED_TO = "SELECT value FROM meta WHERE name = 'attempts_tallied_to'";

/** Reads the tallies, merged and not yet merged. */
export class MetricReads {
  static readonly endpointsSql = `SELECT e.seq, e.endpoint_id AS endpointId FROM log_merchant m
    CROSS JOIN log_endpoint e ON e.merchant = m.seq WHERE m.merchant_id = ?`;
  /** Puts the tallies together as `eachTally` reads them: a value for each of thousands of rows takes longer than the rest. */
  static readonly talliesSql = `SELECT unhex(group_concat(
      printf('%08X%08X', created_at / ${TALLY_MS}, length(cells)) || hex(cells), ''))
    FROM tally WHERE endpoint = ? AND created_at >= ? AND created_at < ?`;
  /** A bounded number of rows (log/tally/pending-tallies.ts). */
  static readonly deltasSql = `SELECT tallies FROM attempt_content
    WHERE seq > (${TALLIED_TO}) AND last_at >= ? AND first_at < ?`;
  readonly #endpoints;
  readonly #tallies;
  readonly #deltas;

  constructor(db: Database) {
    this.#endpoints = db.prepare(MetricReads.endpointsSql);
    this.#tallies = db.prepare(MetricReads.talliesSql).pluck();
    this.#deltas = db.prepare(MetricReads.deltasSql).pluck();
  }

  /** Returns the endpoints of a merchant, deleted ones included. */
  endpoints(merchantId: string): readonly EndpointName[] {
    return this.#endpoints.all(merchantId) as EndpointName[];
  }

  /** Returns what these endpoints have in a part of the query's period. */
  counts(query: FoldedQuery, endpoints: readonly number[], { from, to }: TallyRange): readonly PointCounts[] {
    const fold = new MetricsFold(query);
    for (const endpoint of endpoints) {
      const tallies = this.#tallies.get(endpoint, from, to) as Buffer | null;
      if (tallies) fold.addEncoded(endpoint, tallies);
    }
    const pending = new Tallies();
    const wanted = new Set(endpoints);
    for (const bytes of this.#deltas.all(from, to) as Buffer[]) pending.add(bytes, wanted);
    for (const { endpoint, createdAt, cells } of pending.list)
      if (createdAt >= from && createdAt < to) fold.add(endpoint, createdAt, cells);
    return fold.counts;
  }
}
