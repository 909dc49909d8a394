/**
 * Guarantee: a reader of the stream that resumes with its last id gets everything exactly once, across `kill -9` of the
 * process in the middle of the traffic.
 */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { openStream, type StreamEvent } from '../support/service/stream-client.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';

const KILLS = 3;
const EVENTS_PER_ROUND = 60;
const START_MS = 60_000;

let setup: ServiceSetup;
let service: Service;
let receiver: LoggingReceiver;
beforeAll(async () => {
  setup = await prepareSetup();
  receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
  service = await startService(setup.environment);
}, START_MS);
afterAll(async () => {
  await service?.end('SIGKILL');
  await receiver?.close();
  if (setup) rmSync(setup.dataDir, { recursive: true, force: true });
});

it('loses nothing and repeats nothing over killed processes', { timeout: 300_000 }, async () => {
  const merchant = new MerchantClient(setup, () => service);
  let stream = await openStream(service.apiUrl, setup.apiKey);
  await eventually('the stream is open', async () => stream.lastEventId !== undefined);
  const beginning = stream.lastEventId ?? '';
  await merchant.createEndpoint(`${receiver.url}/stream`);
  const seen: StreamEvent[] = [];
  const published: string[] = [];
  for (let round = 0; round <= KILLS; round += 1) {
    const events = Array.from({ length: EVENTS_PER_ROUND }, (_, n) =>
      jsonEventOf(setup.merchantId, `stream ${round} ${n}`),
    );
    published.push(...events.map(({ header }) => header.eventId));
    await merchant.publish(events);
    if (round === KILLS) break;
    // In the middle: some have come, and some have not.
    await eventually('events come', async () => stream.events.length > 0);
    await service.end('SIGKILL');
    await stream.over;
    seen.push(...stream.events);
    service = await startService(setup.environment);
    stream = await openStream(service.apiUrl, setup.apiKey, { lastEventId: stream.lastEventId ?? beginning });
  }
  const all = () => [...seen, ...stream.events];
  const ofKind = (kind: string) => all().filter(({ event }) => event === kind);
  await eventually('every delivery is reported', async () => {
    const done = new Set(
      ofKind('attempt').flatMap(({ data }) => (data.outcome === 'delivered' ? [data.event_uuid] : [])),
    );
    return published.every((id) => done.has(id));
  });
  expect(
    ofKind('routed')
      .map(({ data }) => data.event_uuid)
      .sort(),
  ).toEqual([...published].sort());
  const attempts = ofKind('attempt').map(({ data }) => `${data.delivery_uuid}/${data.attempt}`);
  expect(new Set(attempts).size).toBe(attempts.length);
  const ids = all().map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(names(all())).not.toContain('gap');
  // The same as one reader that was never cut off, from the beginning.
  const whole = await openStream(service.apiUrl, setup.apiKey, {
    lastEventId: beginning,
    query: '?seconds=0',
  });
  await whole.over;
  expect(whole.events.slice(0, -1)).toEqual(all());
  stream.close();
});

function names(events: readonly StreamEvent[]): string[] {
  return events.map(({ event }) => event);
}
