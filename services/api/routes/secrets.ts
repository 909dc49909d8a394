import type { RequestHandler, Response } from 'express';
import { newSecret, secretHint } from '../../domain/secret.ts';
import type { EndpointRecord } from '../../store/store.ts';
import { merchantOf } from '../auth.ts';
import { type ApiContext, actorOf, awaitPublished, wholeNow } from '../context.ts';
import { timestamp } from '../endpoint-json.ts';
import { type Answer, idempotently, type Remember } from '../idempotency.ts';
import { ApiError } from '../problem.ts';
import { endpointNotFound, findEndpoint, pathId } from './read-endpoints.ts';

const SECRET_BYTES = 32;
/** A rotation that meets another change of the prepared secret looks again this often. */
const LOOKS_MAX = 5;

interface RotateBody {
  readonly use?: 'prepared';
}

/** Returns a new signing secret in plain text. */
export function drawSecret({ random }: Pick<ApiContext, 'random'>): string {
  return newSecret(random.bytes(SECRET_BYTES));
}

/** PATCH /merchant/webhook-endpoints/{id}/secret: once it responds, the old secret is invalid. */
export function rotateSecret(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const { use }: RotateBody = request.body ?? {};
    await idempotently(context, { request, response, replayWaits: true }, async (remember) => {
      for (let looks = 1; ; looks += 1) {
        const endpoint = await findEndpoint(context, request, response);
        const answer = await rotated(context, { response, endpoint, remember, use });
        if (answer) return answer;
        if (looks === LOOKS_MAX)
          throw new Error(
            `the prepared secret of endpoint ${endpoint.uuid} changed ${LOOKS_MAX} times meanwhile`,
          );
      }
    });
  };
}

interface Rotation {
  readonly response: Response;
  readonly endpoint: EndpointRecord;
  readonly remember: Remember;
  readonly use: 'prepared' | undefined;
}

/** Puts the prepared secret in force, or a new one; returns undefined when another was prepared, or it was discarded, meanwhile. */
async function rotated(
  context: ApiContext,
  { response, endpoint, remember, use }: Rotation,
): Promise<Answer | undefined> {
  const { uuid, merchantId, prepared = null } = endpoint;
  const at = wholeNow(context.clock);
  // A prepared secret that cannot be opened counts as none: a rotation mends that.
  const kept = prepared === null ? undefined : context.keyRing.tryOpen(prepared, uuid);
  const secret = kept ?? (use === undefined ? drawSecret(context) : undefined);
  if (secret === undefined) throw notPrepared();
  const hint = secretHint(secret);
  const answer: Answer = {
    status: 200,
    headers: {},
    body: { uuid, signing_secret: secret, secret_hint: hint, secret_rotated_at: timestamp(at) },
  };
  const stored = remember(answer);
  const result = await context.store.endpoints.rotate(
    merchantId,
    uuid,
    { sealed: context.keyRing.seal(secret, uuid), hint },
    { at, actor: actorOf(response), seen: prepared, ...(stored ? { answer: stored } : {}) },
  );
  if (result.kind === 'not_found') throw endpointNotFound();
  if (result.kind === 'prepared_changed') return undefined;
  await awaitPublished(context, result.outboxId);
  return answer;
}

export function notPrepared(): ApiError {
  return new ApiError('secret_not_prepared', 'The endpoint has no prepared secret.');
}

/** POST /merchant/webhook-endpoints/{id}/secret/prepare: responds once the senders know the secret, for tests. */
export function prepareSecret(context: ApiContext): RequestHandler {
  return async (request, response) => {
    const uuid = pathId(request, 'id');
    await idempotently(context, { request, response, replayWaits: true }, async (remember) => {
      const at = wholeNow(context.clock);
      const secret = drawSecret(context);
      const hint = secretHint(secret);
      const answer: Answer = {
        status: 200,
        headers: {},
        body: {
          uuid,
          signing_secret: secret,
          prepared_secret_hint: hint,
          secret_prepared_at: timestamp(at),
        },
      };
      const stored = remember(answer);
      const prepared = { sealed: context.keyRing.seal(secret, uuid), hint };
      await keep(context, response, uuid, prepared, { at, ...(stored ? { answer: stored } : {}) });
      return answer;
    });
  };
}

/** DELETE /merchant/webhook-endpoints/{id}/secret/prepare: an endpoint without a prepared secret stays as it is. */
export function discardPrepared(context: ApiContext): RequestHandler {
  return async (request, response) => {
    await keep(context, response, pathId(request, 'id'), null, { at: wholeNow(context.clock) });
    response.status(204).end();
  };
}

type Prepare = Parameters<ApiContext['store']['endpoints']['prepare']>;

/** Keeps or discards the prepared secret of an endpoint, and resolves when the senders know. */
async function keep(
  context: ApiContext,
  response: Response,
  uuid: string,
  secret: Prepare[2],
  options: Omit<Prepare[3], 'actor'>,
): Promise<void> {
  const by = { ...options, actor: actorOf(response) };
  const result = await context.store.endpoints.prepare(merchantOf(response), uuid, secret, by);
  if (result.kind === 'not_found') throw endpointNotFound();
  await awaitPublished(context, result.outboxId);
}
