import type { Request, RequestHandler } from 'express';
import { subjectIdFrom } from '../../domain/catalog/subject.ts';
import type { WebhookType } from '../../domain/notices/notice.ts';
import type { ReplayKind } from '../../domain/replay.ts';
import { createReplay } from '../../management/replays.ts';
import { countMissed } from '../../replayer/count-missed.ts';
import type { Actor } from '../../store/change.ts';
import { REPLAYED_IDS_MAX, type ReplayRecord, type ReplayScope } from '../../store/replays.ts';
import type { EndpointRecord } from '../../store/store.ts';
import { type ApiContext, actorOf, wholeNow } from '../context.ts';
import { timestamp, timestampOrNull } from '../endpoint-json.ts';
import { type Answer, idempotently, type Remember, sendJson } from '../idempotency.ts';
import { explainCursor, page, queryOf } from '../pagination.ts';
import { ApiError } from '../problem.ts';
import { timeOf } from './read-deliveries.ts';
import { findEndpoint, PAGE_DEFAULT, pathId } from './read-endpoints.ts';
import { requireActive } from './resend-delivery.ts';

interface ReplayBody {
  /** Required unless events are named. */
  readonly since?: string;
  readonly until?: string;
  readonly only: ReplayKind;
  readonly types?: readonly WebhookType[];
  readonly event_uuids?: readonly string[];
  readonly subject_uuid?: string;
  readonly dry_run?: boolean;
}

/** POST /merchant/webhook-endpoints/{id}/replay: sends missed events again (docs/decisions.md, "Replays"). */
export function startReplay(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const endpoint = await findEndpoint(context, request, response);
    const body: ReplayBody = request.body;
    const scope = await scopeOf(context, endpoint, body);
    if (body.dry_run === true) {
      const { count, byType: by_type, byReason: by_reason } = await countMissed(context.store, scope);
      return sendJson(response, 200, { dry_run: true, count, by_type, by_reason, ...scopeJson(scope) });
    }
    const actor = actorOf(response);
    await idempotently(context, { request, response, replayWaits: false }, (remember) =>
      create(context, endpoint, scope, { actor, remember }),
    );
  };
}

async function create(
  context: ApiContext,
  endpoint: EndpointRecord,
  scope: ReplayScope,
  { actor, remember }: { readonly actor: Actor; readonly remember: Remember },
): Promise<Answer> {
  requireActive(endpoint);
  const accepted = (replay: ReplayRecord): Answer => ({
    status: 202,
    headers: { Location: `/merchant/webhook-endpoints/${endpoint.uuid}/replays/${replay.replayId}` },
    body: replayJson(replay),
  });
  const result = await createReplay(context, scope, {
    actor,
    answer: (replay) => remember(accepted(replay)),
  });
  if (result.kind === 'running') {
    const extra = { replay_uuid: result.replayId };
    throw new ApiError('replay_running', 'An endpoint can have one replay at a time.', { extra });
  }
  return accepted(result.record);
}

/** Returns the scope. It ends now: later events are not part of the replay. */
export async function scopeOf(
  context: Pick<ApiContext, 'store' | 'clock'>,
  { merchantId, uuid: endpointId }: Pick<EndpointRecord, 'merchantId' | 'uuid'>,
  body: ReplayBody,
): Promise<ReplayScope> {
  const eventIds = await namedEvents(context, merchantId, body);
  const now = wholeNow(context.clock);
  const since = timeOf('/since', body.since ?? null) ?? 0;
  const until = Math.min(now, timeOf('/until', body.until ?? null) ?? now);
  if (since >= until) {
    const errors = [
      { pointer: '/since', code: 'out_of_range', detail: 'must be before until and before now' },
    ];
    throw new ApiError('empty_period', 'No event can fall into this period.', { errors });
  }
  const types = body.types === undefined ? null : [...new Set(body.types)];
  return { merchantId, endpointId, only: body.only, since, until, types, eventIds };
}

/** Returns the ids of the events that the request names, oldest first where it names their subject; null: it names none. */
async function namedEvents(
  { store }: Pick<ApiContext, 'store'>,
  merchantId: string,
  { event_uuids: uuids, subject_uuid: subject }: ReplayBody,
): Promise<readonly string[] | null> {
  const ids = uuids === undefined ? null : [...new Set(uuids.map((uuid) => uuid.toLowerCase()))];
  if (subject === undefined) return ids;
  const about = { subjectId: subjectIdFrom(subject) ?? subject, limit: REPLAYED_IDS_MAX };
  const { records, next } = await store.lists.events(merchantId, about);
  if (next !== null) {
    const detail = `has more than ${REPLAYED_IDS_MAX} events`;
    const errors = [{ pointer: '/subject_uuid', code: 'out_of_range', detail }];
    throw new ApiError('validation_error', 'Replay a period instead.', { errors });
  }
  const found = records.map(({ event }) => event.eventId).reverse();
  return ids === null ? found : found.filter((id) => ids.includes(id));
}

/** GET /merchant/webhook-endpoints/{id}/replays: newest first. */
export function listReplays(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const { uuid: endpointId } = await findEndpoint(context, request, response);
    const { data, ...rest } = await replayPage(context, request, { endpointId });
    sendJson(response, 200, { data: data.map(replayJson), ...rest });
  };
}

/** Returns a page of replays, newest first: those of one endpoint, or all. */
export async function replayPage(
  { store }: Pick<ApiContext, 'store'>,
  request: Request,
  of: { readonly endpointId?: string },
) {
  const query = queryOf(request);
  const limit = Number(query.get('limit') ?? PAGE_DEFAULT);
  const after = query.get('cursor');
  const found = await store.replays
    .list({ ...of, limit: limit + 1, ...(after === null ? {} : { after }) })
    .catch(explainCursor);
  return page(found, limit, ({ cursor }) => cursor);
}

/** GET /merchant/webhook-endpoints/{id}/replays/{replay_id}: the replay's progress. */
export function getReplay(context: ApiContext): RequestHandler {
  return async (request: Request, response) => {
    const { uuid } = await findEndpoint(context, request, response);
    const replay = await context.store.replays.get(pathId(request, 'replay_id'));
    if (replay?.endpointId !== uuid) throw new ApiError('replay_not_found', '');
    sendJson(response, 200, replayJson(replay));
  };
}

/**
 * The form for merchants: snake_case and `…_uuid`, as all of REST. Operators have one of their own, in camelCase and with
 * the merchant (services/operator/commands/replays.ts): both are public, so neither can become the other.
 */
function replayJson(replay: ReplayRecord) {
  return { ...progressJson(replay), ...scopeJson(replay) };
}

/** Returns what becomes of a replay, whatever it covers. */
export function progressJson(replay: Omit<ReplayRecord, keyof ReplayScope>) {
  return {
    replay_uuid: replay.replayId,
    status: replay.status,
    cancel_reason: replay.cancelReason,
    count: replay.count,
    published: replay.published,
    left_out: replay.leftOut,
    created_at: timestamp(replay.createdAt),
    finished_at: timestampOrNull(replay.finishedAt),
  };
}

function scopeJson({ endpointId, only, since, until, types, eventIds }: ReplayScope) {
  const period = { since: timestamp(since), until: timestamp(until) };
  return { endpoint_uuid: endpointId, only, ...period, types, event_uuids: eventIds };
}
