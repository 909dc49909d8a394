import type { DirectoryChange } from '../../../domain/directory.ts';
import { Listeners } from '../../../process/listeners.ts';
import type { Outbox, RecordAbove, SnapshotCursor, SnapshotPage, Timeline } from '../../outbox.ts';
import { type EndpointRow, toEndpointChange } from '../../rows/endpoint-rows.ts';
import { MERCHANT_COLUMNS, type MerchantRow, toMerchantChange } from '../../rows/merchant-rows.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';
import { readTimeline } from '../client/timeline.ts';
import type { Leaves } from '../leaves/leaves.ts';
import { addAbove } from '../maintenance/record-sealing.ts';
import { adoptChanges } from './directory-restore.ts';
import { acceptChanges, publishAgain } from './reconciliation.ts';
import { SELECT_ENDPOINT_OR_TOMBSTONE } from './select-endpoint.ts';

const PAGE_MAX = 1000;

export class PostgresOutbox implements Outbox {
  readonly #database: PostgresDatabase;
  readonly #leaves: Leaves;
  readonly #listeners = new Listeners();

  constructor(database: PostgresDatabase, leaves: Leaves) {
    this.#database = database;
    this.#leaves = leaves;
  }

  /** A transaction of this process that added rows was committed. */
  added(): void {
    this.#listeners.call();
  }

  onAdded(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  pending(limit: number, after = 0): ReturnType<Outbox['pending']> {
    return this.#database.read(async ({ rows }) => {
      const found = await rows<{ readonly outbox_id: number; readonly change: string }>(
        'SELECT outbox_id, change FROM outbox WHERE outbox_id > $1 ORDER BY outbox_id LIMIT $2',
        [after, Math.min(limit, PAGE_MAX)],
      );
      return found.map(({ outbox_id: outboxId, change }) => ({
        outboxId,
        change: JSON.parse(change) as DirectoryChange,
      }));
    });
  }

  async published(outboxIds: readonly number[]): Promise<void> {
    if (outboxIds.length === 0) return;
    await this.#database.transaction(({ change }) =>
      change('DELETE FROM outbox WHERE outbox_id = ANY($1::bigint[])', [outboxIds]),
    );
  }

  isPublished(outboxId: number): Promise<boolean> {
    return this.#database.read(async ({ first }) => {
      return (await first('SELECT 1 FROM outbox WHERE outbox_id = $1', [outboxId])) === undefined;
    });
  }

  snapshot(after: SnapshotCursor | null, limit: number): Promise<SnapshotPage> {
    const { kind, row } = after ?? { kind: 'merchant', row: 0 };
    const most = Math.min(limit, PAGE_MAX);
    return this.#database.read(async ({ rows }) => {
      const found =
        kind === 'merchant'
          ? (await rows<MerchantRow & Numbered>(MERCHANTS, [row, most])).map((each) => ({
              row: each.seq,
              change: toMerchantChange(each),
            }))
          : (await rows<EndpointRow & { readonly deleted_at: number | null }>(ENDPOINTS, [row, most])).map(
              (each) => ({ row: each.seq, change: toEndpointChange(each) }),
            );
      const end = kind === 'merchant' ? { kind: 'endpoint' as const, row: 0 } : null;
      const last = found.at(-1)?.row ?? row;
      return {
        changes: found.map(({ change }) => change),
        next: found.length === most ? { kind, row: last } : end,
      };
    });
  }

  addAgain(changes: readonly DirectoryChange[]): Promise<number> {
    return this.#database.transaction((tx) => publishAgain(tx, changes));
  }

  addAbove(records: readonly RecordAbove[]): Promise<number> {
    return this.#database.transaction((tx) => addAbove(tx, records));
  }

  async adopt(changes: readonly DirectoryChange[], at: number): Promise<number> {
    await this.#leaves.ensureAt(at);
    return this.#database.transaction((tx) => adoptChanges(tx, changes, Math.floor(at)));
  }

  timeline(): Promise<Timeline> {
    return this.#database.transaction(readTimeline);
  }

  async reconciled(timeline: string): Promise<void> {
    await this.#database.transaction((tx) => acceptChanges(tx, timeline));
  }
}

interface Numbered {
  readonly seq: number;
}

const MERCHANTS = `SELECT seq, ${MERCHANT_COLUMNS} FROM merchant WHERE seq > $1 ORDER BY seq LIMIT $2`;
const ENDPOINTS = `${SELECT_ENDPOINT_OR_TOMBSTONE} WHERE e.seq > $1 ORDER BY e.seq LIMIT $2`;
