import type { Request, RequestHandler } from 'express';
import { isCsrfToken, portalTokenHash } from '../../domain/access/portal-tokens.ts';
import { type PortalSession, portalActor } from '../../store/portal-sessions.ts';
import { authenticate } from '../auth.ts';
import { type ApiContext, systemNow } from '../context.ts';
import { ApiError } from '../problem.ts';
import { sessionTokenIn } from './session-cookie.ts';

/** The header with which the console's page proves that a change comes from it. */
export const CSRF_HEADER = 'Hookrail-CSRF';

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD']);

export type PortalDeps = Pick<ApiContext, 'store' | 'clock' | 'clientAddress' | 'failedKeys'>;

/** A session, and the token in the request's cookie. */
export interface SignedIn {
  readonly token: string;
  readonly session: PortalSession;
}

/**
 * Accepts a merchant's key, or a session of the console. A request with an Authorization header is one with a key, whatever
 * cookie a browser adds.
 */
export function authenticateMerchant(
  context: Parameters<typeof authenticate>[1] & PortalDeps,
): RequestHandler {
  const byKey = authenticate('merchant', context);
  return async (request, response, next) => {
    const token = request.headers.authorization === undefined ? sessionTokenIn(request) : undefined;
    if (token === undefined) return void (await byKey(request, response, next));
    const { hash, session } = await sessionWith(token, request, context);
    const { sessionId, merchantId, access } = session;
    if (!SAFE.has(request.method)) {
      if (!isCsrfToken(token, request.get(CSRF_HEADER)))
        throw new ApiError(
          'csrf_token_invalid',
          `A session of the console changes something with ${CSRF_HEADER}.`,
        );
      if (access === 'read') throw new ApiError('portal_session_read_only', 'The link was read-only.');
    }
    response.locals.keyId = sessionId;
    response.locals.isStillValid = async () => (await sessionOf(hash, context)) !== undefined;
    response.locals.portal = portalActor(session);
    response.locals.merchantId = merchantId;
    next();
  };
}

/** Returns the session whose token the request has; throws 401 when there is none, or it has ended. */
export async function signedIn(request: Request, deps: PortalDeps): Promise<SignedIn> {
  const token = sessionTokenIn(request);
  if (token === undefined)
    throw new ApiError('portal_session_missing', 'The request has no session of the console.');
  const { session } = await sessionWith(token, request, deps);
  return { token, session };
}

async function sessionWith(token: string, request: Request, deps: PortalDeps) {
  const { failedKeys, clientAddress } = deps;
  const address = clientAddress(request);
  const hash = failedKeys.read(address, () => portalTokenHash(token) ?? refused());
  const session = await failedKeys.check(
    address,
    hash,
    async () => (await sessionOf(hash, deps)) ?? refused(),
  );
  return { hash, session };
}

function refused(): never {
  throw new ApiError('portal_session_ended', 'The session has ended, or was revoked.');
}

/** Returns a session that lasts. */
async function sessionOf(
  hash: Uint8Array,
  { store, clock }: Pick<ApiContext, 'store' | 'clock'>,
): Promise<PortalSession | undefined> {
  const session = await store.portalSessions.findByToken(hash);
  const isOver = !session || session.revokedAt !== null || (session.expiresAt ?? 0) <= systemNow(clock);
  return isOver ? undefined : session;
}
