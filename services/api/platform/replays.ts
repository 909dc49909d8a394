import type { RequestHandler } from 'express';
import type { EventType } from '../../domain/event.ts';
import type { ReplayKind } from '../../domain/replay.ts';
import { cancelReplay, findReplay, incidentScope, startIncidentReplay } from '../../management/replays.ts';
import { countMissed } from '../../replayer/count-missed.ts';
import type { ReplayRecord, ReplayScope } from '../../store/replays.ts';
import { type ApiContext, actorOf } from '../context.ts';
import { timestamp } from '../endpoint-json.ts';
import { type Answer, idempotently, sendJson } from '../idempotency.ts';
import { timeOf } from '../routes/read-deliveries.ts';
import { pathId } from '../routes/read-endpoints.ts';
import { progressJson, replayPage } from '../routes/replays.ts';

interface IncidentBody {
  readonly since: string;
  readonly until?: string;
  readonly only: ReplayKind;
  readonly types?: readonly EventType[];
  readonly merchant_id?: string;
  readonly dry_run?: boolean;
}

/** POST /platform/replays: sends again what active endpoints of one merchant, or of all, have missed. */
export function startPlatformReplay(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const body: IncidentBody = request.body;
    const scope = await incidentScope(context, {
      merchantId: body.merchant_id ?? null,
      only: body.only,
      types: body.types === undefined ? null : [...new Set(body.types)],
      since: timeOf('/since', body.since) ?? 0,
      until: timeOf('/until', body.until ?? null),
    });
    if (body.dry_run === true) {
      const { count, byType: by_type, byReason: by_reason } = await countMissed(context.store, scope);
      return sendJson(response, 200, { dry_run: true, count, by_type, by_reason, ...scopeJson(scope) });
    }
    const actor = actorOf(response);
    await idempotently(context, { request, response, replayWaits: false }, async (remember) => {
      const answer = (replay: ReplayRecord) => remember(accepted(replay));
      return accepted(await startIncidentReplay(context, scope, { actor, answer }));
    });
  };
}

function accepted(replay: ReplayRecord): Answer {
  return {
    status: 202,
    headers: { Location: `/platform/replays/${replay.replayId}` },
    body: replayJson(replay),
  };
}

/** GET /platform/replays: newest first, the merchants' own included. */
export function listPlatformReplays(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const { data, ...rest } = await replayPage(context, request, {});
    sendJson(response, 200, { data: data.map(replayJson), ...rest });
  };
}

/** GET /platform/replays/{incident_replay_id}: its progress. */
export function getPlatformReplay(context: ApiContext): RequestHandler {
  return async (request, response) => {
    sendJson(response, 200, replayJson(await findReplay(context, pathId(request, 'incident_replay_id'))));
  };
}

/** POST /platform/replays/{incident_replay_id}/cancel: deliveries that it made are not undone. */
export function cancelPlatformReplay(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const deps = { ...context, actor: actorOf(response) };
    sendJson(response, 200, replayJson(await cancelReplay(deps, pathId(request, 'incident_replay_id'))));
  };
}

/** The form for the platform: as merchants see it, and with the merchant. */
function replayJson(replay: ReplayRecord) {
  return { ...progressJson(replay), ...scopeJson(replay) };
}

function scopeJson({ merchantId, endpointId, only, since, until, types }: ReplayScope) {
  const period = { since: timestamp(since), until: timestamp(until) };
  return { merchant_id: merchantId, endpoint_uuid: endpointId, only, ...period, types };
}
