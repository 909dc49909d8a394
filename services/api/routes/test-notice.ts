import type { NoticeType } from '../../domain/notices/notice.ts';
import { subTypesOfNotice } from '../../domain/notices/notice-catalog.ts';
import { renderNotice, subjectOfNotice } from '../../domain/notices/render-notice.ts';
import type { RequestedDelivery } from '../../domain/requested-task.ts';
import { sampledNotice } from '../../samples/notice-sample.ts';
import type { EndpointRecord } from '../../store/store.ts';
import { type ApiContext, wholeNow } from '../context.ts';
import { ApiError } from '../problem.ts';
import { checkSubType, type EventNamed } from '../sandbox/named-event.ts';

/** The part of a test's delivery that its event or notice decides. */
export type TestContent = Pick<
  RequestedDelivery,
  'eventId' | 'entityId' | 'subjectId' | 'type' | 'subType' | 'occurredAt' | 'body'
>;

type NoticeNamed = Omit<EventNamed, 'type'> & { readonly type: NoticeType };

/** Checks that type and subType fit together, and that no entity is named: notices are about hookrail. */
function checkNoticeNamed({ type, subType, ...entity }: NoticeNamed): void {
  checkSubType(type, subType, subTypesOfNotice(type));
  if (entity.user_uuid === undefined && entity.corporate_uuid === undefined) return;
  const detail = `${type} concerns no user and no corporate: leave user_uuid and corporate_uuid out.`;
  throw new ApiError('entity_not_allowed_for_type', detail);
}

/**
 * Returns the webhook of a sampled notice, in the endpoint's format. No notice of its id is in the store. Throws ApiError
 * for a subType of another type, and for an entity.
 */
export function testNotice(
  { clock, random }: Pick<ApiContext, 'clock' | 'random'>,
  { merchantId, notices = 'json' }: EndpointRecord,
  named: NoticeNamed,
): TestContent {
  checkNoticeNamed(named);
  const { type, subType } = named;
  const at = wholeNow(clock);
  const notice = sampledNotice({ noticeId: random.uuid(), type, subType, merchantId, at });
  return {
    ...{ eventId: notice.noticeId, entityId: subjectOfNotice(notice), subjectId: null, type, subType },
    ...{ occurredAt: at, body: renderNotice({ ...notice, isTest: true }, notices) },
  };
}
