import type { Database } from 'better-sqlite3';
import { type FoldedQuery, MetricsFold, type PointCounts } from '../../log/tally/metrics-fold.ts';
import type { TallyRange } from '../../log/tally/metrics-steps.ts';
import { Tallies } from '../../log/tally/tallies.ts';

export interface EndpointName {
  readonly seq: number;
  readonly endpointId: string;
}

type TallyRow = readonly [createdAt: number, cells: Buffer];

/** Reads the tallies, merged and not yet merged. */
export class MetricReads {
  static readonly endpointsSql = `SELECT e.seq, e.endpoint_id AS endpointId FROM log_merchant m
    CROSS JOIN log_endpoint e ON e.merchant = m.seq WHERE m.merchant_id = ?`;
  static readonly talliesSql =
    'SELECT created_at, cells FROM tally WHERE endpoint = ? AND created_at >= ? AND created_at < ?';
  /** A bounded number of rows (log/tally/pending-tallies.ts). */
  static readonly deltasSql = 'SELECT tallies FROM tally_delta WHERE last_at >= ? AND first_at < ?';
  readonly #endpoints;
  readonly #tallies;
  readonly #deltas;

  constructor(db: Database) {
    this.#endpoints = db.prepare(MetricReads.endpointsSql);
    this.#tallies = db.prepare(MetricReads.talliesSql).raw();
    this.#deltas = db.prepare(MetricReads.deltasSql).pluck();
  }

  /** Returns the endpoints of a merchant, deleted ones included. */
  endpoints(merchantId: string): readonly EndpointName[] {
    return this.#endpoints.all(merchantId) as EndpointName[];
  }

  /** Returns what these endpoints have in a part of the query's period. */
  counts(query: FoldedQuery, endpoints: readonly number[], { from, to }: TallyRange): readonly PointCounts[] {
    const fold = new MetricsFold(query);
    for (const endpoint of endpoints)
      for (const [createdAt, cells] of this.#tallies.all(endpoint, from, to) as TallyRow[])
        fold.addEncoded(endpoint, createdAt, cells);
    const pending = new Tallies();
    const wanted = new Set(endpoints);
    for (const bytes of this.#deltas.all(from, to) as Buffer[]) pending.add(bytes, wanted);
    for (const { endpoint, createdAt, cells } of pending.list)
      if (createdAt >= from && createdAt < to) fold.add(endpoint, createdAt, cells);
    return fold.counts;
  }
}
