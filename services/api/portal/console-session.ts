import type { Request, RequestHandler } from 'express';
import {
  csrfTokenOf,
  isCsrfToken,
  PORTAL_TOKEN_BYTES,
  portalToken,
  portalTokenHash,
} from '../../domain/access/portal-tokens.ts';
import { portalActor } from '../../store/portal-sessions.ts';
import { type ApiContext, systemNow } from '../context.ts';
import { timestampOrNull } from '../endpoint-json.ts';
import { sendJson } from '../idempotency.ts';
import { ApiError } from '../problem.ts';
import { CSRF_HEADER, type SignedIn, signedIn } from './portal-auth.ts';
import { sessionCookie } from './session-cookie.ts';

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;

/** POST /console/session: spends a link. Only a page of the console does it: mail scanners and previews follow links by GET. */
export function openSession(context: ApiContext): RequestHandler {
  const { store, random, clock, clientAddress, failedKeys } = context;
  return async (request, response) => {
    const address = clientAddress(request);
    const linkHash = failedKeys.read(address, () => portalTokenHash(request.body.link) ?? linkRefused());
    const token = portalToken(random.bytes(PORTAL_TOKEN_BYTES));
    const tokenHash = portalTokenHash(token) as Uint8Array;
    const session = await failedKeys.check(
      address,
      linkHash,
      async () =>
        (await store.portalSessions.open(linkHash, { tokenHash, at: systemNow(clock) })) ?? linkRefused(),
    );
    const maxAgeSeconds = Math.ceil(((session.expiresAt ?? 0) - systemNow(clock)) / SECOND_MS);
    response.setHeader('Set-Cookie', cookieOf(context, request, { token, maxAgeSeconds }));
    sendJson(response, 201, await sessionJson(context, { token, session }));
  };
}

function linkRefused(): never {
  throw new ApiError('portal_link_invalid', 'The link was used, is too old, or was never made.');
}

/** GET /console/session: whose console it is. */
export function readSession(context: ApiContext): RequestHandler {
  return async (request, response) => {
    sendJson(response, 200, await sessionJson(context, await signedIn(request, context)));
  };
}

/** DELETE /console/session: signs out. */
export function closeSession(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const { token, session } = await signedIn(request, context);
    if (!isCsrfToken(token, request.get(CSRF_HEADER)))
      throw new ApiError('csrf_token_invalid', `Sign out with the header ${CSRF_HEADER}.`);
    const { merchantId, sessionId } = session;
    const actor = { ...portalActor(session), requestId: response.locals.requestId };
    await context.store.portalSessions.revoke(
      { merchantId, sessionId },
      { at: systemNow(context.clock), actor },
    );
    response.setHeader('Set-Cookie', cookieOf(context, request, { token: '', maxAgeSeconds: 0 }));
    response.status(204).end();
  };
}

function cookieOf(
  { options }: ApiContext,
  request: Request,
  { token, maxAgeSeconds }: { readonly token: string; readonly maxAgeSeconds: number },
): string {
  return sessionCookie(request, token, { maxAgeSeconds, isFramed: options.consoleFrameAncestors.length > 0 });
}

async function sessionJson({ store, environment, options }: ApiContext, { token, session }: SignedIn) {
  const { merchantId, access, person, expiresAt, refreshUrl } = session;
  const merchant = await store.merchants.get(merchantId);
  return {
    merchant_id: merchantId,
    merchant_name: merchant?.name ?? merchantId,
    environment,
    access,
    person,
    expires_at: timestampOrNull(expiresAt),
    refresh_url: refreshUrl,
    csrf_token: csrfTokenOf(token),
    auto_disable: {
      without_success_hours: options.autoDisable.withoutSuccessMs / HOUR_MS,
      failed_attempts: options.autoDisable.failedAttempts,
    },
  };
}
