import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { SEQUENCES_PER_MS } from '../../services/domain/catalog/sequence.ts';
import { subjectIdOf } from '../../services/domain/catalog/subject.ts';
import { API_VERSION_DEFAULT } from '../../services/domain/endpoint.ts';
import type { DomainEvent } from '../../services/domain/event.ts';
import { deliveryId, uuidV5 } from '../../services/domain/ids.ts';
import { sign } from '../../services/domain/signature.ts';
import { isLoopbackHost } from '../../services/domain/text/loopback.ts';
import { renderBody } from '../../services/domain/versions/render.ts';
import { authorizationOf, webhookHeaders, webhookTimestamp } from '../../services/domain/webhook-request.ts';
import { CommandFailure, EXIT, usage } from '../exit.ts';
import type { Action, Forgery } from '../scenario/scenario-format.ts';

export interface DirectTarget {
  readonly url: string;
  readonly secret: string;
  /** PEM of the authorities to trust; undefined = the system's. */
  readonly ca: string | undefined;
}

/** A webhook as it goes to a receiver: names and values of its headers in turn. */
export interface DirectRequest {
  readonly headers: readonly string[];
  readonly body: Uint8Array;
}

const TIMEOUT_MS = 10_000;
/** More than any receiver should tolerate. */
const STALE_MS = 600_000;

/**
 * Returns the URL of a receiver. Throws a usage failure unless it is https, or http on this machine: the secret is in
 * every request.
 */
export function directUrl(to: string): string {
  // "localhost:3000" would be read as a URL of the scheme "localhost".
  const text = /^[a-z]+:\/\//i.test(to) ? to : `http://${to}`;
  if (!URL.canParse(text)) throw usage(`--to "${to}" is not a URL, such as http://localhost:3000/hook`);
  const { protocol, hostname } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') throw usage(`--to "${to}" is not an http or https URL`);
  if (protocol === 'http:' && !isLoopbackHost(hostname)) {
    throw usage(
      `--to "${to}" is not an https URL; http is for this machine only, because the secret is sent along`,
    );
  }
  return text;
}

/** Returns the first attempt of an event, signed as the sender signs. Throws a usage failure if it has no body. */
export function genuineRequest(event: DomainEvent, target: DirectTarget, startedAt: number): DirectRequest {
  const body = bodyOf(event);
  const signature = sign(target.secret, event.eventId, webhookTimestamp(startedAt), body);
  return requestOf(event, target, { body, startedAt, signature, secret: target.secret });
}

/** An action that sends a receiver something that hookrail would not send. */
export type OwnRequest = Extract<Action, { kind: 'forge' } | { kind: 'overtaken' }>;

/** Returns the request of an action that is like the webhook of an event. */
export function ownRequest(
  event: DomainEvent,
  target: DirectTarget,
  startedAt: number,
  action: { readonly kind: 'forge'; readonly how: Forgery } | { readonly kind: 'overtaken' },
): DirectRequest {
  return action.kind === 'forge'
    ? forgedRequest(event, target, startedAt, action.how)
    : overtakenRequest(event, target, startedAt);
}

/** Returns a genuine webhook of an event that was accepted before this one, about the same thing. */
function overtakenRequest(event: DomainEvent, target: DirectTarget, startedAt: number): DirectRequest {
  const eventId = uuidV5('simulator-overtaken', event.eventId, String(startedAt));
  // Of an event that hookrail delivers: its sequence is not known here, and 1 is lower.
  const sequence = (sequences.get(event) ?? 2) - 1;
  return genuineRequest({ ...event, eventId, sequence }, target, startedAt);
}

/**
 * Returns a webhook like that of an event that a correct receiver refuses. It has a webhook-id of its own, so that it
 * is not taken for a repetition.
 */
function forgedRequest(
  event: DomainEvent,
  target: DirectTarget,
  startedAt: number,
  how: Forgery,
): DirectRequest {
  const eventId = uuidV5('simulator-forged', event.eventId, how, String(startedAt));
  const forged = { ...event, eventId };
  const body = bodyOf(event);
  const signed = (secret: string, id: string, at: number) => sign(secret, id, webhookTimestamp(at), body);
  const { secret } = target;
  switch (how) {
    case 'bad-secret': {
      const other = otherSecret(secret);
      const signature = signed(other, eventId, startedAt);
      return requestOf(forged, target, { body, startedAt, signature, secret: other });
    }
    case 'bad-signature': {
      const signature = signed(secret, eventId, startedAt);
      return requestOf(forged, target, { body: changed(body), startedAt, signature, secret });
    }
    case 'stale-timestamp': {
      const signature = signed(secret, eventId, startedAt - STALE_MS);
      return requestOf(forged, target, { body, startedAt: startedAt - STALE_MS, signature, secret });
    }
    case 'replayed': {
      const signature = signed(secret, event.eventId, startedAt - STALE_MS);
      return requestOf(forged, target, { body, startedAt, signature, secret });
    }
  }
}

