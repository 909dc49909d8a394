import type { Database } from 'better-sqlite3';
import type { Actor } from '../../change.ts';
import type { Resealed } from '../../maintenance.ts';
import { type EndpointRow, toEndpoint, toEndpointChange } from '../../rows/endpoint-rows.ts';
import { isSound } from '../../rows/record-seals.ts';
import type { OutboxWrites } from '../management/outbox-writes.ts';
import { SELECT_ENDPOINT } from '../select-endpoint.ts';

/**
 * Replaces secrets with newly sealed ones. Compare and set by the sealed text itself: a rotation in between has changed
 * that text, and wins; any other change of the endpoint does not matter.
 */
export class SealingWrites {
  readonly #outbox: OutboxWrites;
  readonly #onChanged: (uuid: string) => void;
  readonly #endpoint;
  readonly #find;
  readonly #answer;

  constructor(db: Database, outbox: OutboxWrites, onChanged: (uuid: string) => void) {
    this.#outbox = outbox;
    this.#onChanged = onChanged;
    // Not updated_at, which merchants see: the secret is the same.
    this.#endpoint = db.prepare(
      `UPDATE endpoint SET secret_key_id = :keyId, secret_ciphertext = :ciphertext, version = version + 1
       WHERE uuid = :id AND secret_key_id = :oldKeyId AND secret_ciphertext = :oldCiphertext
       AND deleted_at IS NULL`,
    );
    this.#find = db.prepare(`${SELECT_ENDPOINT} AND e.uuid = ?`);
    this.#answer = db.prepare('UPDATE answer SET sealed = ? WHERE scope = ? AND sealed = ?');
  }

  replace(
    things: readonly Resealed[],
    { at, actor }: { readonly at: number; readonly actor: Actor },
  ): { readonly endpoints: number; readonly answers: number } {
    let endpoints = 0;
    let answers = 0;
    for (const thing of things) {
      if (thing.kind === 'endpoint') endpoints += this.#replaceEndpoint(thing);
      else answers += this.#replaceAnswer(thing);
    }
    if (endpoints + answers > 0) {
      const details = { sealedWith: things[0]?.resealed.keyId, endpoints, answers };
      this.#outbox.audit({ at, actor, merchantId: null, action: 'keyring.rewrap', details });
    }
    return { endpoints, answers };
  }

  #replaceEndpoint({ id, sealed, resealed }: Resealed): number {
    const { keyId, ciphertext } = resealed;
    const old = { oldKeyId: sealed.keyId, oldCiphertext: sealed.ciphertext };
    const stored = this.#find.get(id) as EndpointRow | undefined;
    if (!stored || !isSound(this.#outbox.seals, toEndpointChange({ ...stored, deleted_at: null }))) return 0;
    if (this.#endpoint.run({ id, keyId, ciphertext, ...old }).changes === 0) return 0;
    this.#onChanged(id);
    const row = this.#find.get(id) as EndpointRow;
    this.#outbox.add({ kind: 'endpoint', id, version: row.version, value: toEndpoint(row) });
    return 1;
  }

  #replaceAnswer({ id, sealed, resealed }: Resealed): number {
    return this.#answer.run(JSON.stringify(resealed), id, JSON.stringify(sealed)).changes;
  }
}
