import { PLATFORM_MERCHANT_ID } from '../../../domain/notices/notice.ts';
import type { NoticeRecord, Notices } from '../../notices.ts';
import { type EndpointRow, toEndpointRecord } from '../../rows/endpoint-rows.ts';
import { type NoticeRow, toNotice } from '../../rows/notice-rows.ts';
import type { Statements } from '../../sql/statements.ts';
import { selectEndpoint } from '../select-endpoint.ts';

/* Reads of operational notices. */

export async function dueNotices(
  { rows }: Statements,
  ...[now, limit]: Parameters<Notices['due']>
): ReturnType<Notices['due']> {
  const found = await rows<NoticeRow>(
    'SELECT * FROM notice WHERE sent_at IS NULL AND due_at <= $1 ORDER BY due_at, seq LIMIT $2',
    [Math.floor(now), limit],
  );
  return found.map(toNotice);
}

export async function notice({ first }: Statements, noticeId: string): Promise<NoticeRecord | undefined> {
  const row = await first<NoticeRow>('SELECT * FROM notice WHERE notice_id = $1', [noticeId]);
  return row && toNotice(row);
}

export async function noticePlace({ first }: Statements, name: string): Promise<string | null> {
  const row = await first<{ readonly place: string }>('SELECT place FROM notice_place WHERE name = $1', [
    name,
  ]);
  return row?.place ?? null;
}

/** Reads those of the merchant and those of the platform. */
export async function noticeRecipients(
  { dialect, rows }: Statements,
  merchantId: string | null,
): ReturnType<Notices['recipients']> {
  const ofMerchant = merchantId === null ? '' : 'AND e.merchant_id IN ($1, $2)';
  const found = await rows<EndpointRow>(
    `${selectEndpoint(dialect, `e.notices IS NOT NULL AND e.status = 'active' ${ofMerchant}`)} ORDER BY e.seq`,
    merchantId === null ? [] : [merchantId, PLATFORM_MERCHANT_ID],
  );
  return found.map(toEndpointRecord);
}