function bodyOf(event: DomainEvent): Uint8Array {
  const rendered = renderBody(event, API_VERSION_DEFAULT, { senderAccountDetails: true });
  if (rendered.kind === 'rendered') return rendered.body;
  const why = rendered.kind === 'invalid' ? `${rendered.pointer} ${rendered.detail}` : rendered.reason;
  throw usage(`${event.type}/${event.subType} has no body: ${why}`);
}

/** Returns a secret that whoever does not know the other might try; of the same form, and the same every time. */
function otherSecret(secret: string): string {
  return `whsec_${createHash('sha256').update(`forged ${secret}`).digest('base64')}`;
}

/** Returns the body of another event, which a thief would rather send: a payment that has succeeded. */
function changed(body: Uint8Array): Uint8Array {
  const text = Buffer.from(body).toString('utf8');
  const other = text.replace(/"subType":"[A-Z_]+"/i, '"subType":"SUCCESS"');
  return Buffer.from(other === text ? `${text} ` : other);
}

function requestOf(
  event: DomainEvent,
  { url }: DirectTarget,
  sent: {
    readonly body: Uint8Array;
    readonly startedAt: number;
    readonly signature: string;
    readonly secret: string;
  },
): DirectRequest {
  const { body, startedAt, signature, secret } = sent;
  const endpointId = uuidV5('simulator-direct', url);
  const delivery = {
    deliveryId: deliveryId(event.eventId, endpointId),
    eventId: event.eventId,
    endpointId,
    entityId: event.entityId,
    subjectId: subjectIdOf(event),
    sequence: sequenceOf(event, startedAt),
    apiVersion: API_VERSION_DEFAULT,
    trigger: 'live' as const,
    attempt: 1,
    occurredAt: event.occurredAt,
  };
  const headers = webhookHeaders({ delivery, startedAt, signature }, authorizationOf(secret));
  headers.push('Content-Length', String(body.length), 'Host', new URL(url).host);
  return { headers, body };
}

const sequences = new WeakMap<DomainEvent, number>();
let lastSequence = 0;

/** Returns the sequence of an event: the next one when it is sent first, and the same when it is sent again. */
function sequenceOf(event: DomainEvent, startedAt: number): number {
  const known = event.sequence ?? sequences.get(event);
  if (known !== undefined) return known;
  lastSequence = Math.max(lastSequence + 1, Math.floor(startedAt * SEQUENCES_PER_MS));
  sequences.set(event, lastSequence);
  return lastSequence;
}

/** Sends one request. Resolves with the status; rejects with a failure when there is no answer. */
export async function exchange(target: DirectTarget, sent: DirectRequest): Promise<number> {
  return (await answerOf(target, sent)).status;
}

export interface ReceiversAnswer {
  readonly status: number;
  /** The header webhook-result: what the receiver says that it did. */
  readonly result: string | undefined;
}

/** Sends one request, as `exchange` does. */
export function answerOf(target: DirectTarget, { headers, body }: DirectRequest): Promise<ReceiversAnswer> {
  return new Promise((resolve, reject) => {
    const unreachable = (error: NodeJS.ErrnoException) => {
      const reason = error.code ?? error.message;
      reject(new CommandFailure(EXIT.unreachable, `${target.url} cannot be reached (${reason})`));
    };
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const ca = target.ca === undefined ? {} : { ca: target.ca };
    const request = target.url.toLowerCase().startsWith('https:') ? httpsRequest : httpRequest;
    const options = { method: 'POST', headers: [...headers], signal, agent: false as const, ...ca };
    const outgoing = request(target.url, options, (incoming) => {
      incoming.on('error', unreachable);
      const result = incoming.headers['webhook-result'];
      // Only the head matters; the rest is not awaited.
      resolve({ status: incoming.statusCode ?? 0, result: result?.toString() });
      incoming.destroy();
    });
    outgoing.on('error', (error) => {
      if (!signal.aborted) return unreachable(error);
      reject(new CommandFailure(EXIT.timeout, `no answer from ${target.url} within ${TIMEOUT_MS} ms`));
    });
    outgoing.end(body);
  });
}
