import type { Request, RequestHandler } from 'express';
import { PORTAL_TOKEN_BYTES, portalToken, portalTokenHash } from '../../domain/access/portal-tokens.ts';
import { isLoopbackHost } from '../../domain/text/loopback.ts';
import { findMerchant, findOpenMerchant } from '../../management/merchants.ts';
import type { Clock } from '../../process/clock.ts';
import type { Random } from '../../process/random.ts';
import type { Actor } from '../../store/change.ts';
import type { PortalAccess } from '../../store/portal-sessions.ts';
import type { Store } from '../../store/store.ts';
import { type ApiContext, actorOf, systemNow } from '../context.ts';
import { timestamp } from '../endpoint-json.ts';
import { sendJson } from '../idempotency.ts';
import { merchantIdOf } from '../platform/merchants.ts';
import { ApiError } from '../problem.ts';
import { pathId } from '../routes/read-endpoints.ts';
import { hostOf } from '../sandbox/direct-request.ts';

const MINUTE_MS = 60_000;
/** How long a link can be opened, and how long its session lasts, unless the request says it. */
export const LINK_MINUTES = 15;
export const SESSION_MINUTES = 8 * 60;

export interface LinkOptions {
  readonly access?: PortalAccess;
  readonly person?: string | undefined;
  readonly refreshUrl?: string | undefined;
  readonly linkMinutes?: number | undefined;
  readonly sessionMinutes?: number | undefined;
}

/** Makes a link with which a person opens the console of a merchant, once. */
export async function makePortalLink(
  {
    store,
    clock,
    random,
    actor,
  }: {
    readonly store: Pick<Store, 'portalSessions'>;
    readonly clock: Pick<Clock, 'wall' | 'system'>;
    readonly random: Random;
    readonly actor: Actor;
  },
  merchantId: string,
  { access = 'write', linkMinutes = LINK_MINUTES, sessionMinutes = SESSION_MINUTES, ...given }: LinkOptions,
): Promise<{ readonly sessionId: string; readonly token: string; readonly linkExpiresAt: number }> {
  const createdAt = systemNow(clock);
  const token = portalToken(random.bytes(PORTAL_TOKEN_BYTES));
  const session = {
    sessionId: random.uuid(),
    merchantId,
    access,
    person: given.person ?? null,
    refreshUrl: given.refreshUrl ?? null,
    createdAt,
    linkExpiresAt: createdAt + linkMinutes * MINUTE_MS,
    linkHash: portalTokenHash(token) as Uint8Array,
    lifeMs: sessionMinutes * MINUTE_MS,
  };
  await store.portalSessions.create(session, actor);
  return { sessionId: session.sessionId, token, linkExpiresAt: session.linkExpiresAt };
}

/** Returns the address of a link. The token is in the fragment: no browser sends it, so it is in no log. */
export function linkUrl(consoleUrl: string, token: string): string {
  return `${consoleUrl.replace(/\/$/, '')}/#link=${token}`;
}

interface LinkBody {
  readonly access?: PortalAccess;
  readonly person?: string;
  readonly refresh_url?: string;
  readonly link_minutes?: number;
  readonly session_minutes?: number;
}

/** POST /platform/merchants/{merchant_id}/portal-sessions: makes a link to the console of a merchant. */
export function createPortalSession(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const { merchantId } = await findOpenMerchant(context, merchantIdOf(request));
    const body: LinkBody = request.body;
    const { access = 'write', person, refresh_url, link_minutes, session_minutes } = body;
    const made = await makePortalLink({ ...context, actor: actorOf(response) }, merchantId, {
      ...{ access, person, refreshUrl: refresh_url },
      ...{ linkMinutes: link_minutes, sessionMinutes: session_minutes },
    });
    sendJson(response, 201, {
      portal_session_uuid: made.sessionId,
      url: linkUrl(context.options.consoleUrl || consoleUrlOf(request), made.token),
      access,
      link_expires_at: timestamp(made.linkExpiresAt),
    });
  };
}

/** DELETE /platform/merchants/{merchant_id}/portal-sessions: ends all sessions of a merchant, and makes its links useless. */
export function endPortalSessions(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const merchantId = await merchantIn(context, request);
    const options = { at: systemNow(context.clock), actor: actorOf(response) };
    sendJson(response, 200, { ended: await context.store.portalSessions.revoke({ merchantId }, options) });
  };
}

/** DELETE /platform/merchants/{merchant_id}/portal-sessions/{portal_session_uuid} */
export function endPortalSession(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const merchantId = await merchantIn(context, request);
    const sessionId = pathId(request, 'portal_session_uuid');
    const options = { at: systemNow(context.clock), actor: actorOf(response) };
    const ended = await context.store.portalSessions.revoke({ merchantId, sessionId }, options);
    if (ended === 0) throw new ApiError('portal_session_not_found', '');
    response.status(204).end();
  };
}

async function merchantIn(context: ApiContext, request: Request): Promise<string> {
  return (await findMerchant(context, merchantIdOf(request))).merchantId;
}

/** The name by which the platform asks is the one that its merchants' browsers know, unless a setting says another. */
function consoleUrlOf({ headers }: Request): string {
  const { hostname = '' } = hostOf(headers.host) ?? {};
  return `${isLoopbackHost(hostname) ? 'http' : 'https'}://${headers.host}/console`;
}
