import type { Database } from 'better-sqlite3';
import type { DirectoryChange } from '../../../domain/directory.ts';
import type { SnapshotCursor, SnapshotPage } from '../../outbox.ts';
import { type EndpointRow, toEndpointChange } from '../../rows/endpoint-rows.ts';
import { MERCHANT_COLUMNS, type MerchantRow, toMerchantChange } from '../../rows/merchant-rows.ts';
import { SELECT_ENDPOINT_OR_TOMBSTONE } from '../management/select-endpoint.ts';

const PAGE_MAX = 1000;

/** Reads the store's state of the directory: merchants first, then endpoints, deleted ones too. */
export class SnapshotReads {
  readonly #merchants;
  readonly #endpoints;

  constructor(db: Database) {
    this.#merchants = db.prepare(
      `SELECT seq, ${MERCHANT_COLUMNS} FROM merchant WHERE seq > ? ORDER BY seq LIMIT ?`,
    );
    this.#endpoints = db.prepare(`${SELECT_ENDPOINT_OR_TOMBSTONE} WHERE e.seq > ? ORDER BY e.seq LIMIT ?`);
  }

  snapshot(after: SnapshotCursor | null, limit: number): SnapshotPage {
    const { kind, row } = after ?? { kind: 'merchant', row: 0 };
    const most = Math.min(limit, PAGE_MAX);
    const rows = this.#rows(kind, row, most);
    const last = rows.at(-1)?.row ?? row;
    const end = kind === 'merchant' ? { kind: 'endpoint' as const, row: 0 } : null;
    return {
      changes: rows.map(({ change }) => change),
      next: rows.length === most ? { kind, row: last } : end,
    };
  }

  #rows(
    kind: SnapshotCursor['kind'],
    after: number,
    limit: number,
  ): { row: number; change: DirectoryChange }[] {
    if (kind === 'merchant') {
      const rows = this.#merchants.all(after, limit) as (MerchantRow & { readonly seq: number })[];
      return rows.map((row) => ({ row: row.seq, change: toMerchantChange(row) }));
    }
    const rows = this.#endpoints.all(after, limit) as (EndpointRow & {
      readonly deleted_at: number | null;
    })[];
    return rows.map((row) => ({ row: row.seq, change: toEndpointChange(row) }));
  }
}
