/**
 * Measures the cost of the console: how much consoles that are open slow down live deliveries, and how a page of Live does in a real
 * browser while events arrive, with a full log behind it. An open console is a session, the reads of Live, and a stream.
 */
import { request } from 'undici';
import { startChild } from '../child.ts';
import { type RunOptions, recorded, roomAt, withService } from '../engine.ts';
import { EVENTS_PER_REQUEST, makeEvents, pour, serialise, sleep } from '../load.ts';
import { nameOf } from '../report/names.ts';
import type { Service } from '../service.ts';
import { type Beside, besideLines, inTurns, type TurnsOptions } from '../special/turns.ts';
import type { ReadersOptions } from '../stream-readers-process.ts';
import { type LivePage, livePageText, measureLivePage } from './live-page.ts';

export interface ConsoleResult extends Beside {
  readonly engine: string;
  readonly brokers: number;
  readonly consoles: number;
  /** Deliveries in the log before the measurement. */
  readonly deliveries: number;
  readonly eventsPerSecond: number;
  readonly page: LivePage;
}

interface ConsoleOptions extends RunOptions, TurnsOptions {
  readonly consoles: number;
  readonly deliveries: number;
  /** How long the page in the browser is looked at. */
  readonly pageSeconds: number;
}

/** The reads of a console that is opened. */
const OPENING_READS = [
  '/console/session',
  '/merchant/webhook-endpoints?limit=100',
  '/merchant/deliveries?limit=100',
  '/merchant/events?limit=100',
];
const OPENED_MS = 1000;

export function measureConsole(options: ConsoleOptions): Promise<ConsoleResult> {
  const { engine, consoles, deliveries, eventsPerSecond, pageSeconds } = options;
  return withService(options, 1, async (service, producer) => {
    await fill(service, options);
    const credentials = await openSessions(service, consoles);
    const readers = startChild('./stream-readers-process.ts');
    const neighbour = {
      async begin() {
        await Promise.all(credentials.map((headers) => readAsOpened(service.apiUrl, headers)));
        const opened = { apiUrl: service.apiUrl, credentials, streams: consoles, read: 0 };
        await readers.ask('open', opened satisfies ReadersOptions);
        await sleep(OPENED_MS);
      },
      end: () => readers.ask<void>('close'),
    };
    const { merchantIds } = service;
    const beside = await inTurns(options, { merchantIds, producer }, neighbour).finally(() => readers.stop());
    const events = serialise(makeEvents(merchantIds, eventsPerSecond * pageSeconds, 'page'), 1);
    const link = await service.consoleLink();
    const page = await measureLivePage(link, () => producer.publishAt(eventsPerSecond, events));
    const facts = { engine: engine.name, brokers: engine.brokerPids().length };
    return { ...facts, consoles, deliveries, eventsPerSecond, ...beside, page };
  });
}

/** Fills the log, with the service. */
async function fill(service: Service, { engine, receiver, deliveries }: ConsoleOptions): Promise<void> {
  const before = await service.recordedEntries();
  await receiver.reset({ record: false });
  const publish = () => service.publish(EVENTS_PER_REQUEST);
  await pour(deliveries / EVENTS_PER_REQUEST, publish, roomAt({ engine, receiver }));
  // A routing and an attempt each.
  await recorded(service, before + 2 * deliveries);
}

/** Opens sessions of the console, and returns their cookies. */
async function openSessions(service: Service, count: number): Promise<{ readonly cookie: string }[]> {
  const sessions: { readonly cookie: string }[] = [];
  while (sessions.length < count) {
    const [, link = ''] = (await service.consoleLink()).split('#link=');
    const answer = await request(`${service.apiUrl}/console/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ link }),
    });
    await answer.body.dump();
    const [cookie = ''] = `${answer.headers['set-cookie'] ?? ''}`.split(';');
    if (answer.statusCode !== 201) throw new Error(`POST /console/session returned ${answer.statusCode}`);
    sessions.push({ cookie });
  }
  return sessions;
}

async function readAsOpened(apiUrl: string, headers: { readonly cookie: string }): Promise<void> {
  for (const path of OPENING_READS) {
    const answer = await request(apiUrl + path, { headers });
    await answer.body.dump();
    if (answer.statusCode !== 200) throw new Error(`GET ${path} returned ${answer.statusCode}`);
  }
}

export function consoleText(result: ConsoleResult): string {
  const { engine, brokers, consoles, deliveries, eventsPerSecond, page } = result;
  return [
    `${nameOf(engine, brokers)}: ${eventsPerSecond} deliveries/s with ${deliveries} in the log, ${consoles} consoles open in every second period`,
    ...besideLines('consoles', result),
    livePageText(page),
  ].join('\n');
}
