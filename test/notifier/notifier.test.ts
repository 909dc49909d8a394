/**
 * The sender of operational notices, with a store of its own and a broker that a test looks into: each cause is told once,
 * whatever ends in between, to those who ask for it; ordinary traffic is told nothing.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PublishedTask } from '../../services/broker/broker.ts';
import { PLATFORM_MERCHANT_ID } from '../../services/domain/notices/notice.ts';
import type { Quarantined } from '../../services/domain/quarantine.ts';
import { KeyRing } from '../../services/keys/keyring.ts';
import { Notifier, type NotifierDeps } from '../../services/notifier/notifier.ts';
import { openSqliteStore } from '../../services/store/sqlite/sqlite-store.ts';
import type { NewEndpoint, Store } from '../../services/store/store.ts';
import { eventually } from '../support/eventually.ts';
import {
  createEndpoint,
  delivered,
  eventNumber,
  head,
  journalOf,
  OPERATOR,
  routed,
  START,
} from '../support/records/journal-entries.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

const MERCHANT: string = randomUUID();
const MINUTE_MS = 60_000;
const HEALTH_POLICY = { withoutSuccessMs: 24 * 60 * MINUTE_MS, failedAttempts: 5 };

let folder: string;
let store: Store;
let clock: SimulatedClock;
let published: PublishedTask[];
let isBroken: boolean;
let broker: {
  overdueMs: number;
  quarantined: Quarantined[];
  losses: { partition: number; from: number; to: number; count: number; isAcknowledged: boolean }[];
};
let notifiers: Notifier[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hookrail-notices-'));
  clock = new SimulatedClock(START);
  const ring = join(folder, 'keyring.json');
  KeyRing.create(ring);
  const keyRing = KeyRing.read(ring);
  store = await openSqliteStore({
    file: join(folder, 'store.db'),
    clock,
    healthPolicy: HEALTH_POLICY,
    keyRing,
  });
  published = [];
  isBroken = false;
  broker = { overdueMs: 0, quarantined: [], losses: [] };
  notifiers = [];
});

afterEach(async () => {
  for (const notifier of [...notifiers]) await stopped(notifier);
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

function start(sources: NotifierDeps['sources'] = []): Notifier {
  const deps = {
    ...{ store, clock, sources, log: pino({ level: 'silent' }) },
    directory: { merchant: (id: string) => (id === MERCHANT ? { state: 'active' } : undefined) },
    broker: {
      publishTasks: async (tasks: readonly PublishedTask[]) => {
        if (isBroken) throw new Error('the broker is away');
        published.push(...tasks);
      },
      status: () => ({ oldestOverdueMs: broker.overdueMs, partitions: [], parked: [] }),
      quarantine: {
        list: async ({ after, limit }: { after?: string; limit: number }) =>
          broker.quarantined
            .map((record, n) => ({ position: `${n}`, record }))
            .filter(({ position }) => after === undefined || Number(position) > Number(after))
            .slice(0, limit),
      },
      losses: {
        list: async () => [{ stream: 'events', topic: 'events', partitions: 1, losses: broker.losses }],
      },
    },
  };
  const notifier = new Notifier(deps as unknown as NotifierDeps);
  notifiers.push(notifier);
  return notifier;
}

async function stopped(notifier: Notifier): Promise<void> {
  notifiers.splice(notifiers.indexOf(notifier), 1);
  const ended = notifier.stop();
  clock.advance(0);
  await ended;
}

/** Lets simulated time pass in steps of a second, each notifier one turn in each. Nothing else here sleeps. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 1000) {
    clock.advance(1000);
    do await new Promise((resolve) => setImmediate(resolve));
    while (clock.asleep !== notifiers.length);
  }
}

const operational = async (change: Partial<NewEndpoint> = {}, merchantId = MERCHANT) =>
  (await createEndpoint(store, merchantId, randomUUID(), { notices: 'json', ...change })).record;

const told = () => published.map(({ task }) => JSON.parse(Buffer.from(task.body).toString('utf8')));
const sent = (count: number) =>
  eventually(`${count} notices are sent`, async () => {
    await pass(1000);
    return published.length >= count;
  });

async function rotated(merchantId = MERCHANT): Promise<string> {
  const uuid = randomUUID();
  await createEndpoint(store, merchantId, uuid);
  const secret = { sealed: { keyId: 'k1', ciphertext: 'another' }, hint: '…wxyz' };
  await store.endpoints.rotate(merchantId, uuid, secret, { at: clock.wall(), actor: OPERATOR });
  return uuid;
}

const quarantined = (at: number, merchantId: string | null = MERCHANT): Quarantined => ({
  ...{ reason: 'schema_violation', detail: 'no', at, eventId: randomUUID(), merchantId },
  bytes: Buffer.from('x'),
});

describe('a notice', () => {
  it('is sent with the whole schedule to the endpoints of its merchant and of the platform that ask for it', async () => {
    const own = await operational();
    const platform = await operational({ notices: 'slack' }, PLATFORM_MERCHANT_ID);
    await operational({ subscribedEvents: ['events.lost'] });
    await operational({}, 'another');
    const about = await rotated();
    start();
    await sent(2);
    await pass(5000);
    const tasks = published.map(({ task }) => task);
    expect(tasks.map(({ endpointId }) => endpointId).sort()).toEqual([own.uuid, platform.uuid].sort());
    expect(new Set(tasks.map(({ eventId }) => eventId)).size).toBe(1);
    for (const task of tasks)
      expect(task).toMatchObject({ type: 'secret.rotated', attempt: 1, attemptsMax: 7, trigger: 'live' });
    const bodyFor = (uuid: string) => told()[tasks.findIndex(({ endpointId }) => endpointId === uuid)];
    expect(bodyFor(own.uuid)).toMatchObject({
      ...{ type: 'secret.rotated', subType: 'ROTATED', uuid: about },
      data: {
        endpointUuid: about,
        merchantUuid: MERCHANT,
        secretHint: '…wxyz',
        at: new Date(START).toISOString(),
      },
    });
    expect(bodyFor(platform.uuid)).toMatchObject({
      text: expect.stringContaining('secret.rotated'),
      blocks: [{ type: 'header' }, { type: 'section' }, { type: 'section' }, { type: 'context' }],
    });
  });

  it('is not sent to the endpoint that it is about', async () => {
    const itself = await operational();
    const other = await operational();
    const secret = { sealed: { keyId: 'k1', ciphertext: 'another' }, hint: '…wxyz' };
    await store.endpoints.rotate(MERCHANT, itself.uuid, secret, { at: START, actor: OPERATOR });
    start();
    await sent(1);
    await pass(5000);
    expect(published.map(({ task }) => task.endpointId)).toEqual([other.uuid]);
  });

  it('is sent once, by whichever of several processes, and after the broker was away', async () => {
    await operational();
    await rotated();
    isBroken = true;
    const first = start();
    await pass(5000);
    expect(published).toEqual([]);
    const takenAt = (await store.notices.due(clock.wall(), 1))[0]?.takenAt;
    await stopped(first);
    await pass(5000);
    isBroken = false;
    await stopped(start());
    start();
    await sent(1);
    await pass(10_000);
    expect(published.map(({ task }) => task.acceptedAt)).toEqual([takenAt]);
  });
});

describe('our own failures', () => {
  it('are told to the merchants of quarantined events, gathered, with the first of them', async () => {
    await operational();
    const [first, second] = [quarantined(START + 1000), quarantined(START + 2000)];
    broker.quarantined.push(first, quarantined(START + 1500, 'another'), second);
    start();
    await pass(2 * MINUTE_MS);
    expect(published).toEqual([]);
    await pass(15 * MINUTE_MS);
    expect(told()).toMatchObject([
      {
        type: 'events.quarantined',
        uuid: MERCHANT,
        data: {
          ...{ count: 2, reason: 'schema_violation', eventUuid: first.eventId },
          ...{ from: new Date(first.at).toISOString(), until: new Date(second.at).toISOString() },
        },
      },
    ]);
    await pass(20 * MINUTE_MS);
    expect(published).toHaveLength(1);
  });

  it('of an event without a merchant are told to the platform alone', async () => {
    await operational();
    const { uuid } = await operational({}, PLATFORM_MERCHANT_ID);
    broker.quarantined.push(quarantined(START, null));
    start();
    await pass(17 * MINUTE_MS);
    expect(published.map(({ task }) => task.endpointId)).toEqual([uuid]);
  });

  it('are told when deliveries are late, and when they are on time again, once each, over restarts', async () => {
    await operational();
    broker.overdueMs = 4 * MINUTE_MS;
    const first = start();
    await pass(MINUTE_MS);
    expect(published).toEqual([]);
    broker.overdueMs = 6 * MINUTE_MS;
    await pass(MINUTE_MS);
    await stopped(first);
    start();
    await pass(5 * MINUTE_MS);
    broker.overdueMs = 0;
    await pass(2 * MINUTE_MS);
    expect(told().map(({ subType, data }) => [subType, data.until !== null])).toEqual([
      ['BEGAN', false],
      ['ENDED', true],
    ]);
    expect(told()[0].data.from).toBe(told()[1].data.from);
  });

  it('are told when records were lost, once for each range', async () => {
    await operational();
    await operational({}, 'another');
    broker.losses.push({ partition: 0, from: 10, to: 22, count: 12, isAcknowledged: false });
    start();
    await sent(2);
    await pass(3 * MINUTE_MS);
    expect(told()).toMatchObject([
      { type: 'events.lost', data: { count: 12, stream: 'events', merchantUuid: null } },
      { type: 'events.lost' },
    ]);
  });
});

describe('addresses that change', () => {
  it('are told once, before they change, and not afterwards', async () => {
    await operational();
    const day = START + 24 * 60 * MINUTE_MS;
    const sources = [
      { cidr: '203.0.113.0/28', validFrom: null, validUntil: day },
      { cidr: '198.51.100.0/28', validFrom: day, validUntil: null },
      { cidr: '192.0.2.0/28', validFrom: START - 1, validUntil: null },
    ];
    await stopped(start(sources));
    start(sources);
    await sent(2);
    await pass(2 * MINUTE_MS);
    expect(
      told()
        .map(({ subType, data }) => `${subType} ${data.cidr}`)
        .sort(),
    ).toEqual(['COMES 198.51.100.0/28', 'GOES 203.0.113.0/28']);
  });
});

it('ordinary traffic of an hour is told nothing', async () => {
  await operational();
  const uuid = randomUUID();
  await createEndpoint(store, MERCHANT, uuid);
  start([{ cidr: '203.0.113.0/28', validFrom: null, validUntil: null }]);
  const apply = journalOf(store);
  for (let minute = 0; minute < 60; minute += 1) {
    const event = eventNumber(MERCHANT, minute / 60);
    await apply(routed(event, [uuid]), delivered(head(event, uuid)));
    await pass(MINUTE_MS);
  }
  expect(published).toEqual([]);
  expect(await store.notices.due(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
});
