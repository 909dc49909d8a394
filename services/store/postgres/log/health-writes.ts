import type { HealthPolicy } from '../../../domain/health.ts';
import type { Observed } from '../../log/log-rows.ts';
import type { EndpointRow } from '../../rows/endpoint-rows.ts';
import { HealthFold } from '../../rules/endpoint-health.ts';
import { selectEndpoint } from '../../rules/select-endpoint.ts';
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
  const folded = rows.map((row) => {
    const fold = new HealthFold(row);
    for (const each of byEndpoint.get(row.uuid) ?? []) fold.observe(each, policy);
    return fold;
  });
  await write(tx, folded);
  for (const each of folded) await each.settle(tx, policy);
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
  return tx.rows<HealthRow>(`${selectEndpoint(tx.dialect, 'e.uuid = ANY($1::text[])')} ORDER BY e.seq`, [
    uuids,
  ]);
}

type Folded = HealthFold<HealthRow>;

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
