import type { NoticeData, NoticeType } from '../../domain/notices/notice.ts';
import type { NoticeRecord } from '../notices.ts';

export interface NoticeRow {
  readonly cause: string;
  readonly notice_id: string;
  readonly type: string;
  readonly sub_type: string;
  readonly merchant_id: string | null;
  readonly endpoint_uuid: string | null;
  readonly at: number;
  readonly last_at: number;
  readonly count: number;
  readonly data: string;
  readonly taken_at: number | null;
  readonly sent_at: number | null;
}

export function toNotice(row: NoticeRow): NoticeRecord {
  return {
    cause: row.cause,
    noticeId: row.notice_id,
    type: row.type as NoticeType,
    subType: row.sub_type,
    merchantId: row.merchant_id,
    endpointId: row.endpoint_uuid,
    at: row.at,
    lastAt: row.last_at,
    count: row.count,
    data: JSON.parse(row.data) as NoticeData,
    takenAt: row.taken_at,
    sentAt: row.sent_at,
  };
}
