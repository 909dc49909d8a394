import type { Database } from 'better-sqlite3';
import type { DirectoryChange } from '../../../domain/directory.ts';
import { mayExceed, SEALED_MARK_ID } from '../../../domain/seals/record-seals.ts';
import type { RecordsSealed, Sealings } from '../../maintenance.ts';
import type { RecordAbove } from '../../outbox.ts';
import { toDirectoryChange } from '../../rows/directory-rows.ts';
import { MERCHANT_COLUMNS } from '../../rows/merchant-rows.ts';
import { isSound, requiredSeals } from '../../rows/record-seals.ts';
import { parseRecordCursor, recordCursor } from '../../rows/sealing-cursor.ts';
import type { OutboxWrites } from '../management/outbox-writes.ts';
import { SELECT_ENDPOINT_OR_TOMBSTONE } from '../select-endpoint.ts';

type Options = Parameters<Sealings['sealRecords']>[0];

/** Seals stored merchants and endpoints, deleted ones included, whose seal is missing or of another key than the active. */
export class RecordSealing {
  readonly #outbox: OutboxWrites;
  readonly #onChanged: (uuid: string) => void;
  readonly #select;
  readonly #raise;
  readonly #find;
  readonly #mark;

  constructor(db: Database, outbox: OutboxWrites, onChanged: (uuid: string) => void) {
    this.#outbox = outbox;
    this.#onChanged = onChanged;
    const isDue = (table: string) =>
      `(${table}seal_key_id IS NOT ? OR ${table}seal_version <> ${table}version)`;
    this.#select = {
      merchant: db.prepare(
        `SELECT seq, ${MERCHANT_COLUMNS} FROM merchant WHERE seq > ? AND ${isDue('')} ORDER BY seq LIMIT ?`,
      ),
      endpoint: db.prepare(
        `${SELECT_ENDPOINT_OR_TOMBSTONE} WHERE e.seq > ? AND ${isDue('e.')} ORDER BY e.seq LIMIT ?`,
      ),
    };
    this.#raise = {
      merchant: db.prepare('UPDATE merchant SET version = ? WHERE merchant_id = ?'),
      endpoint: db.prepare('UPDATE endpoint SET version = ? WHERE uuid = ?'),
    };
    this.#find = {
      merchant: db.prepare(`SELECT ${MERCHANT_COLUMNS} FROM merchant WHERE merchant_id = ?`),
      endpoint: db.prepare(`${SELECT_ENDPOINT_OR_TOMBSTONE} WHERE e.uuid = ?`),
    };
    this.#mark = db.prepare(
      `INSERT INTO endpoint (uuid, merchant_id, url, description, status, api_version, secret_key_id,
       secret_ciphertext, secret_hint, legacy, version, created_at, updated_at, activated_at, deleted_at)
       VALUES (:id, '', '', '', 'disabled', '2.2.8', '', '', '', 1, 1, :at, :at, :at, :at)
       ON CONFLICT (uuid) DO UPDATE SET version = version + 1 RETURNING version`,
    );
  }

  seal({ limit, after }: Options): RecordsSealed {
    const seals = requiredSeals(this.#outbox.seals);
    const { kind, row } = parseRecordCursor(after);
    const found = this.#select[kind].all(row, seals.active, limit) as { readonly seq: number }[];
    const refused: string[] = [];
    for (const each of found) {
      const change = toDirectoryChange(kind, each);
      if (isSound(seals, change)) this.#sealOne(change, change.version + 1);
      else refused.push(`${kind}:${change.id}`);
    }
    const next = recordCursor(kind, found.at(-1)?.seq, found.length === limit);
    return { sealed: found.length - refused.length, refused, next };
  }

  /** Adds the record by which the directory says that all are sealed. */
  complete(at: number): void {
    const seals = requiredSeals(this.#outbox.seals);
    const { version } = this.#mark.get({ id: SEALED_MARK_ID, at: Math.floor(at) }) as {
      readonly version: number;
    };
    this.#outbox.add({ kind: 'endpoint', id: SEALED_MARK_ID, version, value: null });
    seals.require();
  }

  addAbove(records: readonly RecordAbove[]): number {
    let added = 0;
    for (const { kind, id, above } of records) {
      const row = this.#find[kind].get(id) as object | undefined;
      const change = row && toDirectoryChange(kind, row);
      if (!change || !isSound(this.#outbox.seals, change) || !mayExceed(above)) continue;
      this.#sealOne(change, Math.max(change.version, above) + 1);
      added += 1;
    }
    return added;
  }

  #sealOne({ kind, id, value }: DirectoryChange, version: number): void {
    this.#raise[kind].run(version, id);
    if (kind === 'endpoint') this.#onChanged(id);
    this.#outbox.add({ kind, id, version, value: value && { ...value, version } } as DirectoryChange);
  }
}
