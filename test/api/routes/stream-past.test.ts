/** The past on a stream: read at a pace that all streams of a key share, however often they are opened, and whole. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { apiKeyHint, hashApiKey, newApiKey } from '../../../services/domain/api-key.ts';
import { systemRandom } from '../../../services/process/random.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { eventually } from '../../support/eventually.ts';
import { eventNumber, journalOf, routed, START } from '../../support/records/journal-entries.ts';
import { openStream, type StreamReader } from '../../support/service/stream-client.ts';

const ENTRIES = 30_000;
const PER_BATCH = 1000;
const PAGE = 200;
/** The pace of a key, and of all keys of a process: pages a second, and those that may be read at once. */
const OF_A_KEY = { perSecond: 50, burst: 100 };
const OF_ALL = { perSecond: 125, burst: 5 };
const TIMEOUT_MS = 120_000;

let api: TestApi;
let readers: StreamReader[] = [];
beforeEach(async () => {
  api = await startTestApi({ streamsPerKey: 10 });
  const apply = journalOf(api.store);
  const endpoint = crypto.randomUUID();
  for (let n = 0; n < ENTRIES; n += PER_BATCH) {
    const numbers = Array.from({ length: PER_BATCH }, (_, each) => n + each);
    const events = numbers.map((number) => eventNumber(api.merchantId, number, { occurredAt: START }));
    await apply(...events.map((event) => routed(event, [endpoint])));
  }
}, TIMEOUT_MS);
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  await api.close();
});

async function open(key = api.keys.own): Promise<StreamReader> {
  const reader = await openStream(api.api.url, key, { lastEventId: '0', query: '?seconds=0' });
  expect(reader.status).toBe(200);
  readers.push(reader);
  return reader;
}

async function newKey(): Promise<string> {
  const key = newApiKey('merchant', 'sandbox', systemRandom.bytes(32));
  const known = { name: null, createdAt: Math.floor(api.clock.wall()), revokedAt: null, lastUsedAt: null };
  await api.store.keys.create({
    ...{ keyId: systemRandom.uuid(), kind: 'merchant', merchantId: api.merchantId },
    ...{ hash: hashApiKey(key), hint: apiKeyHint(key), ...known },
  });
  return key;
}

const pagesRead = () => readers.reduce((sum, { events }) => sum + Math.floor(events.length / PAGE), 0);

/** Waits until so many pages have come, and checks that they did not come faster than the pace. */
async function expectPace(
  pages: number,
  { perSecond, burst }: typeof OF_ALL,
  startedAt: number,
): Promise<void> {
  await eventually(`${pages} pages came`, () => pagesRead() >= pages, TIMEOUT_MS);
  const seconds = (performance.now() - startedAt) / 1000;
  // Some were read already and have not come yet, which only makes it slower than the bound.
  expect(pagesRead()).toBeLessThanOrEqual(burst + perSecond * seconds + 1);
  expect(seconds).toBeGreaterThanOrEqual((pages - burst) / perSecond);
}

test('ten streams of a key read no faster than its pace, in all', { timeout: TIMEOUT_MS }, async () => {
  const startedAt = performance.now();
  for (let n = 0; n < 10; n += 1) await open();
  await expectPace(OF_A_KEY.burst + 3 * OF_A_KEY.perSecond, OF_A_KEY, startedAt);
  for (const { events } of readers) expect(events.length, 'each has a part of it').toBeGreaterThan(PAGE);
});

test('a key that opens its streams again and again keeps its pace', { timeout: TIMEOUT_MS }, async () => {
  const startedAt = performance.now();
  let pages = 0;
  while (pages < OF_A_KEY.burst + 2 * OF_A_KEY.perSecond) {
    readers = [];
    const reader = await open();
    await eventually('some pages came', () => reader.events.length >= 20 * PAGE, TIMEOUT_MS);
    reader.close();
    await reader.over;
    pages += Math.floor(reader.events.length / PAGE);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  expect(pages).toBeLessThanOrEqual(OF_A_KEY.burst + OF_A_KEY.perSecond * seconds + 1);
});

test('many keys read no faster than the process’s pace, each in turn', { timeout: TIMEOUT_MS }, async () => {
  const keys = [api.keys.own, ...(await Promise.all([1, 2, 3, 4].map(newKey)))];
  const startedAt = performance.now();
  for (const key of keys) await open(key);
  await expectPace(2 * OF_ALL.perSecond, OF_ALL, startedAt);
  const counts = readers.map(({ events }) => events.length);
  expect(Math.min(...counts)).toBeGreaterThan(Math.max(...counts) / 4);
});

test('a stream that reads the past gets all of it, in order and once', { timeout: TIMEOUT_MS }, async () => {
  const reader = await open();
  await reader.over;
  expect(reader.events.at(-1)?.data).toEqual({ reason: 'time_is_up' });
  const ids = reader.events.slice(0, -1).map(({ data }) => data.event_uuid);
  expect(ids).toEqual(Array.from({ length: ENTRIES }, (_, n) => eventNumber(api.merchantId, n).eventId));
});
