import {
  GATHERED_MS,
  type Gathered,
  type NewNotice,
  type NoticeData,
} from '../../../domain/notices/notice.ts';
import { noticeId } from '../../../domain/notices/notice-id.ts';
import type { NoticeRecord, Notices } from '../../notices.ts';
import { type NoticeRow, toNotice } from '../../rows/notice-rows.ts';
import type { Transaction } from '../../sql/transaction.ts';

/* Operational notices: what accompanies their causes, and what becomes of them. */

const INSERT = `INSERT INTO notice AS n (cause, notice_id, type, sub_type, merchant_id, endpoint_uuid, at, last_at,
  count, data, due_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (cause)`;

/** Adds the notice of a cause, due now; returns false when the cause has one. */
export async function addNotice(tx: Transaction, notice: NewNotice): Promise<boolean> {
  const at = Math.floor(notice.at);
  return (await tx.change(`${INSERT} DO NOTHING`, values(notice, { lastAt: at, count: 1, dueAt: at }))) > 0;
}

/**
 * Adds to what a notice gathers over a window of time, at whose end it is due. Where the notice of the window was taken
 * already, the next window has it.
 */
export async function gatherNotice(tx: Transaction, { notice, count, lastAt }: Gathered): Promise<void> {
  const at = Math.floor(notice.at);
  for (let start = at - (at % GATHERED_MS); ; start += GATHERED_MS) {
    const cause = `${notice.cause}/${start}`;
    const dueAt = start + GATHERED_MS;
    const added = await tx.change(
      `${INSERT} DO UPDATE SET count = n.count + excluded.count,
       last_at = CASE WHEN n.last_at < excluded.last_at THEN excluded.last_at ELSE n.last_at END
       WHERE n.taken_at IS NULL`,
      values({ ...notice, cause }, { lastAt: Math.floor(lastAt), count, dueAt }),
    );
    if (added > 0) return;
  }
}

function values(
  { cause, type, subType, merchantId, endpointId, at, data }: NewNotice,
  { lastAt, count, dueAt }: { readonly lastAt: number; readonly count: number; readonly dueAt: number },
): readonly unknown[] {
  return [
    ...[cause, noticeId(cause), type, subType, merchantId, endpointId],
    ...[Math.floor(at), lastAt, count, JSON.stringify(data), dueAt],
  ];
}

/** Moves a place outside the store on, and adds what was found on the way. */
export async function movePlace(
  tx: Transaction,
  ...[name, { from, to }, found]: Parameters<Notices['move']>
): Promise<boolean> {
  const moved =
    from === null
      ? await tx.change(
          'INSERT INTO notice_place (name, place) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING',
          [name, to],
        )
      : await tx.change('UPDATE notice_place SET place = $2 WHERE name = $1 AND place = $3', [
          name,
          to,
          from,
        ]);
  if (moved === 0) return false;
  for (const each of found)
    if ('notice' in each) await gatherNotice(tx, each);
    else await addNotice(tx, each);
  return true;
}

/** Fixes what a notice says. Returns it as it stays. */
export async function takeNotice(
  tx: Transaction,
  id: string,
  data: NoticeData,
  at: number,
): Promise<NoticeRecord | undefined> {
  await tx.change('UPDATE notice SET taken_at = $3, data = $2 WHERE notice_id = $1 AND taken_at IS NULL', [
    id,
    JSON.stringify(data),
    Math.floor(at),
  ]);
  const row = await tx.first<NoticeRow>('SELECT * FROM notice WHERE notice_id = $1', [id]);
  return row && toNotice(row);
}

export async function noticeSent({ change }: Transaction, id: string, at: number): Promise<void> {
  await change('UPDATE notice SET sent_at = $2 WHERE notice_id = $1 AND sent_at IS NULL', [
    id,
    Math.floor(at),
  ]);
}
