import type { Database } from 'better-sqlite3';
import type { HealthPolicy } from '../../../domain/health.ts';
import type { Observed } from '../../log/log-rows.ts';
import type { EndpointRow } from '../../rows/endpoint-rows.ts';
import { HealthFold } from '../../rules/endpoint-health.ts';
import { selectEndpoint } from '../../rules/select-endpoint.ts';
import type { Transaction } from '../../sql/transaction.ts';
import { SQLITE_DIALECT } from '../statements.ts';

/** Endpoints kept in memory; others are read again. */
const ENTRIES_MAX = 50_000;

/**
 * The endpoints' health according to the journal. Folded in memory, written once per endpoint and batch, in the batch's
 * transaction. Any other change of an endpoint must call `forget`.
 */
export class EndpointHealth {
  readonly #folds = new Map<string, HealthFold | null>();
  readonly #changed = new Set<HealthFold>();
  readonly #policy: HealthPolicy;
  readonly #select;
  readonly #write;

  constructor(db: Database, policy: HealthPolicy) {
    this.#policy = policy;
    this.#select = db.prepare(selectEndpoint(SQLITE_DIALECT, 'e.uuid = ?'));
    this.#write = db.prepare(
      `INSERT INTO endpoint_health VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (endpoint) DO UPDATE SET
       failure_count = excluded.failure_count, exhausted_count = excluded.exhausted_count,
       last_success_at = excluded.last_success_at, last_failure_at = excluded.last_failure_at,
       last_failure_code = excluded.last_failure_code, last_failure_status = excluded.last_failure_status`,
    );
  }

  observe(observed: Observed): void {
    const fold = this.#fold(observed.endpointId);
    if (fold?.observe(observed, this.#policy)) this.#changed.add(fold);
  }

  /** Writes the changes of the batch. */
  async flush(tx: Transaction): Promise<void> {
    for (const { row, health } of this.#changed) {
      const { failureCount, exhaustedCount, lastSuccessAt, lastFailureAt, lastFailure } = health;
      const code = lastFailure?.code ?? null;
      const status = lastFailure?.responseStatus ?? null;
      this.#write.run(row.seq, failureCount, exhaustedCount, lastSuccessAt, lastFailureAt, code, status);
    }
    for (const fold of this.#changed) await fold.settle(tx, this.#policy);
    this.#changed.clear();
    if (this.#folds.size > ENTRIES_MAX) this.#folds.clear();
  }

  /** The endpoint was changed elsewhere. */
  forget(endpointId: string): void {
    this.#folds.delete(endpointId);
  }

  /** The transaction was rolled back: the memory differs from the file. */
  forgetAll(): void {
    this.#folds.clear();
    this.#changed.clear();
  }

  #fold(endpointId: string): HealthFold | null {
    const known = this.#folds.get(endpointId);
    if (known !== undefined) return known;
    const row = this.#select.get(endpointId) as EndpointRow | undefined;
    const fold = row ? new HealthFold(row) : null;
    this.#folds.set(endpointId, fold);
    return fold;
  }
}
