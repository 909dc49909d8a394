import type { NoticeData, NoticeFormat, NoticeType } from '../domain/notices/notice.ts';
import { fieldsOfNotice, NOTICE_CATALOG, subTypesOfNotice } from '../domain/notices/notice-catalog.ts';
import { renderNotice, type WholeNotice } from '../domain/notices/render-notice.ts';

const NOTICE = 'b7a2f0c4-5d1e-5f3a-9c8b-2e6d4f1a0b57';
const MERCHANT = '0a4f6a52-41f4-4c25-9a3e-9d4b8c4d6a10';
const ENDPOINT = '7d9f0c52-4a57-4a39-9c57-3c1a5a6e2f10';
/** The time of the catalogue's samples. */
const AT = Date.parse('2025-03-01T10:00:00Z');

/** The types that concern everybody, and those that concern a merchant but none of its endpoints. */
const OF_ALL: readonly NoticeType[] = ['events.delayed', 'events.lost', 'source_addresses.changing'];
const OF_NO_ENDPOINT: readonly NoticeType[] = [...OF_ALL, 'events.quarantined'];

export type NoticeSampled = Pick<WholeNotice, 'noticeId' | 'type' | 'subType' | 'at'> & {
  readonly merchantId: string;
};

/** Returns a realistic notice dated `at`, about an endpoint that does not exist. */
export function sampledNotice({ type, subType, at, merchantId, ...given }: NoticeSampled): WholeNotice {
  const { sample, samples } = NOTICE_CATALOG[type];
  return {
    ...{ ...given, type, subType, at, data: movedTo(at, type, { ...sample, ...samples?.[subType] }) },
    merchantId: OF_ALL.includes(type) ? null : merchantId,
    endpointId: OF_NO_ENDPOINT.includes(type) ? null : ENDPOINT,
  };
}

/** Returns data whose times are moved by as much as `at` is after the catalogue's. */
function movedTo(at: number, type: NoticeType, data: NoticeData): NoticeData {
  const fields = fieldsOfNotice(type);
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      typeof value === 'number' && fields[name]?.kind === 'time' ? value - AT + at : value,
    ]),
  );
}

/** Returns the body of a sample of a notice, in its first subType unless another is given. */
export function noticeSample(
  type: NoticeType,
  format: NoticeFormat,
  subType = subTypesOfNotice(type)[0] ?? '',
): Uint8Array {
  return renderNotice(
    sampledNotice({ noticeId: NOTICE, type, subType, merchantId: MERCHANT, at: AT }),
    format,
  );
}
