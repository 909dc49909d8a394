import { disableReason, type Health, type HealthPolicy, observe } from '../../../domain/health.ts';
import type { Observed } from '../../log/log-rows.ts';
import { type EndpointRow, toEndpoint, toEndpointChange, toHealth } from '../../rows/endpoint-rows.ts';
import { switchedOff } from '../../rows/record-seals.ts';
import { addSealedToOutbox, addToAudit, writeSeal } from '../../rules/outbox-writes.ts';
import { SELECT_ENDPOINT } from '../client/select-endpoint.ts';
import type { Transaction } from '../client/statements.ts';

type HealthRow = EndpointRow & { readonly health_generation: number };

/**
 * Folds a batch's attempts into the health of their endpoints, and switches off those that only fail. Returns whether
 * there were any.
 */
export async function writeHealth(
  tx: Transaction,
  observed: readonly Observed[],
  policy: HealthPolicy,
): Promise<boolean> {
  if (observed.length === 0) return false;
  const byEndpoint = new Map<string, Observed[]>();
  for (const each of observed) {
    const ofEndpoint = byEndpoint.get(each.endpointId);
    if (ofEndpoint) ofEndpoint.push(each);
    else byEndpoint.set(each.endpointId, [each]);
  }
  const rows = await lockedRows(tx, [...byEndpoint.keys()]);
  const folded = rows.map((row) => fold(row, byEndpoint.get(row.uuid) ?? [], policy));
  await write(tx, folded);
  for (const { row, off } of folded) if (off) await switchOff(tx, row, off);
  return folded.some(({ off }) => off !== null);
}

/**
 * Returns the endpoints with their health, which no other recorder changes until the transaction ends. The health of all
 * is locked in one order, and before the endpoint of any: nobody waits in a circle.
 */
async function lockedRows(tx: Transaction, uuids: readonly string[]): Promise<readonly HealthRow[]> {
  await tx.change(
    `INSERT INTO endpoint_health (endpoint, generation, failure_count, exhausted_count)
     SELECT seq, health_generation, 0, 0 FROM endpoint WHERE uuid = ANY($1::text[]) AND deleted_at IS NULL
     ORDER BY seq ON CONFLICT DO NOTHING`,
    [uuids],
  );
  await tx.rows(
    `SELECT 1 FROM endpoint_health WHERE endpoint IN (SELECT seq FROM endpoint WHERE uuid = ANY($1::text[]))
     ORDER BY endpoint FOR UPDATE`,
    [uuids],
  );
  return tx.rows<HealthRow>(`${SELECT_ENDPOINT} AND e.uuid = ANY($1::text[]) ORDER BY e.seq`, [uuids]);
}

interface SwitchedOff {
  readonly at: number;
  readonly reason: 'gone' | 'consecutive_failures';
  readonly count: number;
}

interface Folded {
  readonly row: HealthRow;
  readonly health: Health;
  readonly off: SwitchedOff | null;
}

function fold(row: HealthRow, observed: readonly Observed[], policy: HealthPolicy): Folded {
  let health = toHealth(row);
  let { version, status } = row;
  let off: SwitchedOff | null = null;
  for (const each of observed) {
    // An older version does not count for the present one.
    if (each.version < version) continue;
    health = observe(health, each.seen);
    if (status !== 'active') continue;
    const reason = disableReason(health, each.seen, row.activated_at, policy);
    if (reason === null) continue;
    off = { at: Math.floor(each.seen.endedAt), reason, count: health.failureCount };
    version += 1;
    status = 'auto_disabled';
  }
  return { row, health, off };
}

/** Writes the health of all in one statement. */
async function write(tx: Transaction, folded: readonly Folded[]): Promise<void> {
  const column = (of: (each: Folded) => unknown) => folded.map(of);
  await tx.change(
    `UPDATE endpoint_health h SET generation = u.generation, failure_count = u.failure_count,
     exhausted_count = u.exhausted_count, last_success_at = u.last_success_at, last_failure_at = u.last_failure_at,
     last_failure_code = u.last_failure_code, last_failure_status = u.last_failure_status
     FROM unnest($1::bigint[], $2::int[], $3::bigint[], $4::bigint[], $5::float8[], $6::float8[], $7::text[], $8::int[])
     AS u (endpoint, generation, failure_count, exhausted_count, last_success_at, last_failure_at, last_failure_code,
     last_failure_status) WHERE h.endpoint = u.endpoint`,
    [
      column(({ row }) => row.seq),
      column(({ row }) => row.health_generation),
      column(({ health }) => health.failureCount),
      column(({ health }) => health.exhaustedCount),
      column(({ health }) => health.lastSuccessAt),
      column(({ health }) => health.lastFailureAt),
      column(({ health }) => health.lastFailure?.code ?? null),
      column(({ health }) => health.lastFailure?.responseStatus ?? null),
    ],
  );
}

async function switchOff(tx: Transaction, row: HealthRow, { at, reason, count }: SwitchedOff): Promise<void> {
  const { seq, uuid, merchant_id: merchantId, version } = row;
  // Compare and set: any other change of the endpoint has raised its version.
  const changed = await tx.first<Pick<EndpointRow, 'version'>>(
    `UPDATE endpoint SET status = 'auto_disabled', disabled_at = $2, disabled_reason = $3, updated_at = $2,
     version = next_version(version) WHERE seq = $1 AND version = $4 AND status = 'active' AND deleted_at IS NULL
     RETURNING version`,
    [seq, at, reason, version],
  );
  if (!changed) return;
  const value = { ...toEndpoint(row), ...changed, status: 'auto_disabled' } as const;
  const change = { kind: 'endpoint', id: uuid, version: changed.version, value } as const;
  const sealed = switchedOff(tx.seals, change, toEndpointChange({ ...row, deleted_at: null }));
  await writeSeal(tx, sealed);
  await addSealedToOutbox(tx, sealed);
  await addToAudit(tx, {
    at,
    actor: { kind: 'system' },
    merchantId,
    endpointId: uuid,
    action: 'endpoint.auto_disable',
    details: { reason, failureCount: count },
  });
}
