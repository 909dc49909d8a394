import type { Database } from 'better-sqlite3';
import type { Actor, AnswerToStore, Changed } from '../../change.ts';
import { changedColumns } from '../../rows/endpoint-change.ts';
import {
  type EndpointRow,
  toEndpoint,
  toEndpointChange,
  toEndpointRecord,
} from '../../rows/endpoint-rows.ts';
import { refuseUnsound } from '../../rows/record-seals.ts';
import type {
  EndpointChange,
  EndpointRecord,
  LegacyChange,
  NewEndpoint,
  NotFound,
  UrlTaken,
} from '../../store.ts';
import { SELECT_ENDPOINT } from '../select-endpoint.ts';
import type { AnswerWrites } from './answer-writes.ts';
import type { OutboxWrites } from './outbox-writes.ts';

interface ChangeOptions {
  readonly at: number;
  readonly actor: Actor;
  readonly answer?: AnswerToStore;
}

/** Changes of endpoints, each with its outbox row, audit entry and stored response, in the caller's transaction. */
export class EndpointWrites {
  readonly #outbox: OutboxWrites;
  readonly #answers: AnswerWrites;
  readonly #onChanged: (uuid: string) => void;
  readonly #find;
  readonly #findUrl;
  readonly #count;
  readonly #tombstone;
  readonly #insert;
  readonly #revive;
  readonly #update;
  readonly #rotate;
  readonly #remove;
  readonly #resetHealth;
  readonly #removeHealth;

