import type { Database } from 'better-sqlite3';
import type { DirectoryChange } from '../../../domain/directory.ts';
import type { Endpoint } from '../../../domain/endpoint.ts';
import { isMadeOfParts } from '../../../domain/ids.ts';
import type { Merchant } from '../../../domain/merchant.ts';
import { toDirectoryChange } from '../../rows/directory-rows.ts';
import { HINT_UNKNOWN } from '../../rows/endpoint-rows.ts';
import { MERCHANT_COLUMNS } from '../../rows/merchant-rows.ts';
import { isSound } from '../../rows/record-seals.ts';
import type { OutboxWrites } from '../management/outbox-writes.ts';
import { SELECT_ENDPOINT_OR_TOMBSTONE } from '../select-endpoint.ts';

/**
 * Writes changes of the DIRECTORY stream that are newer than this file, in the caller's transaction. None is published.
 */
export class DirectoryRestore {
  readonly #outbox: OutboxWrites;
  readonly #onChanged: (uuid: string) => void;
  readonly #versionOf;
  readonly #merchantVersionOf;
  readonly #endpoint;
  readonly #merchant;
  readonly #markDeleted;
  readonly #delete;
  readonly #tombstone;
  readonly #write;
  readonly #writeMerchant;

  constructor(db: Database, outbox: OutboxWrites, onChanged: (uuid: string) => void) {
    this.#outbox = outbox;
    this.#onChanged = onChanged;
    this.#versionOf = db.prepare('SELECT version FROM endpoint WHERE uuid = ?').pluck();
    this.#merchantVersionOf = db.prepare('SELECT version FROM merchant WHERE merchant_id = ?').pluck();
    this.#endpoint = db.prepare(`${SELECT_ENDPOINT_OR_TOMBSTONE} WHERE e.uuid = ?`);
    this.#merchant = db.prepare(`SELECT ${MERCHANT_COLUMNS} FROM merchant WHERE merchant_id = ?`);
    this.#delete = db.prepare(
      `UPDATE endpoint SET deleted_at = :at, updated_at = :at, secret_ciphertext = '', secret_hint = '',
       version = :version WHERE uuid = :uuid`,
    );
    // The stream does not name the merchant of a deleted endpoint: nobody reads the row, and only its version matters.
    this.#tombstone = db.prepare(
      `INSERT INTO endpoint (uuid, merchant_id, url, description, status, api_version, secret_key_id,
       secret_ciphertext, secret_hint, legacy, version, created_at, updated_at, activated_at, deleted_at)
       VALUES (:uuid, '', '', '', 'disabled', '2.2.8', '', '', '', 1, :version, :at, :at, :at, :at)`,
    );
    this.#markDeleted = db.prepare('UPDATE endpoint SET deleted_at = ? WHERE uuid = ?');
    this.#write = db.prepare(
      `INSERT INTO endpoint (uuid, merchant_id, url, description, subscribed_events, status, api_version,
       secret_key_id, secret_ciphertext, secret_hint, legacy, version, created_at, updated_at, activated_at,
       disabled_at)
       VALUES (:uuid, :merchantId, :url, '', :subscribed, :status, :apiVersion, :keyId, :ciphertext, :hint,
       :legacy, :version, :at, :at, :at, :disabledAt)
       ON CONFLICT (uuid) DO UPDATE SET merchant_id = excluded.merchant_id, legacy = excluded.legacy,
       url = excluded.url, subscribed_events = excluded.subscribed_events,
       status = excluded.status, api_version = excluded.api_version, activated_at = excluded.activated_at, disabled_at = excluded.disabled_at,
       disabled_reason = NULL, secret_key_id = excluded.secret_key_id,
       secret_hint = iif(secret_ciphertext = excluded.secret_ciphertext, secret_hint, excluded.secret_hint),
       secret_ciphertext = excluded.secret_ciphertext, version = excluded.version,
       updated_at = excluded.updated_at, deleted_at = NULL`,
    );
    this.#writeMerchant = db.prepare(
      `INSERT INTO merchant (merchant_id, name, state, sender_account_details, version)
       VALUES (:merchantId, :name, :state, :senderAccountDetails, :version)
       ON CONFLICT (merchant_id) DO UPDATE SET name = excluded.name, state = excluded.state,
       sender_account_details = excluded.sender_account_details, version = excluded.version`,
    );
  }

  adopt(changes: readonly DirectoryChange[], at: number): number {
    const whole = Math.floor(at);
    // Endpoints may have exchanged URLs: first all release theirs, then each takes its new one.
    const newer = changes.filter((change) => change.kind === 'endpoint' && this.#isNewer(change));
    for (const { id } of newer) this.#markDeleted.run(whole, id);
    for (const { kind, id, version, value } of newer) {
      if (kind === 'endpoint' && value) this.#writeEndpoint(value, whole);
      else if (this.#delete.run({ uuid: id, version, at: whole }).changes === 0) {
        this.#tombstone.run({ uuid: id, version, at: whole });
      }
    }
    for (const change of newer) {
      this.#outbox.seal(change);
      this.#onChanged(change.id);
      this.#note('endpoint.adopt', change, whole);
    }
    let merchants = 0;
    for (const change of changes) {
      // Merchants are never deleted.
      if (change.kind !== 'merchant' || !change.value || !this.#isNewer(change)) continue;
      this.#writeMerchantRow(change.value);
      this.#outbox.seal(change);
      merchants += 1;
      this.#note('merchant.adopt', change, whole);
    }
    return newer.length + merchants;
  }

  /** Adds the changes that are still in force to the outbox. Returns how many. */
  addAgain(changes: readonly DirectoryChange[]): number {
    const versionOf = { endpoint: this.#versionOf, merchant: this.#merchantVersionOf };
    const present = changes.filter(({ kind, id, version }) => versionOf[kind].get(id) === version);
    for (const change of present) this.#outbox.addSealed(change);
    return present.length;
  }

  /** Also true in the place of a row that somebody without the key ring has changed. */
  #isNewer({ kind, id, version, value }: DirectoryChange): boolean {
    const known = this.#stored(kind, id);
    if (known !== undefined) return known.version < version || !isSound(this.#outbox.seals, known);
    // An endpoint created and deleted after the backup needs no row, unless its id can recur: then its versions keep
    // growing.
    return value !== null || isMadeOfParts(id);
  }

  #writeEndpoint(endpoint: Endpoint, at: number): void {
    const { uuid, merchantId, url, subscribedEvents, status, apiVersion, secret, legacy, version } = endpoint;
    this.#write.run({
      uuid,
      merchantId,
      url,
      subscribed: subscribedEvents && JSON.stringify(subscribedEvents),
      status,
      apiVersion,
      keyId: secret.keyId,
      ciphertext: secret.ciphertext,
      hint: HINT_UNKNOWN,
      legacy: legacy ? 1 : 0,
      version,
      at,
      disabledAt: status === 'active' ? null : at,
    });
  }

  #stored(kind: DirectoryChange['kind'], id: string): DirectoryChange | undefined {
    const row = (kind === 'merchant' ? this.#merchant : this.#endpoint).get(id) as object | undefined;
    return row && toDirectoryChange(kind, row);
  }

  #writeMerchantRow({ merchantId, name, state, senderAccountDetails, version }: Merchant): void {
    const row = { merchantId, name, state, senderAccountDetails: senderAccountDetails ? 1 : 0, version };
    this.#writeMerchant.run(row);
  }

  #note(action: string, change: DirectoryChange, at: number): void {
    const { kind, id, version, value } = change;
    const details = { version, deleted: value === null };
    const actor = { kind: 'system' } as const;
    if (kind === 'merchant') this.#outbox.audit({ at, actor, merchantId: id, action, details });
    else {
      const merchantId = value?.merchantId ?? null;
      this.#outbox.audit({ at, actor, merchantId, endpointId: id, action, details });
    }
  }
}
