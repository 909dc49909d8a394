import type { Database } from 'better-sqlite3';
import type { DirectoryChange } from '../../../domain/directory.ts';
import { disableReason, type Health, type HealthPolicy, observe } from '../../../domain/health.ts';
import type { RecordSeals } from '../../../domain/seals/record-seals.ts';
import type { Observed } from '../../log/log-rows.ts';
import type { AddedAuditEntry } from '../../maintenance.ts';
import { type EndpointRow, toEndpoint, toEndpointChange, toHealth } from '../../rows/endpoint-rows.ts';
import { switchedOff } from '../../rows/record-seals.ts';
import { addSealedToOutbox, addToAudit, writeSeal } from '../../rules/outbox-writes.ts';
import type { Transaction } from '../../sql/transaction.ts';
import { SELECT_ENDPOINT } from '../select-endpoint.ts';

/** Endpoints kept in memory; others are read again. */
const ENTRIES_MAX = 50_000;

interface Entry {
  readonly row: EndpointRow;
  health: Health;
  /** Observations with a lower version are stale. It grows when the endpoint is disabled here. */
  version: number;
  status: string;
  isChanged: boolean;
}

/**
 * The endpoints' health according to the journal. Folded in memory, written once per endpoint and batch, in the batch's
 * transaction. Any other change of an endpoint must call `forget`.
 */
export class EndpointHealth {
  readonly #entries = new Map<string, Entry | null>();
  readonly #changed: Entry[] = [];
  /** Endpoints that the batch has disabled, to be told when it ends. */
  readonly #disabled: { readonly change: DirectoryChange; readonly audited: AddedAuditEntry }[] = [];
  readonly #policy: HealthPolicy;
  readonly #seals: RecordSeals | null;
  readonly #select;
  readonly #write;
  readonly #disable;

  constructor(db: Database, seals: RecordSeals | null, policy: HealthPolicy) {
    this.#policy = policy;
    this.#seals = seals;
    this.#select = db.prepare(`${SELECT_ENDPOINT} AND e.uuid = ?`);
    this.#write = db.prepare(
      `INSERT INTO endpoint_health VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (endpoint) DO UPDATE SET
       failure_count = excluded.failure_count, exhausted_count = excluded.exhausted_count,
       last_success_at = excluded.last_success_at, last_failure_at = excluded.last_failure_at,
       last_failure_code = excluded.last_failure_code, last_failure_status = excluded.last_failure_status`,
    );
    this.#disable = db.prepare(
      `UPDATE endpoint SET status = 'auto_disabled', disabled_at = :at, disabled_reason = :reason, updated_at
       = :at,
       version = version + 1 WHERE seq = :seq AND version = :version AND status = 'active' AND deleted_at IS
        NULL`,
    );
  }

  observe({ endpointId, version, seen }: Observed): void {
    const entry = this.#entry(endpointId);
    if (!entry || version < entry.version) return;
    if (!entry.isChanged) {
      entry.isChanged = true;
      this.#changed.push(entry);
    }
    entry.health = observe(entry.health, seen);
    if (entry.status !== 'active') return;
    const reason = disableReason(entry.health, seen, entry.row.activated_at, this.#policy);
    if (reason !== null) this.#switchOff(entry, Math.floor(seen.endedAt), reason);
  }

  /** Writes the changes of the batch. */
  async flush(tx: Transaction): Promise<void> {
    for (const entry of this.#changed) {
      const { failureCount, exhaustedCount, lastSuccessAt, lastFailureAt, lastFailure } = entry.health;
      const code = lastFailure?.code ?? null;
      const status = lastFailure?.responseStatus ?? null;
      this.#write.run(
        entry.row.seq,
        failureCount,
        exhaustedCount,
        lastSuccessAt,
        lastFailureAt,
        code,
        status,
      );
      entry.isChanged = false;
    }
    this.#changed.length = 0;
    for (const { change, audited } of this.#disabled.splice(0)) {
      await writeSeal(tx, change);
      await addSealedToOutbox(tx, change);
      await addToAudit(tx, audited);
    }
    if (this.#entries.size > ENTRIES_MAX) this.#entries.clear();
  }

  /** The endpoint was changed elsewhere. */
  forget(endpointId: string): void {
    this.#entries.delete(endpointId);
  }

  /** The transaction was rolled back: the memory differs from the file. */
  forgetAll(): void {
    this.#entries.clear();
    this.#changed.length = 0;
    this.#disabled.length = 0;
  }

  #switchOff(entry: Entry, at: number, reason: 'gone' | 'consecutive_failures'): void {
    // Compare and set: any other change of the endpoint would have raised its version.
    const { seq, uuid, merchant_id: merchantId } = entry.row;
    if (this.#disable.run({ at, reason, seq, version: entry.version }).changes === 0) return;
    entry.version += 1;
    entry.status = 'auto_disabled';
    const value = { ...toEndpoint(entry.row), status: 'auto_disabled', version: entry.version } as const;
    const change = { kind: 'endpoint', id: uuid, version: entry.version, value } as const;
    const stored = toEndpointChange({ ...entry.row, deleted_at: null });
    this.#disabled.push({
      change: switchedOff(this.#seals, change, stored),
      audited: {
        at,
        actor: { kind: 'system' },
        merchantId,
        endpointId: uuid,
        action: 'endpoint.auto_disable',
        details: { reason, failureCount: entry.health.failureCount },
      },
    });
  }

  #entry(endpointId: string): Entry | null {
    const known = this.#entries.get(endpointId);
    if (known !== undefined) return known;
    const row = this.#select.get(endpointId) as EndpointRow | undefined;
    const entry = row
      ? { row, health: toHealth(row), version: row.version, status: row.status, isChanged: false }
      : null;
    this.#entries.set(endpointId, entry);
    return entry;
  }
}