  constructor(db: Database, outbox: OutboxWrites, answers: AnswerWrites, onChanged: (uuid: string) => void) {
    this.#outbox = outbox;
    this.#answers = answers;
    this.#onChanged = onChanged;
    this.#find = db.prepare(`${SELECT_ENDPOINT} AND e.uuid = ? AND e.merchant_id = ?`);
    this.#findUrl = db
      .prepare(
        `SELECT uuid FROM endpoint WHERE merchant_id = :merchantId AND url = :url AND deleted_at IS NULL AND legacy = 0
         UNION ALL
         SELECT uuid FROM endpoint WHERE merchant_id = :merchantId AND url = :url AND deleted_at IS NULL AND legacy = 1`,
      )
      .pluck();
    this.#count = db
      .prepare('SELECT count(*) FROM endpoint WHERE merchant_id = ? AND deleted_at IS NULL AND legacy = 0')
      .pluck();
    this.#tombstone = db.prepare('SELECT merchant_id, legacy, deleted_at FROM endpoint WHERE uuid = ?');
    this.#insert = db.prepare(
      `INSERT INTO endpoint (uuid, merchant_id, url, description, subscribed_events, status, api_version,
       secret_key_id,
       secret_ciphertext, secret_hint, legacy, version, created_at, updated_at, activated_at)
       VALUES (:uuid, :merchantId, :url, :description, :subscribed, 'active', :apiVersion, :keyId, :ciphertext, :hint,
       :legacy, 1, :at, :at, :at)`,
    );
    this.#revive = db.prepare(
      `UPDATE endpoint SET merchant_id = :merchantId, url = :url, description = :description,
       subscribed_events = :subscribed, status = 'active',
       api_version = :apiVersion, secret_key_id = :keyId, secret_ciphertext = :ciphertext, secret_hint =
        :hint,
       secret_rotated_at = NULL, version = version + 1, created_at = :at, updated_at = :at, activated_at =
        :at,
       disabled_at = NULL, disabled_reason = NULL, deleted_at = NULL
       WHERE uuid = :uuid AND legacy = :legacy`,
    );
    this.#update = db.prepare(
      `UPDATE endpoint SET url = :url, description = :description, subscribed_events = :subscribed_events,
       status = :status, api_version = :api_version, activated_at = :activated_at, disabled_at = :disabled_at,
       disabled_reason = :disabled_reason, secret_key_id = :secret_key_id,
       secret_ciphertext = :secret_ciphertext, secret_hint = :secret_hint,
       secret_rotated_at = :secret_rotated_at, updated_at = :updated_at, version = version + 1
       WHERE seq = :seq`,
    );
    this.#rotate = db.prepare(
      `UPDATE endpoint SET secret_key_id = :keyId, secret_ciphertext = :ciphertext, secret_hint = :hint,
       secret_rotated_at = :at, updated_at = :at, version = version + 1 WHERE seq = :seq`,
    );
    this.#remove = db.prepare(
      `UPDATE endpoint SET deleted_at = :at, updated_at = :at, secret_ciphertext = '', secret_hint = '',
       version = version + 1 WHERE seq = :seq`,
    );
    this.#resetHealth = db.prepare(
      'UPDATE endpoint_health SET failure_count = 0, exhausted_count = 0 WHERE endpoint = ?',
    );
    this.#removeHealth = db.prepare('DELETE FROM endpoint_health WHERE endpoint = ?');
  }

  create(
    endpoint: NewEndpoint,
    options: ChangeOptions & { readonly quota: number },
  ): Changed<EndpointRecord> | UrlTaken | { readonly kind: 'quota_exceeded' } {
    const { uuid, merchantId, url, description, apiVersion, secret, legacy } = endpoint;
    const taken = this.#urlTaken(merchantId, url);
    if (taken) return taken;
    if (!legacy && (this.#count.get(merchantId) as number) >= options.quota)
      return { kind: 'quota_exceeded' };
    const subscribed = endpoint.subscribedEvents && JSON.stringify(endpoint.subscribedEvents);
    const { keyId, ciphertext } = secret;
    const at = Math.floor(options.at);
    const row = {
      uuid,
      merchantId,
      url,
      description,
      subscribed,
      apiVersion,
      keyId,
      ciphertext,
      hint: endpoint.secretHint,
      legacy: legacy ? 1 : 0,
      at,
    };
    if (this.#mayRevive(endpoint)) this.#revive.run(row);
    else this.#insert.run(row);
    return this.#changed(merchantId, uuid, 'endpoint.create', { url, apiVersion, legacy }, options);
  }

  update(
    merchantId: string,
    uuid: string,
    change: EndpointChange & Pick<LegacyChange, 'secret'>,
    options: ChangeOptions,
  ): Changed<EndpointRecord> | UrlTaken | NotFound {
    const row = this.#soundRow(merchantId, uuid);
    if (!row) return { kind: 'not_found' };
    const { columns, resetsHealth } = changedColumns(row, change, Math.floor(options.at));
    const taken = columns.url === row.url ? undefined : this.#urlTaken(merchantId, columns.url);
    if (taken) return taken;
    this.#update.run({ seq: row.seq, ...columns });
    if (resetsHealth) this.#resetHealth.run(row.seq);
    const { secret, ...told } = change;
    const details = { ...told, ...(secret ? { sealedWith: secret.sealed.keyId } : {}) };
    return this.#changed(merchantId, uuid, 'endpoint.update', details, options);
  }

  rotate(
    merchantId: string,
    uuid: string,
    secret: {
      readonly sealed: { readonly keyId: string; readonly ciphertext: string };
      readonly hint: string;
    },
    options: ChangeOptions,
  ): Changed<EndpointRecord> | NotFound {
    const row = this.#soundRow(merchantId, uuid);
    if (!row) return { kind: 'not_found' };
    const { keyId, ciphertext } = secret.sealed;
    this.#rotate.run({ seq: row.seq, keyId, ciphertext, hint: secret.hint, at: Math.floor(options.at) });
    return this.#changed(merchantId, uuid, 'endpoint.rotate', { sealedWith: keyId }, options);
  }

  remove(
    merchantId: string,
    uuid: string,
    options: ChangeOptions,
  ): { readonly kind: 'ok'; readonly outboxId: number } | NotFound {
    const row = this.#row(merchantId, uuid);
    if (!row) return { kind: 'not_found' };
    this.#remove.run({ seq: row.seq, at: Math.floor(options.at) });
    this.#removeHealth.run(row.seq);
    this.#onChanged(uuid);
    const outboxId = this.#outbox.add({ kind: 'endpoint', id: uuid, version: row.version + 1, value: null });
    const { at, actor } = options;
    const details = { url: row.url };
    this.#outbox.audit({ at, actor, merchantId, endpointId: uuid, action: 'endpoint.delete', details });
    return { kind: 'ok', outboxId };
  }

  #row(merchantId: string, uuid: string): EndpointRow | undefined {
    return this.#find.get(uuid, merchantId) as EndpointRow | undefined;
  }

  /** Returns the endpoint to build a change on. Throws RecordRefused. */
  #soundRow(merchantId: string, uuid: string): EndpointRow | undefined {
    const row = this.#row(merchantId, uuid);
    if (row) refuseUnsound(this.#outbox.seals, toEndpointChange({ ...row, deleted_at: null }));
    return row;
  }

  /** Returns the endpoint that has the URL, be it managed or legacy: one URL never has two secrets. */
  #urlTaken(merchantId: string, url: string): UrlTaken | undefined {
    const existingUuid = this.#findUrl.get({ merchantId, url }) as string | undefined;
    return existingUuid === undefined ? undefined : { kind: 'url_taken', existingUuid };
  }

  /**
   * The legacy operation has one fixed uuid per merchant, which is used again after a delete: its version keeps
   * growing, so that followers accept the new one. Any other uuid is used once.
   */
  #mayRevive({ uuid, merchantId, legacy }: NewEndpoint): boolean {
    const known = this.#tombstone.get(uuid) as
      | { merchant_id: string; legacy: number; deleted_at: number | null }
      | undefined;
    if (!known) return false;
    // Without a merchant: deleted after the backup that this store was restored from (directory-restore.ts).
    const isOwn = known.merchant_id === merchantId || known.merchant_id === '';
    const isOwnLegacy = legacy && known.legacy === 1 && isOwn;
    if (isOwnLegacy && known.deleted_at !== null) return true;
    throw new Error(`endpoint ${uuid} exists or existed before: a new endpoint needs a new uuid`);
  }

  #changed(
    merchantId: string,
    uuid: string,
    action: string,
    details: Readonly<Record<string, unknown>>,
    options: ChangeOptions,
  ): Changed<EndpointRecord> {
    this.#onChanged(uuid);
    const row = this.#row(merchantId, uuid);
    if (!row) throw new Error(`endpoint ${uuid} is gone within its own change`);
    const value = toEndpoint(row);
    const outboxId = this.#outbox.add({ kind: 'endpoint', id: uuid, version: row.version, value });
    const { at, actor, answer } = options;
    this.#outbox.audit({ at, actor, merchantId, endpointId: uuid, action, details });
    if (answer) this.#answers.store(answer, outboxId, at);
    return { kind: 'ok', record: toEndpointRecord(row), outboxId };
  }
}
