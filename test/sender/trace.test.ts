/**
 * Guarantee: with tracing on, an event's routing and all attempts of its deliveries are spans of one trace, the producer's
 * if it sent one; each retry links to the attempt before it; no span and no receiver learns what it should not.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { Registry } from 'prom-client';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Broker, ReceivedEvent, RouterResult, Source } from '../../services/broker/broker.ts';
import { openSqliteBroker } from '../../services/broker/sqlite/sqlite-broker.ts';
import { Directory } from '../../services/domain/directory.ts';
import type { DomainEvent } from '../../services/domain/event.ts';
import { deliveryId } from '../../services/domain/ids.ts';
import type { JournalEntries, JournalEntry } from '../../services/domain/journal.ts';
import { KeyRing } from '../../services/keys/keyring.ts';
import { systemClock } from '../../services/process/clock.ts';
import { startRouter } from '../../services/router/router.ts';
import { startSender } from '../../services/sender/sender.ts';
import { createLogger } from '../../services/telemetry/logger.ts';
import { eventually } from '../support/eventually.ts';
import { loopbackTransport } from '../support/receivers/loopback-transport.ts';
import {
  type Answer,
  receiverCertificates,
  startRawReceiver,
} from '../support/receivers/misbehaving-receivers.ts';
import { eventOf } from '../support/records/events.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PRODUCER = '00f067aa0ba902b7';
const clock = systemClock();
const log = createLogger('silent');
const endpointId = randomUUID();
const SECRET = 'whsec_AAAABBBBCCCCDDDD';
const keyRing = KeyRing.parse(
  JSON.stringify({ active: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } }),
  'of the test',
);
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
const BUSY = 'HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n';

let certificates: Awaited<ReturnType<typeof receiverCertificates>>;
let exporter: InMemorySpanExporter;
let tracer: Tracer;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  certificates = await receiverCertificates();
});
beforeEach(() => {
  exporter = new InMemorySpanExporter();
  tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).getTracer('test');
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** The events as an engine hands them over whose producers send this header. */
function withHeader(source: Broker['events'], traceparent: string | undefined): Broker['events'] {
  if (traceparent === undefined) return source;
  const consume: Source<ReceivedEvent, RouterResult>['consume'] = (handler, limits) =>
    source.consume((received, signal, standing) => {
      const { bytes, acceptedAt, decoded } = received;
      return handler({ bytes, acceptedAt, decoded, traceparent }, signal, standing);
    }, limits);
  return { consume };
}

interface SenderParts {
  readonly answer: Answer;
  readonly tracer?: Tracer | null;
  readonly traceparent?: string;
}

/** Router and sender on the embedded engine, one endpoint; 3 s to 13 h are 0.3 ms to 4.7 s. */
async function startSenderAnd({ answer, traceparent, ...tracing }: SenderParts) {
  const dir = mkdtempSync(join(tmpdir(), 'hookrail-trace-'));
  closing.push(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'broker.db');
  const broker = await openSqliteBroker({ file, clock, retryScale: 10_000, log });
  closing.push(() => broker.close());
  const receiver = await startRawReceiver(certificates.certificate, answer);
  closing.push(() => receiver.close());
  const directory = directoryOf(`${receiver.origin}/hook/in-the-path?token=in-the-query`);
  const transport = loopbackTransport(clock, certificates.ca);
  closing.push(() => transport.close());
  const journal: JournalEntry[] = [];
  const record = async ({ entries }: { entries: JournalEntries }) => void journal.push(...entries);
  await broker.journal.consume(record, async () => undefined, { batchMax: 1000 });
  const registry = new Registry();
  const deps = { directory, clock, log, registry, ...tracing };
  const sender = await startSender({
    ...deps,
    broker,
    keyRing,
    environment: 'sandbox',
    transport,
    ready: () => true,
    retryScale: 10_000,
    options: { inFlightMax: 64 },
  });
  closing.push(() => sender.stop(5000));
  const events = withHeader(broker.events, traceparent);
  const router = await startRouter({ ...deps, broker: { events }, acceptsSimulated: true });
  closing.push(() => router.stop(5000));
  return { broker, receiver, journal };
}

function directoryOf(url: string): Directory {
  const directory = new Directory();
  const merchant = {
    merchantId: 'm1',
    name: 'm',
    state: 'active',
    senderAccountDetails: false,
    version: 1,
  } as const;
  directory.apply({ kind: 'merchant', id: 'm1', version: 1, value: merchant });
  const value = {
    uuid: endpointId,
    merchantId: 'm1',
    url,
    subscribedEvents: null,
    status: 'active',
    apiVersion: '2.3.8',
    secret: keyRing.seal(SECRET, endpointId),
    publicKeySignature: false,
    legacy: false,
    version: 1,
  } as const;
  directory.apply({ kind: 'endpoint', id: endpointId, version: 1, value });
  return directory;
}

/** Fails so many times, then acknowledges. */
function failing(times: number): Answer {
  let made = 0;
  return (socket) => void socket.write(made++ < times ? BUSY : OK);
}

async function play(house: SenderParts, attempts: number, event: DomainEvent = eventOf('m1', 'trace')) {
  const started = await startSenderAnd(house);
  await started.broker.publishEvents([event]);
  await eventually(`${attempts} attempts in the journal`, () => {
    return started.journal.filter(({ kind }) => kind === 'attempted').length === attempts;
  });
  const spans = exporter.getFinishedSpans();
  const routes = spans.filter(({ name }) => name === 'route event');
  return { ...started, event, spans, routes, tries: spans.filter(({ name }) => name === 'POST webhook') };
}

