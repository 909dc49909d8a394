import type { RequestHandler } from 'express';
import type { QuarantinedHead } from '../../broker/broker.ts';
import { subjectIdFrom, transactionIdOf } from '../../domain/catalog/subject.ts';
import { explainQuarantine } from '../../domain/failures/explanation.ts';
import { merchantOf } from '../auth.ts';
import type { ApiContext } from '../context.ts';
import { timestamp, timestampOrNull } from '../endpoint-json.ts';
import { sendJson } from '../idempotency.ts';
import { ApiError } from '../problem.ts';
import { deliveryJson } from '../routes/read-deliveries.ts';
import { type QuarantineSearch, quarantinedAbout, quarantineOf, searchNote } from './quarantined-events.ts';
import { readStory, type Story, type StoryEndpoint, type StoryEvent } from './story.ts';
import { subjectJson } from './subject-json.ts';

/** GET /merchant/subjects/{subject_id}: the whole story of a transaction, an account, or a user. */
export function getStory(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const given = String(request.params.subject_id);
    const merchantId = merchantOf(response);
    const id = subjectIdFrom(given) ?? given;
    const search = quarantinedAbout(quarantineOf(context), merchantId, id);
    const story = await readStory(context.store, merchantId, id, search);
    if (story === undefined) throw new ApiError('subject_not_found', searchNote(await search) ?? '');
    sendJson(response, 200, storyJson(story));
  };
}

function storyJson(story: Story) {
  const { subjectId, kind, entityId, events, endpoints, quarantine, isPaused, hasMore } = story;
  return {
    subject_uuid: subjectId,
    kind,
    transaction_uuid: kind === 'transaction' ? subjectId : null,
    entity_uuid: entityId,
    state: events.at(-1)?.state ?? null,
    held: isPaused,
    events: events.map((event) => eventJson(event, isPaused)),
    endpoints: endpoints.map(endpointJson),
    quarantine: quarantineJson(quarantine),
    has_more: hasMore,
  };
}

function eventJson({ listed, state, lines }: StoryEvent, isPaused: boolean) {
  const { event, subjectId, sequence, createdAt, routedAt } = listed;
  return {
    event_uuid: event.eventId,
    type: event.type,
    subType: event.subType,
    state,
    ...subjectJson({ ...event, subjectId, sequence }),
    occurred_at: timestamp(event.occurredAt),
    created_at: timestamp(createdAt),
    routed_at: timestamp(routedAt),
    simulated: event.simulated,
    endpoints: lines.map(({ endpointId, verdict, fate, explanation, deliveries }) => ({
      endpoint_uuid: endpointId,
      verdict,
      outcome: fate,
      explanation,
      deliveries: deliveries.map((delivery) => deliveryJson(delivery, isPaused)),
    })),
  };
}

function quarantineJson(search: QuarantineSearch) {
  const { searched, since, records } = search;
  return {
    searched,
    since: timestampOrNull(since),
    note: searchNote(search),
    events: [...records].reverse().map(quarantinedJson),
  };
}

/** Without the key that published it, and without its bytes: they are the platform's. */
function quarantinedJson(record: QuarantinedHead) {
  const { eventId, type, subType, entityId, subjectId, occurredAt, at, reason } = record;
  return {
    event_uuid: eventId,
    type: type ?? null,
    subType: subType ?? null,
    entity_uuid: entityId ?? null,
    subject_uuid: subjectId ?? entityId ?? null,
    transaction_uuid: type === undefined ? null : transactionIdOf(type, subjectId ?? null),
    occurred_at: timestampOrNull(occurredAt ?? null),
    quarantined_at: timestamp(at),
    verdict: 'quarantined',
    outcome: 'not_received',
    reason,
    explanation: explainQuarantine(record),
  };
}

function endpointJson({ endpointId, record, counts, nextAttemptAt }: StoryEndpoint) {
  return {
    endpoint_uuid: endpointId,
    url: record?.url ?? null,
    description: record?.description ?? null,
    status: record?.status ?? null,
    ...counts,
    next_attempt_at: timestampOrNull(nextAttemptAt),
  };
}
