import type { DirectoryChange } from '../../domain/directory.ts';
import type { Endpoint } from '../../domain/endpoint.ts';
import { isMadeOfParts } from '../../domain/ids.ts';
import type { Merchant } from '../../domain/merchant.ts';
import { type EndpointRow, HINT_UNKNOWN, toEndpointChange } from '../rows/endpoint-rows.ts';
import { MERCHANT_COLUMNS, type MerchantRow, toMerchantChange } from '../rows/merchant-rows.ts';
import { isSound } from '../rows/record-seals.ts';
import type { Transaction } from '../sql/transaction.ts';
import { NO_CONTROLS, NONE_PREPARED } from './endpoint-writes.ts';
import { addSealedToOutbox, addToAudit, writeSeal } from './outbox-writes.ts';
import { selectEveryEndpoint } from './select-endpoint.ts';

type EndpointUpdate = Extract<DirectoryChange, { readonly kind: 'endpoint' }>;

/**
 * Writes changes of the DIRECTORY stream that are newer than this database. None is published. Returns how
 * many were newer.
 */
export async function adoptChanges(
  tx: Transaction,
  changes: readonly DirectoryChange[],
  now: number,
): Promise<number> {
  const at = Math.floor(now);
  await lockAll(tx, changes);
  const newer: EndpointUpdate[] = [];
  for (const change of changes)
    if (change.kind === 'endpoint' && (await isNewerEndpoint(tx, change))) newer.push(change);
  // Endpoints may have exchanged URLs: first all release theirs, then each takes its new one.
  const uuids = newer.map(({ id }) => id);
  const isNewer = tx.dialect.among('uuid', '$1', 'text');
  await tx.change(`UPDATE endpoint SET deleted_at = $2 WHERE ${isNewer}`, [tx.dialect.list(uuids), at]);
  for (const { id, version, value } of newer) {
    if (value) await writeEndpoint(tx, value, at);
    else await writeTombstone(tx, id, version, at);
    await tx.endpointChanged(id, value ? 'none' : 'kept');
  }
  for (const change of newer) {
    await writeSeal(tx, change);
    await note(tx, 'endpoint.adopt', change, at);
  }
  let merchants = 0;
  for (const change of changes) {
    // Merchants are never deleted.
    if (change.kind !== 'merchant' || !change.value || !(await takeMerchant(tx, change, change.value)))
      continue;
    await writeSeal(tx, change);
    merchants += 1;
    await note(tx, 'merchant.adopt', change, at);
  }
  return newer.length + merchants;
}

/** Keeps other changes out: of the merchants, and of the endpoints' rows. In one order, so that nobody waits in a circle. */
async function lockAll(tx: Transaction, changes: readonly DirectoryChange[]): Promise<void> {
  const uuids = changes.flatMap(({ kind, id }) => (kind === 'endpoint' ? [id] : []));
  const isChanged = tx.dialect.among('uuid', '$1', 'text');
  const values = [tx.dialect.list(uuids)];
  const known = await tx.rows<{ readonly merchant_id: string }>(
    `SELECT DISTINCT merchant_id FROM endpoint WHERE ${isChanged}`,
    values,
  );
  const named = changes.flatMap(({ value }) => (value ? [value.merchantId] : []));
  const merchants = new Set([...named, ...known.map(({ merchant_id }) => merchant_id)]);
  for (const merchantId of [...merchants].sort()) await tx.lockMerchant(merchantId);
  await tx.rows(`SELECT 1 FROM endpoint WHERE ${isChanged} ORDER BY uuid ${tx.dialect.forUpdate()}`, values);
}

async function isNewerEndpoint(tx: Transaction, change: EndpointUpdate): Promise<boolean> {
  const known = await tx.first<EndpointRow & { readonly deleted_at: number | null }>(
    `${selectEveryEndpoint(tx.dialect)} WHERE e.uuid = $1`,
    [change.id],
  );
  if (known !== undefined) return replaces(tx, change, toEndpointChange(known));
  // An endpoint created and deleted after the backup needs no row, unless its id can recur: then its versions keep
  // growing.
  return change.value !== null || isMadeOfParts(change.id);
}

/** Also true in the place of a row that somebody without the key ring has changed. */
function replaces(tx: Transaction, { version }: DirectoryChange, stored: DirectoryChange): boolean {
  return stored.version < version || !isSound(tx.seals, stored);
}

