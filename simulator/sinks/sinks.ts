import { appendFileSync, writeFileSync } from 'node:fs';
import { eventToJson } from '../../services/codec/event-json.ts';
import type { DomainEvent } from '../../services/domain/event.ts';
import { type ApiClient, bodyOf } from '../client/api-client.ts';
import { ApiRefusal } from '../client/api-refusal.ts';
import type { Sink } from '../terminal/sink.ts';
import { type DirectTarget, exchange, genuineRequest } from './direct.ts';

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
      const answer = await bodyOf(producer.rest.POST('/producer/events', { body }), {
        lists: { results: {} },
      });
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

/**
 * Sends straight to a receiver, without hookrail: one attempt each, signed as the sender signs. For testing a receiver.
 */
export function directSink(target: DirectTarget): EventSink {
  return {
    send: async (events) => {
      const sent: Sent[] = [];
      for (const event of events) {
        const startedAt = Date.now();
        const status = await exchange(target, genuineRequest(event, target, startedAt));
        sent.push({ status: 'answered', detail: `${status} in ${Date.now() - startedAt} ms` });
      }
      return sent;
    },
  };
}