describe('a traced event', () => {
  it('is one trace from the producer to the last attempt, and each retry links to the attempt before', async () => {
    const { routes, tries, event } = await play(
      { tracer, answer: failing(2), traceparent: `00-${TRACE}-${PRODUCER}-01` },
      3,
    );
    const [route] = routes;
    expect(routes).toHaveLength(1);
    expect(route?.kind).toBe(SpanKind.CONSUMER);
    expect(route?.spanContext().traceId).toBe(TRACE);
    expect(route?.parentSpanContext?.spanId).toBe(PRODUCER);
    expect(route?.attributes).toMatchObject({ 'hookrail.event_id': event.eventId, 'hookrail.deliveries': 1 });

    expect(tries.map(({ attributes }) => attributes['hookrail.attempt'])).toEqual([1, 2, 3]);
    for (const span of tries) {
      expect(span.kind).toBe(SpanKind.CLIENT);
      expect(span.spanContext().traceId).toBe(TRACE);
      expect(span.parentSpanContext?.spanId).toBe(route?.spanContext().spanId);
    }
    const linked = tries.map(({ links }) => links.map(({ context }) => context.spanId));
    const [first, second] = tries.map((span) => span.spanContext().spanId);
    expect(linked).toEqual([[], [first], [second]]);
  });

  it('has the outcome and time of each attempt in its spans', async () => {
    const { tries, event, journal } = await play({ tracer, answer: failing(1) }, 2);
    expect(tries[0]?.attributes).toEqual({
      'http.request.method': 'POST',
      'url.scheme': 'https',
      'server.address': '127.0.0.1',
      'server.port': expect.any(Number),
      'http.response.status_code': 503,
      'error.type': 'http_5xx',
      'hookrail.delivery_id': deliveryId(event.eventId, endpointId),
      'hookrail.event_id': event.eventId,
      'hookrail.event_type': event.type,
      'hookrail.merchant_id': 'm1',
      'hookrail.endpoint_id': endpointId,
      'hookrail.trigger': 'live',
      'hookrail.attempt': 1,
      'hookrail.outcome': 'retry',
    });
    expect(tries.map(({ status }) => status.code)).toEqual([SpanStatusCode.ERROR, SpanStatusCode.UNSET]);
    expect(tries[1]?.attributes).toMatchObject({
      'hookrail.outcome': 'delivered',
      'http.response.status_code': 200,
    });
    const attempted = journal.filter((entry) => entry.kind === 'attempted');
    for (const [i, { startedAt, durationMs }] of attempted.entries()) {
      const [from = 0, to = 0] = [tries[i]?.startTime, tries[i]?.endTime].map((time) => msOf(time));
      expect(from).toBeCloseTo(startedAt, 2);
      expect(to).toBeCloseTo(startedAt + durationMs, 2);
    }
  });

  it('begins a trace when the producer sent none', async () => {
    const { routes, tries } = await play({ tracer, answer: failing(1) }, 2);
    expect(routes[0]?.parentSpanContext).toBeUndefined();
    expect(new Set(tries.map((span) => span.spanContext().traceId))).toEqual(
      new Set([routes[0]?.spanContext().traceId]),
    );
  });

  it('has a span that failed when it is refused', async () => {
    const { broker } = await startSenderAnd({ tracer, answer: failing(0) });
    await broker.publishEvents([eventOf('nobody', 'trace')]);
    const [span] = await eventually('the span of the refused event', () => {
      const spans = exporter.getFinishedSpans();
      return spans.length > 0 ? spans : null;
    });
    expect(span?.attributes).toMatchObject({
      'error.type': 'unknown_merchant',
      'hookrail.merchant_id': 'nobody',
    });
    expect(span?.status.code).toBe(SpanStatusCode.ERROR);
  });

  it('shows no secret, path or query in its spans, and no trace to the receiver', async () => {
    const { spans, receiver } = await play({ tracer, answer: failing(1) }, 2);
    expect(spans).toHaveLength(3);
    const told = JSON.stringify(
      spans.map(({ name, attributes, events, links, status }) => ({
        name,
        attributes,
        events,
        links,
        status,
      })),
    );
    for (const hidden of [SECRET, 'whsec_', 'in-the-path', 'in-the-query', 'v1,'])
      expect(told).not.toContain(hidden);
    expect(receiver.received).toContain('in-the-path?token=in-the-query');
    expect(receiver.received.toLowerCase()).not.toContain('traceparent');
  });
});

describe('without a tracer, the sender', () => {
  it('makes no spans, and passes the producer’s trace on with every attempt', async () => {
    const traceparent = `00-${TRACE}-${PRODUCER}-01`;
    const { spans, broker } = await play({ answer: failing(7), traceparent }, 7);
    expect(spans).toEqual([]);
    const [letter] = await eventually('a dead letter', async () => {
      const letters = await broker.deadLetters.list({ limit: 10 });
      return letters.length > 0 ? letters : null;
    });
    expect(letter?.record.task).toMatchObject({ attempt: 7, traceparent });
    expect(letter?.record.task).not.toHaveProperty('linkedSpan');
  }, 30_000);
});

/** Milliseconds of a span's time. */
function msOf(time: readonly [number, number] | undefined): number {
  return time ? time[0] * 1000 + time[1] / 1_000_000 : Number.NaN;
}
