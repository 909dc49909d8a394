import type { Actor } from '../change.ts';
import type { Resealed } from '../maintenance.ts';
import { type EndpointRow, toEndpoint, toEndpointChange } from '../rows/endpoint-rows.ts';
import { isSound } from '../rows/record-seals.ts';
import type { Transaction } from '../sql/transaction.ts';
import { addToAudit, addToOutbox } from './outbox-writes.ts';
import { SECRET_COLUMNS } from './reads/sealings.ts';
import { selectEndpoint } from './select-endpoint.ts';

/**
 * Replaces secrets with newly sealed ones. Compare and set by the sealed text itself: a rotation in between has changed
 * that text, and wins; any other change of the endpoint does not matter.
 */
export async function replaceSealed(
  tx: Transaction,
  things: readonly Resealed[],
  { at, actor }: { readonly at: number; readonly actor: Actor },
): Promise<{ readonly endpoints: number; readonly answers: number }> {
  let endpoints = 0;
  let answers = 0;
  // In one order, so that two that replace do not wait in a circle.
  for (const thing of [...things].sort((one, other) => (one.id < other.id ? -1 : 1))) {
    if (thing.kind === 'answer') answers += await replaceAnswer(tx, thing);
    else endpoints += await replaceSecret(tx, SECRET_COLUMNS[thing.kind], thing);
  }
  if (endpoints + answers > 0) {
    const details = { sealedWith: things[0]?.resealed.keyId, endpoints, answers };
    await addToAudit(tx, { at, actor, merchantId: null, action: 'keyring.rewrap', details });
  }
  return { endpoints, answers };
}

async function replaceSecret(
  tx: Transaction,
  column: (typeof SECRET_COLUMNS)[keyof typeof SECRET_COLUMNS],
  { id, sealed, resealed }: Resealed,
): Promise<number> {
  const stored = await tx.first<EndpointRow>(
    `${selectEndpoint(tx.dialect, 'e.uuid = $1')} ${tx.dialect.forUpdate('e')}`,
    [id],
  );
  if (!stored || !isSound(tx.seals, toEndpointChange({ ...stored, deleted_at: null }))) return 0;
  // Not updated_at, which merchants see: the secret is the same.
  const replaced = await tx.change(
    `UPDATE endpoint SET ${column}_key_id = $2, ${column}_ciphertext = $3, version = ${tx.dialect.nextVersion('version')}
     WHERE uuid = $1 AND ${column}_key_id = $4 AND ${column}_ciphertext = $5 AND deleted_at IS NULL`,
    [id, resealed.keyId, resealed.ciphertext, sealed.keyId, sealed.ciphertext],
  );
  if (replaced === 0) return 0;
  await tx.endpointChanged(id, 'kept');
  const row = await tx.first<EndpointRow>(selectEndpoint(tx.dialect, 'e.uuid = $1'), [id]);
  if (!row) throw new Error(`endpoint ${id} is gone within its own change`);
  await addToOutbox(tx, { kind: 'endpoint', id, version: row.version, value: toEndpoint(row) });
  return 1;
}

function replaceAnswer(tx: Transaction, { id, sealed, resealed }: Resealed): Promise<number> {
  return tx.change('UPDATE answer SET sealed = $3 WHERE scope = $1 AND sealed = $2', [
    id,
    JSON.stringify(sealed),
    JSON.stringify(resealed),
  ]);
}
