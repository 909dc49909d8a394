import type { Request, RequestHandler, Response } from 'express';
import type { QuarantineReason } from '../../domain/quarantine.ts';
import { auditOf } from '../../management/audit.ts';
import { isByFilter, matcherOf, type QuarantineChoice } from '../../management/quarantine/choice.ts';
import { lookAtQuarantined } from '../../management/quarantine/look.ts';
import { type ReplayedRecords, replayQuarantined } from '../../management/quarantine/replay.ts';
import { Refused } from '../../management/refused.ts';
import { type ApiContext, actorOf, asked } from '../context.ts';
import { idempotentlyKept, sendJson } from '../idempotency.ts';
import { queryOf } from '../pagination.ts';
import { ApiError } from '../problem.ts';
import { stillRefusedBy } from '../producer/event-refusals.ts';
import { timeOf } from '../routes/read-deliveries.ts';
import { AS_NEW_EVENT, lookJson, quarantinedJson } from './quarantine-json.ts';
import { recordPage } from './record-pages.ts';

/** The most refusals, or new events, in a response; the records are still listed by GET /platform/quarantine. */
const SHOWN_MAX = 20;

interface ManyBody {
  readonly quarantine_ids?: readonly string[];
  readonly all?: boolean;
  readonly reason?: QuarantineReason;
  readonly merchant_id?: string;
  readonly about?: string;
  readonly since?: string;
  readonly as_new_event?: boolean;
  readonly dry_run?: boolean;
}

/** GET /platform/quarantine: what could not be routed, oldest first. A merchant that is unknown is no fault here. */
export function listQuarantined({ broker }: ApiContext): RequestHandler {
  return async (request, response) => {
    const query = queryOf(request);
    const matches = matcherOf({
      reason: (query.get('reason') as QuarantineReason | null) ?? undefined,
      merchant: query.get('merchant_id') ?? undefined,
      about: query.get('about') ?? undefined,
      since: timeOf('/query/since', query.get('since')),
    });
    const options = { matches, itemOf: quarantinedJson };
    sendJson(response, 200, await recordPage(broker.quarantine, query, options));
  };
}

/** GET /platform/quarantine/{quarantine_id}: in clear text, which the audit has. */
export function getQuarantined(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const id = quarantineIdOf(request);
    const look = await lookAtQuarantined(depsOf(context, response), id).catch((error: unknown) => {
      throw error instanceof RangeError ? new Refused('quarantined_not_found', id) : error;
    });
    sendJson(response, 200, lookJson(id, look));
  };
}

/** POST /platform/quarantine/{quarantine_id}/replay: puts one record back where it came from. */
export function replayOne(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const id = quarantineIdOf(request);
    const body: Pick<ManyBody, 'as_new_event'> = request.body ?? {};
    await idempotentlyKept(context, { request, response }, async () => {
      const choice = { positions: [id], all: false };
      const { requeued, refused, newEvents } = await replay(context, response, choice, body);
      const [refusal] = refused;
      if (refusal) throw new ApiError('quarantined_stays', `It stays: ${refusal.detail}.`);
      if (requeued === 0) throw new Refused('quarantined_not_found', id);
      const made = { quarantine_id: id, new_event_uuid: newEvents[0]?.newEventId ?? null };
      return { status: 202, headers: {}, body: made };
    });
  };
}

/** POST /platform/quarantine-replays: puts many records back, or says what would become of them. */
export function replayMany(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const body: ManyBody = request.body;
    const choice = choiceOf(body);
    if (body.dry_run === true)
      return sendJson(response, 200, replayedJson(await replay(context, response, choice, body), true));
    await idempotentlyKept(context, { request, response }, async () => {
      const done = await replay(context, response, choice, body);
      return { status: 202, headers: {}, body: replayedJson(done, false) };
    });
  };
}

function choiceOf({
  quarantine_ids: positions = [],
  all = false,
  reason,
  merchant_id,
  about,
  since,
}: ManyBody): QuarantineChoice {
  const filter = { reason, merchant: merchant_id, about, since: timeOf('/since', since ?? null) };
  const choice = { positions, all, ...filter };
  if (isByFilter(choice) === positions.length > 0) throw new ApiError('records_not_chosen', '');
  return choice;
}

function replay(
  context: ApiContext,
  response: Response,
  choice: QuarantineChoice,
  { as_new_event: asNewEvent = false, dry_run: isDryRun = false }: ManyBody,
): Promise<ReplayedRecords> {
  return replayQuarantined(depsOf(context, response), choice, { asNewEvent, isDryRun, asked: AS_NEW_EVENT });
}

function depsOf(context: ApiContext, response: Response) {
  const { quarantine, stalls } = context.broker;
  return {
    quarantine: {
      read: (position: string) => asked(quarantine.read(position)),
      clearText: quarantine.clearText,
      visit: (use: Parameters<typeof quarantine.visit>[0]) => asked(quarantine.visit(use)),
      requeue: (...of: Parameters<typeof quarantine.requeue>) => asked(quarantine.requeue(...of)),
    },
    stalls: { append: (...of: Parameters<typeof stalls.append>) => asked(stalls.append(...of)) },
    now: context.clock.now(),
    audit: auditOf({ ...context, actor: actorOf(response) }),
    stillRefused: stillRefusedBy(context),
  };
}

function replayedJson({ requeued, leftOut, refused, newEvents }: ReplayedRecords, isDryRun: boolean) {
  return {
    dry_run: isDryRun,
    replayed: requeued,
    conflicts_left_out: leftOut,
    refused: refused.length,
    refusals: refused
      .slice(0, SHOWN_MAX)
      .map(({ position, detail }) => ({ quarantine_id: position, detail })),
    new_events: newEvents.slice(0, SHOWN_MAX).map(({ position, eventId, newEventId }) => ({
      quarantine_id: position,
      event_uuid: eventId,
      new_event_uuid: newEventId,
    })),
  };
}

function quarantineIdOf(request: Request): string {
  return String(request.params.quarantine_id);
}
