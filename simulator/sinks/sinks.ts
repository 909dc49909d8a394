import { appendFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { eventToJson } from '../../services/codec/event-json.ts';
import { API_VERSION_DEFAULT } from '../../services/domain/endpoint.ts';
import type { DomainEvent } from '../../services/domain/event.ts';
import { deliveryId, uuidV5 } from '../../services/domain/ids.ts';
import { sign } from '../../services/domain/signature.ts';
import { renderBody } from '../../services/domain/versions/render.ts';
import { authorizationOf, webhookHeaders, webhookTimestamp } from '../../services/domain/webhook-request.ts';
import { type ApiClient, ApiRefusal, bodyOf } from '../client/api-client.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import type { Sink } from '../terminal/sink.ts';

/** The result of sending an event. */
export interface Sent {
  /** `duplicate`: the same event id was sent before, and is not delivered again. */
  readonly status: 'accepted' | 'duplicate' | 'quarantined' | 'written' | 'answered';
  /** A description for the user. */
  readonly detail?: string;
}

/** The destination of a run's events. One result per event, in order. */
export interface EventSink {
  send(events: readonly DomainEvent[]): Promise<readonly Sent[]>;
  /** Opens connections, so that the first event takes no longer than the others. */
  warmUp?(): Promise<void>;
  /** Closes connections. Never rejects. */
  close?(): Promise<void>;
}

/** At most so many events per request (docs/decisions.md, "Producers"). */
export const EVENTS_PER_REQUEST_MAX = 500;

/** Sends events like a producer: the producer route, the router, the sender. Resolves when they are durable. */
export function apiSink(producer: ApiClient): EventSink {
  return {
    warmUp: async () => {
      // No events: refused, after all that the first request waits for.
      await producer.rest.POST('/producer/events', { body: [] }).catch((error: unknown) => {
        if (!(error instanceof ApiRefusal) || error.status !== 400) throw error;
      });
    },
    send: async (events) => {
      const body = events.map(eventToJson);
      const answer = await bodyOf(producer.rest.POST('/producer/events', { body }));
      return events.map((_, i) => {
        const { status = 'accepted', code } = answer.results[i] ?? {};
        return { status: status as Sent['status'], ...(code === undefined ? {} : { detail: code }) };
      });
    },
  };
}

/** Writes events as JSON lines to a stream, to read or to pipe into something else. */
export function streamSink(stream: Sink): EventSink {
  return {
    send: async (events) => {
      for (const event of events) stream.write(`${JSON.stringify(eventToJson(event))}\n`);
      return events.map(() => ({ status: 'written' }));
    },
  };
}

/** Writes events as JSON lines to a file, which is replaced. */
export function fileSink(path: string): EventSink {
  writeFileSync(path, '');
  return {
    send: async (events) => {
      appendFileSync(path, events.map((event) => `${JSON.stringify(eventToJson(event))}\n`).join(''));
      return events.map(() => ({ status: 'written' }));
    },
  };
}

export interface DirectTarget {
  readonly url: string;
  readonly secret: string;
  /** PEM of the authorities to trust; undefined = the system's. */
  readonly ca: string | undefined;
}

const DIRECT_TIMEOUT_MS = 10_000;

/**
 * Sends straight to a receiver, without hookrail: one attempt each, signed as the sender signs. For testing a receiver.
 */
export function directSink(target: DirectTarget): EventSink {
  const endpointId = uuidV5('simulator-direct', target.url);
  return {
    send: async (events) => {
      const sent: Sent[] = [];
      for (const event of events) sent.push(await post(target, endpointId, event));
      return sent;
    },
  };
}

async function post(target: DirectTarget, endpointId: string, event: DomainEvent): Promise<Sent> {
  const rendered = renderBody(event, API_VERSION_DEFAULT, { senderAccountDetails: true });
  if (rendered.kind !== 'rendered') {
    const why = rendered.kind === 'invalid' ? `${rendered.pointer} ${rendered.detail}` : rendered.reason;
    throw new CommandFailure(EXIT.usage, `${event.type}/${event.subType} has no body: ${why}`);
  }
  const { body } = rendered;
  const startedAt = Date.now();
  const delivery = {
    deliveryId: deliveryId(event.eventId, endpointId),
    eventId: event.eventId,
    endpointId,
    apiVersion: API_VERSION_DEFAULT,
    trigger: 'live' as const,
    attempt: 1,
    occurredAt: event.occurredAt,
  };
  const signature = sign(target.secret, event.eventId, webhookTimestamp(startedAt), body);
  const headers = webhookHeaders({ delivery, startedAt, signature }, authorizationOf(target.secret));
  headers.push('Content-Length', String(body.length), 'Host', new URL(target.url).host);
  const status = await exchange(target, headers, body);
  return { status: 'answered', detail: `${status} in ${Date.now() - startedAt} ms` };
}

function exchange(target: DirectTarget, headers: string[], body: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    const unreachable = (error: NodeJS.ErrnoException) => {
      const reason = error.code ?? error.message;
      reject(new CommandFailure(EXIT.unreachable, `${target.url} cannot be reached (${reason})`));
    };
    const signal = AbortSignal.timeout(DIRECT_TIMEOUT_MS);
    const ca = target.ca === undefined ? {} : { ca: target.ca };
    const outgoing = request(
      target.url,
      { method: 'POST', headers, signal, agent: false, ...ca },
      (incoming) => {
        incoming.on('error', unreachable);
        // Only the status matters; the rest is not awaited.
        resolve(incoming.statusCode ?? 0);
        incoming.destroy();
      },
    );
    outgoing.on('error', (error) => {
      if (!signal.aborted) return unreachable(error);
      reject(new CommandFailure(EXIT.timeout, `no answer from ${target.url} within ${DIRECT_TIMEOUT_MS} ms`));
    });
    outgoing.end(body);
  });
}
