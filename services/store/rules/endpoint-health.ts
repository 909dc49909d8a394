import { disableReason, type Health, type HealthPolicy, observe } from '../../domain/health.ts';
import type { Observed } from '../log/log-rows.ts';
import { type EndpointRow, toEndpoint, toEndpointChange, toHealth } from '../rows/endpoint-rows.ts';
import { switchedOff } from '../rows/record-seals.ts';
import type { Transaction } from '../sql/transaction.ts';
import { addSealedToOutbox, addToAudit, writeSeal } from './outbox-writes.ts';

interface SwitchedOff {
  readonly at: number;
  readonly reason: 'gone' | 'consecutive_failures';
  readonly failures: number;
}

/** The health of an endpoint, folded from what a batch observed, in memory. */
export class HealthFold<Row extends EndpointRow = EndpointRow> {
  /** As it was read. */
  readonly row: Row;
  health: Health;
  /** The endpoint only fails, and is to be switched off. */
  off: SwitchedOff | null = null;
  #version: number;
  #status: string;

  constructor(row: Row) {
    this.row = row;
    this.health = toHealth(row);
    this.#version = row.version;
    this.#status = row.status;
  }

  /** Returns false when it was observed of an earlier version, which does not count for the present one. */
  observe({ version, seen }: Observed, policy: HealthPolicy): boolean {
    if (version < this.#version) return false;
    this.health = observe(this.health, seen);
    if (this.#status !== 'active') return true;
    const reason = disableReason(this.health, seen, this.row.activated_at, policy);
    if (reason !== null) {
      this.off = { at: Math.floor(seen.endedAt), reason, failures: this.health.failureCount };
      this.#version += 1;
      this.#status = 'auto_disabled';
    }
    return true;
  }

  /** Switches the endpoint off, unless it was changed since it was read. */
  async switchOff(tx: Transaction): Promise<void> {
    const { row, off } = this;
    if (off === null) return;
    // Compare and set: any other change of the endpoint has raised its version.
    const changed = await tx.first<Pick<EndpointRow, 'version'>>(
      `UPDATE endpoint SET status = 'auto_disabled', disabled_at = $2, disabled_reason = $3, updated_at = $2,
       version = ${tx.dialect.nextVersion('version')}
       WHERE seq = $1 AND version = $4 AND status = 'active' AND deleted_at IS NULL RETURNING version`,
      [row.seq, off.at, off.reason, row.version],
    );
    if (!changed) return;
    const { uuid, merchant_id: merchantId } = row;
    const value = { ...toEndpoint(row), ...changed, status: 'auto_disabled' } as const;
    const change = { kind: 'endpoint', id: uuid, version: changed.version, value } as const;
    const sealed = switchedOff(tx.seals, change, toEndpointChange({ ...row, deleted_at: null }));
    await writeSeal(tx, sealed);
    await addSealedToOutbox(tx, sealed);
    await tx.endpointChanged(uuid, 'kept');
    await addToAudit(tx, {
      at: off.at,
      actor: { kind: 'system' },
      merchantId,
      endpointId: uuid,
      action: 'endpoint.auto_disable',
      details: { reason: off.reason, failureCount: off.failures },
    });
  }
}
