import { disableReason, type Health, type HealthPolicy, observe } from '../../domain/health.ts';
import type { Observed } from '../log/log-rows.ts';
import { type EndpointRow, toEndpoint, toEndpointChange, toHealth } from '../rows/endpoint-rows.ts';
import { switchedOff } from '../rows/record-seals.ts';
import type { Transaction } from '../sql/transaction.ts';
import { type Exhausted, type SwitchedOff, tellDisabled, tellHealth } from './notices/health-notices.ts';
import { addSealedToOutbox, addToAudit, writeSeal } from './outbox-writes.ts';

/** The health of an endpoint, folded from what a batch observed, in memory. */
export class HealthFold<Row extends EndpointRow = EndpointRow> {
  /** As it was read. */
  readonly row: Row;
  health: Health;
  /** The endpoint only fails, and is to be switched off. */
  off: SwitchedOff | null = null;
  /** As it was written last. */
  #before: Health;
  /** Of the batch. */
  #exhausted: Exhausted | null = null;
  #version: number;
  #status: string;

  constructor(row: Row) {
    this.row = row;
    this.health = toHealth(row);
    this.#before = this.health;
    this.#version = row.version;
    this.#status = row.status;
  }

  /**
   * Returns false when nothing is to be written: it was observed of an earlier version, which does not count for the
   * present one, and is not the end of a delivery.
   */
  observe({ version, seen }: Observed, policy: HealthPolicy): boolean {
    const hasEnded = seen.kind === 'failure' && seen.isLast && seen.code !== 'endpoint_gone';
    if (hasEnded) {
      const { count, at } = this.#exhausted ?? { count: 0, at: seen.endedAt };
      this.#exhausted = { count: count + 1, at, lastAt: seen.endedAt };
    }
    if (version < this.#version) return hasEnded;
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

  /** Carries out what follows from the batch, once the health is written: the switching off, and the notices. */
  async settle(tx: Transaction, policy: HealthPolicy): Promise<void> {
    const { row, health: after, off } = this;
    const change = {
      row,
      before: this.#before,
      after,
      isOff: off !== null,
      exhausted: this.#exhausted,
      policy,
    };
    this.#before = after;
    this.#exhausted = null;
    if (off !== null) await this.#switchOff(tx, off);
    await tellHealth(tx, change);
  }

  /** Switches the endpoint off, unless it was changed since it was read. */
  async #switchOff(tx: Transaction, off: SwitchedOff): Promise<void> {
    const { row } = this;
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
    await tellDisabled(tx, row, this.health, off);
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
