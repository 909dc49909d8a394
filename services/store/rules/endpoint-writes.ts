import type { Actor, AnswerToStore, Changed } from '../change.ts';
import type {
  EndpointChange,
  EndpointRecord,
  Endpoints,
  HeadersChanged,
  LegacyChange,
  NewEndpoint,
  NotFound,
  UrlTaken,
} from '../endpoints.ts';
import { areOthers, changedColumns, NOT_PREPARED } from '../rows/endpoint-change.ts';
import { type EndpointRow, toEndpoint, toEndpointChange, toEndpointRecord } from '../rows/endpoint-rows.ts';
import { refuseUnsound } from '../rows/record-seals.ts';
import type { Transaction } from '../sql/transaction.ts';
import { storeAnswer } from './answer-writes.ts';
import { tellRotated } from './notices/secret-notices.ts';
import { lockOpenMerchant } from './open-merchant.ts';
import { addToAudit, addToOutbox } from './outbox-writes.ts';
import { selectEndpoint } from './select-endpoint.ts';

/* Changes of endpoints, each with its outbox row, audit entry and stored response. Each takes the merchant's lock first. */

export interface ChangeOptions {
  readonly at: number;
  readonly actor: Actor;
  readonly answer?: AnswerToStore;
}

/** Sets the columns of a prepared secret to none. */
export const NONE_PREPARED = Object.keys(NOT_PREPARED)
  .map((name) => `${name} = NULL`)
  .join(', ');
/** Sets the columns of headers and of the limit to none. */
export const NO_CONTROLS = `header_names = NULL, headers_key_id = NULL, headers_ciphertext = NULL, headers_set_at = NULL,
  requests_per_second = NULL`;

export async function createEndpoint(
  tx: Transaction,
  endpoint: NewEndpoint,
  options: ChangeOptions & { readonly quota: number },
): ReturnType<Endpoints['create']> {
  const { uuid, merchantId, url, description, apiVersion, secret, legacy } = endpoint;
  const { publicKeySignature = false, headers, requestsPerSecond, notices } = endpoint;
  await lockOpenMerchant(tx, merchantId);
  const taken = await urlTaken(tx, merchantId, url);
  if (taken) return taken;
  if (!legacy && (await countOf(tx, merchantId)) >= options.quota) return { kind: 'quota_exceeded' };
  const subscribed = endpoint.subscribedEvents && JSON.stringify(endpoint.subscribedEvents);
  await tx.change((await mayRevive(tx, endpoint)) ? revive(tx) : insert(tx), [
    uuid,
    merchantId,
    url,
    description,
    subscribed,
    apiVersion,
    secret.keyId,
    secret.ciphertext,
    endpoint.secretHint,
    legacy ? 1 : 0,
    Math.floor(options.at),
    ...(endpoint.status === 'disabled'
      ? ['disabled', Math.floor(options.at), 'manual']
      : ['active', null, null]),
    publicKeySignature ? 1 : 0,
    headers ? JSON.stringify(headers.names) : null,
    headers?.sealed.keyId ?? null,
    headers?.sealed.ciphertext ?? null,
    headers ? Math.floor(options.at) : null,
    requestsPerSecond ?? null,
    notices ?? null,
  ]);
  await tx.endpointChanged(uuid, 'kept');
  const told = {
    ...{ url, apiVersion, legacy, ...(publicKeySignature ? { publicKeySignature } : {}) },
    ...(headers ? { headers: headers.names } : {}),
    ...(requestsPerSecond === undefined ? {} : { requestsPerSecond }),
    ...(notices === undefined ? {} : { notices }),
  };
  return changedEndpoint(tx, merchantId, uuid, 'endpoint.create', told, options);
}

export async function updateEndpoint(
  tx: Transaction,
  merchantId: string,
  uuid: string,
  change: EndpointChange & Pick<LegacyChange, 'secret'>,
  options: ChangeOptions,
): Promise<Changed<EndpointRecord> | UrlTaken | NotFound | HeadersChanged> {
  await tx.lockMerchant(merchantId);
  const row = await soundRow(tx, merchantId, uuid);
  if (!row) return { kind: 'not_found' };
  if (change.headers && areOthers(row, change.headers)) return { kind: 'headers_changed' };
  const { columns, resetsHealth } = changedColumns(row, change, Math.floor(options.at));
  const taken = columns.url === row.url ? undefined : await urlTaken(tx, merchantId, columns.url);
  if (taken) return taken;
  const names = Object.keys(columns);
  const set = names.map((name, index) => `${name} = $${index + 2}`).join(', ');
  await tx.change(
    `UPDATE endpoint SET ${set}, version = ${tx.dialect.nextVersion('version')} WHERE seq = $1`,
    [row.seq, ...Object.values(columns)],
  );
  await tx.endpointChanged(uuid, resetsHealth ? 'none' : 'kept');
  const { secret, headers, ...told } = change;
  if (secret) await tellRotated(tx, row, secret.hint, options.at);
  const details = {
    ...told,
    ...(headers ? { headers: headers.to?.names ?? [] } : {}),
    ...(secret ? { sealedWith: secret.sealed.keyId } : {}),
  };
  return changedEndpoint(tx, merchantId, uuid, 'endpoint.update', details, options);
}