async function writeEndpoint(tx: Transaction, endpoint: Endpoint, at: number): Promise<void> {
  const { uuid, merchantId, url, subscribedEvents, status, apiVersion, secret, prepared, legacy, version } =
    endpoint;
  const { publicKeySignature, headers, requestsPerSecond, notices } = endpoint;
  await tx.change(
    `INSERT INTO endpoint AS e (uuid, merchant_id, url, description, subscribed_events, status, api_version,
     secret_key_id, secret_ciphertext, secret_hint, legacy, version, created_at, updated_at, activated_at,
     disabled_at, public_key_signature, prepared_key_id, prepared_ciphertext, prepared_hint, prepared_at,
     header_names, headers_key_id, headers_ciphertext, headers_set_at, requests_per_second, notices)
     VALUES ($1, $2, $3, '', $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $12, $13, $14, $15, $16, $17, $18, $19, $20,
     $21, $22, $23, $24)
     ON CONFLICT (uuid) DO UPDATE SET merchant_id = excluded.merchant_id, legacy = excluded.legacy,
     url = excluded.url, subscribed_events = excluded.subscribed_events,
     status = excluded.status, api_version = excluded.api_version, activated_at = excluded.activated_at, disabled_at = excluded.disabled_at,
     disabled_reason = NULL, public_key_signature = excluded.public_key_signature, secret_key_id = excluded.secret_key_id,
     secret_hint = CASE WHEN e.secret_ciphertext = excluded.secret_ciphertext THEN e.secret_hint
     ELSE excluded.secret_hint END,
     prepared_key_id = excluded.prepared_key_id,
     prepared_hint = CASE WHEN e.prepared_ciphertext = excluded.prepared_ciphertext THEN e.prepared_hint
     ELSE excluded.prepared_hint END,
     prepared_at = CASE WHEN e.prepared_ciphertext = excluded.prepared_ciphertext THEN e.prepared_at
     ELSE excluded.prepared_at END,
     prepared_ciphertext = excluded.prepared_ciphertext,
     header_names = excluded.header_names, headers_key_id = excluded.headers_key_id,
     headers_set_at = CASE WHEN e.headers_ciphertext = excluded.headers_ciphertext THEN e.headers_set_at
     ELSE excluded.headers_set_at END,
     headers_ciphertext = excluded.headers_ciphertext, requests_per_second = excluded.requests_per_second,
     notices = excluded.notices, newest_check = CASE WHEN e.url = excluded.url THEN e.newest_check END,
     secret_ciphertext = excluded.secret_ciphertext, version = excluded.version,
     updated_at = excluded.updated_at, deleted_at = NULL`,
    [
      uuid,
      merchantId,
      url,
      subscribedEvents && JSON.stringify(subscribedEvents),
      status,
      apiVersion,
      secret.keyId,
      secret.ciphertext,
      HINT_UNKNOWN,
      legacy ? 1 : 0,
      version,
      at,
      status === 'active' ? null : at,
      publicKeySignature ? 1 : 0,
      ...(prepared ? [prepared.keyId, prepared.ciphertext, HINT_UNKNOWN, at] : [null, null, null, null]),
      ...(headers
        ? [JSON.stringify(headers.names), headers.sealed.keyId, headers.sealed.ciphertext, at]
        : [null, null, null, null]),
      requestsPerSecond ?? null,
      notices ?? null,
    ],
  );
}

/** The stream does not name the merchant of a deleted endpoint: nobody reads the row, and only its version matters. */
async function writeTombstone(tx: Transaction, uuid: string, version: number, at: number): Promise<void> {
  await tx.change(
    `INSERT INTO endpoint (uuid, merchant_id, url, description, status, api_version, secret_key_id,
     secret_ciphertext, secret_hint, legacy, version, created_at, updated_at, activated_at, deleted_at)
     VALUES ($1, '', '', '', 'disabled', '2.2.8', '', '', '', 1, $2, $3, $3, $3, $3)
     ON CONFLICT (uuid) DO UPDATE SET deleted_at = excluded.deleted_at, updated_at = excluded.updated_at,
     secret_ciphertext = '', secret_hint = '', ${NONE_PREPARED}, ${NO_CONTROLS}, newest_check = NULL,
     version = excluded.version`,
    [uuid, version, at],
  );
}

async function takeMerchant(tx: Transaction, change: DirectoryChange, merchant: Merchant): Promise<boolean> {
  const { merchantId, name, state, senderAccountDetails, version } = merchant;
  const known = await tx.first<MerchantRow>(
    `SELECT ${MERCHANT_COLUMNS} FROM merchant WHERE merchant_id = $1 ${tx.dialect.forUpdate()}`,
    [merchantId],
  );
  if (known && !replaces(tx, change, toMerchantChange(known))) return false;
  const taken = await tx.change(
    `INSERT INTO merchant AS m (merchant_id, name, state, sender_account_details, version)
     VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (merchant_id) DO UPDATE SET name = excluded.name, state = excluded.state,
     sender_account_details = excluded.sender_account_details, version = excluded.version
     WHERE m.version = $6`,
    [merchantId, name, state, senderAccountDetails ? 1 : 0, version, known?.version ?? 0],
  );
  return taken > 0;
}

async function note(tx: Transaction, action: string, change: DirectoryChange, at: number): Promise<void> {
  const { kind, id, version, value } = change;
  const details = { version, deleted: value === null };
  const actor = { kind: 'system' } as const;
  if (kind === 'merchant') await addToAudit(tx, { at, actor, merchantId: id, action, details });
  else {
    const merchantId = value?.merchantId ?? null;
    await addToAudit(tx, { at, actor, merchantId, endpointId: id, action, details });
  }
}

/** Adds the changes that are still in force to the outbox. Returns how many. */
export async function publishAgain(tx: Transaction, changes: readonly DirectoryChange[]): Promise<number> {
  let added = 0;
  // In one order, so that two processes that do so cannot deadlock.
  for (const change of [...changes].sort((one, other) => (one.id < other.id ? -1 : 1))) {
    const row = await tx.first<{ readonly version: number }>(
      `${VERSION_OF[change.kind]} ${tx.dialect.forUpdate()}`,
      [change.id],
    );
    if (row?.version !== change.version) continue;
    await addSealedToOutbox(tx, change, true);
    added += 1;
  }
  return added;
}

const VERSION_OF: Readonly<Record<DirectoryChange['kind'], string>> = {
  merchant: 'SELECT version FROM merchant WHERE merchant_id = $1',
  endpoint: 'SELECT version FROM endpoint WHERE uuid = $1',
};
