import type { NoticeFormat, NoticeType } from '../domain/notices/notice.ts';
import { NOTICE_CATALOG } from '../domain/notices/notice-catalog.ts';
import { renderNotice } from '../domain/notices/render-notice.ts';

const NOTICE = 'b7a2f0c4-5d1e-5f3a-9c8b-2e6d4f1a0b57';
const MERCHANT = '0a4f6a52-41f4-4c25-9a3e-9d4b8c4d6a10';
const ENDPOINT = '7d9f0c52-4a57-4a39-9c57-3c1a5a6e2f10';
const AT = Date.parse('2025-03-01T10:00:00Z');

/** The types that concern everybody, and those that concern a merchant but none of its endpoints. */
const OF_ALL: readonly NoticeType[] = ['events.delayed', 'events.lost', 'source_addresses.changing'];
const OF_NO_ENDPOINT: readonly NoticeType[] = [...OF_ALL, 'events.quarantined'];

/** Returns the body of a sample of a notice, in its first subType. */
export function noticeSample(type: NoticeType, format: NoticeFormat): Uint8Array {
  const { subTypes, sample } = NOTICE_CATALOG[type];
  const [subType = ''] = Object.keys(subTypes);
  const merchantId = OF_ALL.includes(type) ? null : MERCHANT;
  const endpointId = OF_NO_ENDPOINT.includes(type) ? null : ENDPOINT;
  return renderNotice(
    { noticeId: NOTICE, type, subType, merchantId, endpointId, at: AT, data: sample },
    format,
  );
}
