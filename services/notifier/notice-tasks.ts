import type { PublishedTask } from '../broker/broker.ts';
import { NO_SEQUENCE } from '../domain/catalog/sequence.ts';
import { subscribes } from '../domain/endpoint.ts';
import { deliveryId } from '../domain/ids.ts';
import { renderNotice, subjectOfNotice } from '../domain/notices/render-notice.ts';
import { requestedTask } from '../domain/requested-task.ts';
import { ATTEMPTS_MAX } from '../domain/retry.ts';
import type { NoticeRecord } from '../store/notices.ts';
import type { EndpointRecord } from '../store/store.ts';

/** Returns whether an endpoint gets a notice: it asks for the type, and the notice is not about itself. */
export function wants(endpoint: EndpointRecord, { type, endpointId }: NoticeRecord): boolean {
  return endpoint.notices !== undefined && endpoint.uuid !== endpointId && subscribes(endpoint, type);
}

/** Returns the first task of a notice to an endpoint, with the whole schedule. `at`: whole milliseconds since the epoch. */
export function noticeTask(notice: NoticeRecord, endpoint: EndpointRecord, at: number): PublishedTask {
  const asked = {
    deliveryId: deliveryId(notice.noticeId, endpoint.uuid),
    eventId: notice.noticeId,
    merchantId: endpoint.merchantId,
    endpointId: endpoint.uuid,
    entityId: subjectOfNotice(notice),
    subjectId: null,
    sequence: NO_SEQUENCE,
    type: notice.type,
    subType: notice.subType,
    apiVersion: endpoint.apiVersion,
    trigger: 'live',
    attemptsMax: ATTEMPTS_MAX,
    occurredAt: notice.at,
    body: renderNotice(notice, endpoint.notices ?? 'json'),
  } as const;
  return requestedTask(asked, at);
}
