import { subjectIdFrom, transactionIdOf } from '../../domain/catalog/subject.ts';
import type { WebhookType } from '../../domain/notices/notice.ts';

interface About {
  readonly type: WebhookType;
  readonly entityId: string;
  readonly subjectId: string | null;
  readonly sequence: number;
}

/** Returns what an event is about and its place, as every event, delivery and stream entry has them. */
export function subjectJson({ type, entityId, subjectId, sequence }: About) {
  return {
    entity_uuid: entityId,
    subject_uuid: subjectId ?? entityId,
    transaction_uuid: transactionIdOf(type, subjectId),
    sequence,
  };
}

/** Returns the conditions of a query on what an event is about, as the store has them. */
export function aboutOf(query: URLSearchParams) {
  const entityId = query.get('entity_uuid')?.toLowerCase();
  const subject = query.get('subject_uuid');
  const transactionId = query.get('transaction_uuid')?.toLowerCase();
  return {
    ...(entityId === undefined ? {} : { entityId }),
    ...(subject === null ? {} : { subjectId: subjectIdFrom(subject) ?? subject }),
    ...(transactionId === undefined ? {} : { transactionId }),
  };
}
