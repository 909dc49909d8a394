import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import type { AnswerToStore } from '../store/change.ts';
import { type ApiContext, awaitPublished, wholeNow } from './context.ts';
import { ApiError } from './problem.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** Seals a response for the store, or returns undefined when the request has no Idempotency-Key. */
export type Remember = (answer: Answer) => AnswerToStore | undefined;

/** The running requests with an Idempotency-Key. Only this process uses the store, so memory is enough. */
export type RunningKeys = Set<string>;

/**
 * Runs the work of a request at most once per API key and Idempotency-Key. The work passes the result of `remember` to
 * the store, in the same transaction as its change; a repeated request gets that response again. Only successes are
 * stored: a refused request changed nothing and is judged anew. Sealed, because the response contains a signing secret.
 */
export async function idempotently(
  context: ApiContext,
  running: RunningKeys,
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
  const scope = `${response.locals.keyId}:${key}`;
  const requestHash = hashOf(request);
  if (running.has(scope)) {
    const detail = 'The first request with this key is still in progress.';
    throw new ApiError('idempotency_key_in_progress', detail, { headers: { 'Retry-After': '1' } });
  }
  running.add(scope);
  try {
    const known = await context.store.answers.find(scope, context.clock.wall());
    if (known === undefined) {
      const answer = await work((toKeep) => ({
        scope,
        requestHash,
        status: toKeep.status,
        sealed: JSON.stringify(context.keyRing.seal(JSON.stringify(toKeep), scope)),
        expiresAt: wholeNow(context.clock) + context.limits.answersKeptMs,
      }));
      return send(response, answer);
    }
    if (known.requestHash !== requestHash) {
      throw new ApiError('idempotency_key_reused', 'The first request with this key was a different one.');
    }
    if (replayWaits) await awaitPublished(context, known.outboxId);
    const answer: Answer = JSON.parse(context.keyRing.open(JSON.parse(known.sealed), scope));
    send(response, { ...answer, headers: { ...answer.headers, 'Idempotent-Replayed': 'true' } });
  } finally {
    running.delete(scope);
  }
}

function send(response: Response, answer: Answer): void {
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value);
  sendJson(response, answer.status, answer.body);
}

/** Sends a response that no cache may keep: it belongs to one merchant and may contain a secret. */
export function sendJson(response: Response, status: number, body: object): void {
  response.setHeader('Cache-Control', 'no-store');
  response.status(status).json(body);
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
