import type { RequestHandler } from 'express';
import { subjectIdFrom } from '../../domain/catalog/subject.ts';
import { merchantOf } from '../auth.ts';
import type { ApiContext } from '../context.ts';
import { timestamp, timestampOrNull } from '../endpoint-json.ts';
import { sendJson } from '../idempotency.ts';
import { ApiError } from '../problem.ts';
import { deliveryJson } from '../routes/read-deliveries.ts';
import { readStory, type Story, type StoryEndpoint, type StoryEvent } from './story.ts';
import { subjectJson } from './subject-json.ts';

/** GET /merchant/subjects/{subject_id}: the whole story of a transaction, an account, or a user. */
export function getStory(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const given = String(request.params.subject_id);
    const story = await readStory(context.store, merchantOf(response), subjectIdFrom(given) ?? given);
    if (story === undefined) throw new ApiError('subject_not_found', '');
    sendJson(response, 200, storyJson(story));
  };
}

function storyJson(story: Story) {
  const { subjectId, kind, entityId, events, endpoints, isPaused, hasMore } = story;
  return {
    subject_uuid: subjectId,
    kind,
    transaction_uuid: kind === 'transaction' ? subjectId : null,
    entity_uuid: entityId,
    state: events.at(-1)?.state ?? null,
    held: isPaused,
    events: events.map((event) => eventJson(event, isPaused)),
    endpoints: endpoints.map(endpointJson),
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
