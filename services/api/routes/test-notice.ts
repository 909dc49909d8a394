import type { NoticeType } from '../../domain/notices/notice.ts';
import { NOTICE_CATALOG } from '../../domain/notices/notice-catalog.ts';
import { renderNotice, subjectOfNotice } from '../../domain/notices/render-notice.ts';
import type { RequestedDelivery } from '../../domain/requested-task.ts';
import { sampledNotice } from '../../samples/notice-sample.ts';
import type { EndpointRecord } from '../../store/store.ts';
import { type ApiContext, wholeNow } from '../context.ts';
import { ApiError } from '../problem.ts';
import { checkSubType, type EventNamed } from '../sandbox/named-event.ts';

/** What a test is about, and its body. */
export type TestContent = Pick<
  RequestedDelivery,
  'eventId' | 'entityId' | 'subjectId' | 'type' | 'subType' | 'occurredAt' | 'body'
>;

type NoticeNamed = Omit<EventNamed, 'type'> & { readonly type: NoticeType };

/** Checks that type and subType fit together, and that no entity is named: notices are about hookrail. */
export function checkNoticeNamed({ type, subType, ...entity }: NoticeNamed): void {
  checkSubType(type, subType, Object.keys(NOTICE_CATALOG[type].subTypes));
  if (entity.user_uuid === undefined && entity.corporate_uuid === undefined) return;
  const detail = `${type} concerns no user and no corporate: leave user_uuid and corporate_uuid out.`;
  throw new ApiError('entity_not_allowed_for_type', detail);
}

/** Returns the webhook of a sampled notice, in the endpoint's format. No notice of its id is in the store. */
export function testNotice(
  { clock, random }: Pick<ApiContext, 'clock' | 'random'>,
  { merchantId, notices = 'json' }: EndpointRecord,
  { type, subType }: NoticeNamed,
): TestContent {
  const at = wholeNow(clock);
  const notice = sampledNotice({ noticeId: random.uuid(), type, subType, merchantId, at });
  return {
    ...{ eventId: notice.noticeId, entityId: subjectOfNotice(notice), subjectId: null, type, subType },
    ...{ occurredAt: at, body: renderNotice({ ...notice, isTest: true }, notices) },
  };
}