export async function removeEndpoint(
  tx: Transaction,
  merchantId: string,
  uuid: string,
  { at, actor }: ChangeOptions,
): Promise<{ readonly kind: 'ok'; readonly outboxId: number } | NotFound> {
  await tx.lockMerchant(merchantId);
  const row = await lockedRow(tx, merchantId, uuid);
  if (!row) return { kind: 'not_found' };
  const deleted = await tx.first<Pick<EndpointRow, 'version'>>(
    `UPDATE endpoint SET deleted_at = $2, updated_at = $2, secret_ciphertext = '', secret_hint = '',
     ${NONE_PREPARED}, ${NO_CONTROLS}, newest_check = NULL, version = ${tx.dialect.nextVersion('version')} WHERE seq = $1 RETURNING version`,
    [row.seq, Math.floor(at)],
  );
  await tx.endpointChanged(uuid, 'deleted');
  const { version } = deleted ?? row;
  const outboxId = await addToOutbox(tx, { kind: 'endpoint', id: uuid, version, value: null });
  const details = { url: row.url };
  await addToAudit(tx, { at, actor, merchantId, endpointId: uuid, action: 'endpoint.delete', details });
  return { kind: 'ok', outboxId };
}

/** Returns the endpoint, and keeps the recorder from changing it until the transaction ends. */
function lockedRow(tx: Transaction, merchantId: string, uuid: string): Promise<EndpointRow | undefined> {
  return tx.first<EndpointRow>(
    `${selectEndpoint(tx.dialect, 'e.uuid = $1 AND e.merchant_id = $2')} ${tx.dialect.forUpdate('e')}`,
    [uuid, merchantId],
  );
}

/** Returns the endpoint, locked, to build a change on. Throws RecordRefused. */
export async function soundRow(
  tx: Transaction,
  merchantId: string,
  uuid: string,
): Promise<EndpointRow | undefined> {
  const row = await lockedRow(tx, merchantId, uuid);
  if (row) refuseUnsound(tx.seals, toEndpointChange({ ...row, deleted_at: null }));
  return row;
}

/** Returns the endpoint that has the URL, be it managed or legacy: one URL never has two secrets. */
async function urlTaken(tx: Transaction, merchantId: string, url: string): Promise<UrlTaken | undefined> {
  const row = await tx.first<{ readonly uuid: string }>(
    'SELECT uuid FROM endpoint WHERE merchant_id = $1 AND url = $2 AND deleted_at IS NULL',
    [merchantId, url],
  );
  return row && { kind: 'url_taken', existingUuid: row.uuid };
}

async function countOf(tx: Transaction, merchantId: string): Promise<number> {
  const row = await tx.first<{ readonly count: number }>(
    'SELECT count(*) AS count FROM endpoint WHERE merchant_id = $1 AND deleted_at IS NULL AND legacy = 0',
    [merchantId],
  );
  return row?.count ?? 0;
}

/**
 * The legacy operation has one fixed uuid per merchant, which is used again after a delete: its version keeps growing, so
 * that followers accept the new one. Any other uuid is used once.
 */
async function mayRevive(tx: Transaction, { uuid, merchantId, legacy }: NewEndpoint): Promise<boolean> {
  const known = await tx.first<{ merchant_id: string; legacy: number; deleted_at: number | null }>(
    `SELECT merchant_id, legacy, deleted_at FROM endpoint WHERE uuid = $1 ${tx.dialect.forUpdate()}`,
    [uuid],
  );
  if (!known) return false;
  // Without a merchant: the directory stream did not name it (directory-restore.ts).
  const isOwn = known.merchant_id === merchantId || known.merchant_id === '';
  if (legacy && known.legacy === 1 && isOwn && known.deleted_at !== null) return true;
  throw new Error(`endpoint ${uuid} exists or existed before: a new endpoint needs a new uuid`);
}

/** Adds what accompanies a change of an endpoint, and returns the record that it made. */
export async function changedEndpoint(
  tx: Transaction,
  merchantId: string,
  uuid: string,
  action: string,
  details: Readonly<Record<string, unknown>>,
  { at, actor, answer }: ChangeOptions,
): Promise<Changed<EndpointRecord>> {
  const row = await tx.first<EndpointRow>(selectEndpoint(tx.dialect, 'e.uuid = $1'), [uuid]);
  if (!row) throw new Error(`endpoint ${uuid} is gone within its own change`);
  const value = toEndpoint(row);
  const outboxId = await addToOutbox(tx, { kind: 'endpoint', id: uuid, version: row.version, value });
  await addToAudit(tx, { at, actor, merchantId, endpointId: uuid, action, details });
  if (answer) await storeAnswer(tx, answer, outboxId, at);
  return { kind: 'ok', record: toEndpointRecord(row), outboxId };
}

function insert({ dialect }: Transaction): string {
  return `INSERT INTO endpoint (uuid, merchant_id, url, description, subscribed_events, api_version,
    secret_key_id, secret_ciphertext, secret_hint, legacy, version, created_at, updated_at, activated_at, status,
    disabled_at, disabled_reason, public_key_signature, header_names, headers_key_id, headers_ciphertext,
    headers_set_at, requests_per_second, notices)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, ${dialect.nextVersion('0')}, $11, $11, $11, $12, $13, $14, $15,
    $16, $17, $18, $19, $20, $21)`;
}

function revive({ dialect }: Transaction): string {
  return `UPDATE endpoint SET ${dialect.newNumber} merchant_id = $2, url = $3, description = $4,
    subscribed_events = $5, api_version = $6, secret_key_id = $7, secret_ciphertext = $8, secret_hint = $9,
    secret_rotated_at = NULL, version = ${dialect.nextVersion('version')}, created_at = $11,
    updated_at = $11, activated_at = $11, status = $12, disabled_at = $13, disabled_reason = $14,
    public_key_signature = $15, header_names = $16, headers_key_id = $17, headers_ciphertext = $18,
    headers_set_at = $19, requests_per_second = $20, notices = $21, deleted_at = NULL
    WHERE uuid = $1 AND legacy = $10`;
}
