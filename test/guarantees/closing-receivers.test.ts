/**
 * Guarantee: a receiver that closes the connection after its answers, announced or not, gets every webhook at the first
 * attempt. The long form: LONG_RUN=1.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { subTypesOf } from '../../services/domain/catalog/catalog.ts';
import { EVENT_TYPES, type EventType } from '../../services/domain/event.ts';
import { eventually } from '../support/eventually.ts';
import { sizeOf } from '../support/long-runs.ts';
import { type RawReceiver, startRawReceiver } from '../support/receivers/misbehaving-receivers.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';

const SECONDS = sizeOf('CLOSING_SECONDS');
const EVENTS_PER_SECOND = 200;
const EVENTS_PER_POST = 10;
/** A new endpoint is known to the router and the sender after this time. */
const IN_FORCE_MS = 1200;
const ARRIVED_MS_MAX = 20_000;

interface Closing {
  readonly name: string;
  /** The connection closes after this many answers. */
  readonly every: number;
  /** From the answer to the close, milliseconds. */
  readonly afterMs: number;
  readonly isAnnounced: boolean;
}

const CLOSINGS: readonly Closing[] = [1, 5].flatMap((every) =>
  [0, 1, 5].flatMap((afterMs) =>
    [true, false].map((isAnnounced) => ({
      name: `${every === 1 ? 'every answer' : 'every fifth answer'}, ${afterMs} ms later, ${isAnnounced ? '' : 'un'}announced`,
      every,
      afterMs,
      isAnnounced,
    })),
  ),
);

/** A receiver with one event type of its own. */
class ClosingReceiver {
  readonly closing: Closing;
  readonly type: EventType;
  /** Attempt numbers and times of arrival by event id. */
  readonly arrivals = new Map<string, { readonly attempt: number; readonly at: number }[]>();
  #receiver: RawReceiver | undefined;

  constructor(closing: Closing, type: EventType) {
    this.closing = closing;
    this.type = type;
  }

  async start(certificate: ServiceSetup['receiverCert']): Promise<string> {
    const answered = new WeakMap<object, number>();
    const { every, afterMs, isAnnounced } = this.closing;
    this.#receiver = await startRawReceiver(certificate, (socket, _path, request = '') => {
      this.#arrived(request);
      const count = (answered.get(socket) ?? 0) + 1;
      answered.set(socket, count);
      const isLast = count % every === 0;
      const close = isLast && isAnnounced ? 'Connection: close\r\n' : '';
      socket.write(`HTTP/1.1 200 OK\r\n${close}Content-Length: 2\r\n\r\nok`);
      if (!isLast) return;
      if (afterMs === 0) socket.end();
      else setTimeout(() => socket.end(), afterMs);
    });
    return this.#receiver.origin;
  }

  close(): Promise<void> | undefined {
    return this.#receiver?.close();
  }

  #arrived(request: string): void {
    const header = (name: string) => new RegExp(`^${name}: (.*)\r$`, 'im').exec(request)?.[1] ?? '';
    const id = header('webhook-id');
    const known = this.arrivals.get(id) ?? [];
    this.arrivals.set(id, [...known, { attempt: Number(header('webhook-attempt')), at: Date.now() }]);
  }
}

const receivers = CLOSINGS.map((closing, i) => new ClosingReceiver(closing, EVENT_TYPES[i] as EventType));
let setup: ServiceSetup;
let service: Service | undefined;
let merchant: MerchantClient;

beforeAll(async () => {
  setup = await prepareSetup();
  const started = await startService(setup.environment);
  service = started;
  merchant = new MerchantClient(setup, () => started);
  for (const receiver of receivers) {
    const url = await receiver.start(setup.receiverCert);
    await merchant.createEndpoint(url, { subscribed_events: [receiver.type] });
  }
  await sleep(IN_FORCE_MS);
});

afterAll(async () => {
  await service?.end('SIGTERM');
  for (const receiver of receivers) await receiver.close();
});

/** Publishes events of the type at the trial's rate; resolves with their times of posting by id. */
async function publish(type: EventType, count: number): Promise<ReadonlyMap<string, number>> {
  const postedAt = new Map<string, number>();
  const posts: Promise<{ readonly status: number }>[] = [];
  const startedAt = Date.now();
  while (postedAt.size < count) {
    const events = Array.from({ length: EVENTS_PER_POST }, (_, i) =>
      jsonEventOf(setup.merchantId, `${type}-${postedAt.size + i}`, {
        type,
        subType: subTypesOf(type, '2.3.8')[0] ?? '',
      }),
    );
    for (const { header } of events) postedAt.set(header.eventId, Date.now());
    posts.push(merchant.publish(events));
    await sleep(Math.max(0, startedAt + (postedAt.size * 1000) / EVENTS_PER_SECOND - Date.now()));
  }
  for (const { status } of await Promise.all(posts)) expect(status).toBe(202);
  return postedAt;
}

describe('a receiver that closes its connections', () => {
  it.each(receivers.map((receiver) => [receiver.closing.name, receiver] as const))(
    'after %s gets every webhook at the first attempt',
    { timeout: SECONDS * 1000 + 2 * ARRIVED_MS_MAX },
    async (name, receiver) => {
      const { arrivals, type } = receiver;
      const postedAt = await publish(type, SECONDS * EVENTS_PER_SECOND);
      await eventually('every webhook has arrived', () => arrivals.size >= postedAt.size, ARRIVED_MS_MAX);
      const wrong = [...arrivals].filter(([, seen]) => seen.some(({ attempt }) => attempt !== 1));
      expect(wrong).toEqual([]);
      expect([...arrivals.keys()].sort()).toEqual([...postedAt.keys()].sort());
      const late = [...arrivals].map(([id, seen]) => (seen[0]?.at ?? 0) - (postedAt.get(id) ?? 0));
      late.sort((a, b) => a - b);
      const percentile = (share: number) => late[Math.ceil(late.length * share) - 1];
      const repeats = [...arrivals.values()].reduce((sum, seen) => sum + seen.length - 1, 0);
      console.log(
        `${name}: ${arrivals.size} of ${postedAt.size} at the first attempt, p50 ${percentile(0.5)} ms, ` +
          `p99 ${percentile(0.99)} ms, max ${percentile(1)} ms, ${repeats} sent twice`,
      );
    },
  );
});
