import type { Changed } from '../change.ts';
import type { EndpointRecord, Endpoints, NotFound, SecretToStore } from '../endpoints.ts';
import { type EndpointRow, preparedOf, toEndpointRecord } from '../rows/endpoint-rows.ts';
import type { Transaction } from '../sql/transaction.ts';
import { type ChangeOptions, changedEndpoint, NONE_PREPARED, soundRow } from './endpoint-writes.ts';
import { tellRotated } from './notices/secret-notices.ts';

/* Changes of an endpoint's secrets: the one in force, and the one that is prepared for the next rotation. */

const NO_VALUES = [null, null, null, null];

type RotateOptions = Parameters<Endpoints['rotate']>[3];

export async function rotateEndpoint(
  tx: Transaction,
  merchantId: string,
  uuid: string,
  { sealed, hint }: SecretToStore,
  { seen, ...options }: RotateOptions,
): ReturnType<Endpoints['rotate']> {
  await tx.lockMerchant(merchantId);
  const row = await soundRow(tx, merchantId, uuid);
  if (!row) return { kind: 'not_found' };
  if (seen !== undefined && isAnother(row, seen)) return { kind: 'prepared_changed' };
  await tx.change(
    `UPDATE endpoint SET secret_key_id = $2, secret_ciphertext = $3, secret_hint = $4, secret_rotated_at = $5,
     updated_at = $5, ${NONE_PREPARED}, version = ${tx.dialect.nextVersion('version')} WHERE seq = $1`,
    [row.seq, sealed.keyId, sealed.ciphertext, hint, Math.floor(options.at)],
  );
  await tx.endpointChanged(uuid, 'kept');
  await tellRotated(tx, row, hint, options.at);
  const details = { sealedWith: sealed.keyId, ...(seen ? { prepared: true } : {}) };
  return changedEndpoint(tx, merchantId, uuid, 'endpoint.rotate', details, options);
}

/** Keeps a secret for the next rotation, or (null) discards the one that is kept. */
export async function prepareSecret(
  tx: Transaction,
  merchantId: string,
  uuid: string,
  secret: SecretToStore | null,
  options: ChangeOptions,
): Promise<Changed<EndpointRecord> | NotFound> {
  await tx.lockMerchant(merchantId);
  const row = await soundRow(tx, merchantId, uuid);
  if (!row) return { kind: 'not_found' };
  // Nothing is published, so there is nothing to wait for.
  if (secret === null && row.prepared_ciphertext === null)
    return { kind: 'ok', record: toEndpointRecord(row), outboxId: 0 };
  const at = Math.floor(options.at);
  // Not updated_at: what is sent to the endpoint is the same.
  await tx.change(
    `UPDATE endpoint SET prepared_key_id = $2, prepared_ciphertext = $3, prepared_hint = $4, prepared_at = $5,
     version = ${tx.dialect.nextVersion('version')} WHERE seq = $1`,
    [row.seq, ...(secret ? [secret.sealed.keyId, secret.sealed.ciphertext, secret.hint, at] : NO_VALUES)],
  );
  await tx.endpointChanged(uuid, 'kept');
  const action = secret === null ? 'endpoint.discard_prepared' : 'endpoint.prepare';
  const details = secret === null ? {} : { sealedWith: secret.sealed.keyId };
  return changedEndpoint(tx, merchantId, uuid, action, details, options);
}

function isAnother(row: EndpointRow, seen: RotateOptions['seen']): boolean {
  const { prepared } = preparedOf(row);
  return prepared?.keyId !== seen?.keyId || prepared?.ciphertext !== seen?.ciphertext;
}
