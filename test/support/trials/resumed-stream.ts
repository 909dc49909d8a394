import { expect } from 'vitest';
import { eventually } from '../eventually.ts';
import { jsonEventOf } from '../records/events.ts';
import { inForce } from '../service/in-force.ts';
import { MerchantClient } from '../service/merchant-client.ts';
import { openStream, type StreamEvent } from '../service/stream-client.ts';
import type { Service, ServiceSetup } from '../service/system.ts';

const KILLS = 3;
const EVENTS_PER_ROUND = 60;

export interface StreamedService {
  readonly setup: ServiceSetup;
  readonly receiverUrl: string;
  /** Returns the process with the api as it runs now. */
  readonly api: () => Pick<Service, 'apiUrl'>;
  /** Ends the process with the api by SIGKILL, calls `gone`, and starts it again. */
  readonly killApi: (gone: () => Promise<void>) => Promise<void>;
}

/**
 * Publishes while the process with the api is killed several times, and expects a reader that resumes with its last id to
 * get everything exactly once, in the order in which a reader without interruption gets it.
 */
export async function expectResumable(service: StreamedService): Promise<void> {
  const { setup, api } = service;
  const merchant = new MerchantClient(setup, api);
  let stream = await openStream(api().apiUrl, setup.apiKey);
  await eventually('the stream is open', async () => stream.lastEventId !== undefined);
  const beginning = stream.lastEventId ?? '';
  await merchant.createEndpoint(service.receiverUrl);
  await inForce();
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
    const isRouted = ({ event }: StreamEvent) => event === 'routed';
    await eventually('events come', async () => stream.events.some(isRouted));
    await service.killApi(() => stream.over);
    seen.push(...stream.events);
    stream = await openStream(api().apiUrl, setup.apiKey, { lastEventId: stream.lastEventId ?? beginning });
  }
  const all = () => [...seen, ...stream.events];
  await eventually('every delivery is reported', async () => {
    const done = new Set(
      ofKind(all(), 'attempt').flatMap(({ data }) => (data.outcome === 'delivered' ? [data.event_uuid] : [])),
    );
    return published.every((id) => done.has(id)) && ofKind(all(), 'routed').length >= published.length;
  });
  expectOnce(all(), published);
  // The same as one reader that was never cut off, from the beginning.
  const whole = await openStream(api().apiUrl, setup.apiKey, { lastEventId: beginning, query: '?seconds=0' });
  await whole.over;
  expect(whole.events.slice(0, -1)).toEqual(all());
  stream.close();
}

function expectOnce(all: readonly StreamEvent[], published: readonly string[]): void {
  const routed = ofKind(all, 'routed').map(({ data }) => data.event_uuid);
  expect(routed.sort()).toEqual([...published].sort());
  const attempts = ofKind(all, 'attempt').map(({ data }) => `${data.delivery_uuid}/${data.attempt}`);
  expect(new Set(attempts).size).toBe(attempts.length);
  const ids = all.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(all.map(({ event }) => event)).not.toContain('gap');
}

function ofKind(events: readonly StreamEvent[], kind: string): StreamEvent[] {
  return events.filter(({ event }) => event === kind);
}
