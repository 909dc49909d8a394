import type { DirectoryChange } from '../../../domain/directory.ts';
import type { Outbox, SnapshotCursor, SnapshotPage } from '../../outbox.ts';
import { type EndpointRow, toEndpointChange } from '../../rows/endpoint-rows.ts';
import { MERCHANT_COLUMNS, type MerchantRow, toMerchantChange } from '../../rows/merchant-rows.ts';
import type { Statements } from '../../sql/statements.ts';
import { selectEveryEndpoint } from '../select-endpoint.ts';
import { PAGE_MAX } from './page.ts';

/* Reads of the outbox, and of the state of the directory that it leads to. */

interface Numbered {
  readonly row: number;
  readonly change: DirectoryChange;
}

export async function pending(
  { rows }: Statements,
  ...[limit, after = 0]: Parameters<Outbox['pending']>
): ReturnType<Outbox['pending']> {
  const found = await rows<{ readonly outbox_id: number; readonly change: string }>(
    'SELECT outbox_id, change FROM outbox WHERE outbox_id > $1 ORDER BY outbox_id LIMIT $2',
    [after, Math.min(limit, PAGE_MAX)],
  );
  return found.map(({ outbox_id: outboxId, change }) => ({
    outboxId,
    change: JSON.parse(change) as DirectoryChange,
  }));
}

export async function isPublished({ first }: Statements, outboxId: number): Promise<boolean> {
  return (await first('SELECT 1 FROM outbox WHERE outbox_id = $1', [outboxId])) === undefined;
}

/** Reads a page of the store's state of the directory: merchants first, then endpoints, deleted ones too. */
export async function snapshot(
  statements: Statements,
  after: SnapshotCursor | null,
  limit: number,
): Promise<SnapshotPage> {
  const { kind, row } = after ?? { kind: 'merchant', row: 0 };
  const most = Math.min(limit, PAGE_MAX);
  const found = await changesAfter(statements, kind, row, most);
  const last = found.at(-1)?.row ?? row;
  const end = kind === 'merchant' ? { kind: 'endpoint' as const, row: 0 } : null;
  return {
    changes: found.map(({ change }) => change),
    next: found.length === most ? { kind, row: last } : end,
  };
}

async function changesAfter(
  { dialect, rows }: Statements,
  kind: SnapshotCursor['kind'],
  after: number,
  limit: number,
): Promise<Numbered[]> {
  if (kind === 'merchant') {
    const found = await rows<MerchantRow & { readonly seq: number }>(
      `SELECT seq, ${MERCHANT_COLUMNS} FROM merchant WHERE seq > $1 ORDER BY seq LIMIT $2`,
      [after, limit],
    );
    return found.map((each) => ({ row: each.seq, change: toMerchantChange(each) }));
  }
  const found = await rows<EndpointRow & { readonly deleted_at: number | null }>(
    `${selectEveryEndpoint(dialect)} WHERE e.seq > $1 ORDER BY e.seq LIMIT $2`,
    [after, limit],
  );
  return found.map((each) => ({ row: each.seq, change: toEndpointChange(each) }));
}
