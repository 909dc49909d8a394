import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import { type AnswerToStore, StoreConflict } from '../store/change.ts';
import { type ApiContext, awaitPublished, wholeNow } from './context.ts';
import { ApiError } from './problem.ts';
import { withinRequest } from './request-label.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** Seals a response for the store, or returns undefined when the request has no Idempotency-Key. */
export type Remember = (answer: Answer) => AnswerToStore | undefined;

/**
 * Runs the work of a request at most once per API key and Idempotency-Key: the store gives one request the claim. The
 * work passes the result of `remember` to the store, in the same transaction as its change; a repeated request gets that
 * response again. Only successes are stored: a refused request changed nothing and is judged anew. Sealed, because the
 * response contains a signing secret.
 */
export async function idempotently(
  context: ApiContext,
  {
    request,
    response,
    replayWaits,
  }: {
    readonly request: Request;
    readonly response: Response;
    /** Whether a repeated request responds only once the change is in force everywhere, like the first one. */
    readonly replayWaits: boolean;
  },
  work: (remember: Remember) => Promise<Answer>,
): Promise<void> {
  const key = request.get('idempotency-key');
  if (key === undefined) return send(response, await work(() => undefined));
  const { store, clock, keyRing, limits } = context;
  const scope = `${response.locals.keyId}:${key}`;
  const requestHash = hashOf(request);
  const claim = await store.answers.claim(scope, clock.wall());
  switch (claim.kind) {
    case 'running':
      throw inProgress('The first request with this key is still in progress.');
    case 'claimed': {
      const { token } = claim;
      const remember: Remember = (toKeep) => ({
        scope,
        token,
        requestHash,
        status: toKeep.status,
        sealed: JSON.stringify(keyRing.seal(JSON.stringify(toKeep), scope)),
        expiresAt: wholeNow(clock) + limits.answersKeptMs,
      });
      return send(response, await claimed(context, { scope, token }, () => work(remember)));
    }
    case 'stored': {
      if (claim.requestHash !== requestHash)
        throw new ApiError('idempotency_key_reused', 'The first request with this key was a different one.');
      if (replayWaits) await awaitPublished(context, claim.outboxId);
      const answer: Answer = JSON.parse(keyRing.open(JSON.parse(claim.sealed), scope));
      return send(response, { ...answer, headers: { ...answer.headers, 'Idempotent-Replayed': 'true' } });
    }
  }
}

/** As `idempotently`, for a change that is not in the store: the response is stored after it. */
export async function idempotentlyKept(
  context: ApiContext,
  { request, response }: { readonly request: Request; readonly response: Response },
  work: () => Promise<Answer>,
): Promise<void> {
  await idempotently(context, { request, response, replayWaits: false }, async (remember) => {
    const answer = await work();
    const kept = remember(answer);
    if (kept) await context.store.answers.keep(kept, wholeNow(context.clock));
    return answer;
  });
}

/** Carries out the work, and ends the claim: it is in nobody's way once an answer was stored. */
async function claimed(
  { store }: ApiContext,
  { scope, token }: { readonly scope: string; readonly token: string },
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoreConflict)
      throw inProgress('This request took too long, and another one with this key was started.');
    throw error;
  } finally {
    // One that cannot be ended now ends by itself.
    await store.answers.release(scope, token).catch(() => {});
  }
}

function inProgress(detail: string): ApiError {
  return new ApiError('idempotency_key_in_progress', detail, { headers: { 'Retry-After': '1' } });
}

function send(response: Response, answer: Answer): void {
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value);
  sendJson(response, answer.status, answer.body);
}

/** Sends a response that no cache may keep: it belongs to one merchant and may contain a secret. */
export function sendJson(response: Response, status: number, body: object): void {
  response.setHeader('Cache-Control', 'no-store');
  withinRequest(response, () => response.status(status).json(body));
}

/**
 * Hashes a request. The same request = the same method, path, API-Version and JSON, whatever the order of its
 * properties.
 */
function hashOf(request: Request): string {
  const parts = [
    request.method,
    request.path,
    request.get('api-version') ?? '',
    canonical(request.body ?? null),
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, canonical(inner)] as const);
  return entries.sort(([a], [b]) => (a < b ? -1 : 1));
}
