/**
 * Guarantee: a client that leaves gives its stream's place back, at whatever moment of the start it leaves: while the
 * request is authenticated, while it is counted against the rate limit, while the first page is read, or afterwards.
 * ABANDONED_STREAMS sets how many are opened and abandoned with each store.
 */
import { connect } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { apiKeyHint, hashApiKey, newApiKey } from '../../services/domain/api-key.ts';
import { systemRandom } from '../../services/process/random.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { eventually } from '../support/eventually.ts';
import { TcpLine } from '../support/faults/tcp-line.ts';
import { sizeOf } from '../support/long-runs.ts';
import { describeWithPostgres, type TestDatabase } from '../support/postgres/suites.ts';
import { eventNumber, journalOf, routed } from '../support/records/journal-entries.ts';
import { openStream } from '../support/service/stream-client.ts';

const ABANDONED = sizeOf('ABANDONED_STREAMS');
const ABANDONED_ON_POSTGRES = sizeOf('ABANDONED_STREAMS_ON_POSTGRES');
/** Clients at a time. */
const AT_ONCE = 32;
/** Of a network to the store, in each direction. */
const DELAY_MS = 3;
const ENTRIES = 400;
/** Each request changes the row of its key's rate limit: with few keys they would wait for one another there. */
const KEYS = 16;
const TIMEOUT_MS = 540_000;

let api: TestApi | undefined;
let line: TcpLine | undefined;
let database: TestDatabase | undefined;
afterEach(async () => {
  line?.slow(0);
  await api?.close();
  line?.close();
  await database?.drop();
  api = line = database = undefined;
});

async function streams(of: TestApi): Promise<number> {
  const metric = await of.registry.getSingleMetric('hookrail_api_streams')?.get();
  return metric?.values[0]?.value ?? Number.NaN;
}

const hasLine = (of: TestApi, text: string) => of.logged.some((each) => each.includes(text));

/** Asks for a stream, and leaves after so long; null: with the first byte. Resolves with how long that took. */
function abandon({ url, key, from }: Asked, afterMs: number | null): Promise<number> {
  const { port } = new URL(url);
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1');
    const leave = () => socket.destroy();
    socket.once('connect', () => {
      const resuming = from === undefined ? '' : `Last-Event-ID: ${from}\r\n`;
      socket.write(
        `GET /merchant/stream HTTP/1.1\r\nHost: x\r\nAuthorization: API-Key ${key}\r\n${resuming}\r\n`,
      );
      if (afterMs === 0) setImmediate(leave);
      else if (afterMs !== null) setTimeout(leave, afterMs);
    });
    if (afterMs === null) socket.once('data', leave);
    socket.on('error', () => {}).on('close', () => resolve(performance.now() - startedAt));
  });
}

interface Asked {
  readonly url: string;
  readonly key: string;
  /** The Last-Event-ID. */
  readonly from: string | undefined;
}

async function newKey({ store, merchantId, clock }: TestApi): Promise<string> {
  const key = newApiKey('merchant', 'sandbox', systemRandom.bytes(32));
  const known = { name: null, createdAt: Math.floor(clock.wall()), revokedAt: null, lastUsedAt: null };
  await store.keys.create({
    ...{ keyId: systemRandom.uuid(), kind: 'merchant', merchantId },
    ...{ hash: hashApiKey(key), hint: apiKeyHint(key), ...known },
  });
  return key;
}

async function expectNoLeak(of: TestApi, abandoned: number): Promise<void> {
  const apply = journalOf(of.store);
  const events = Array.from({ length: ENTRIES }, (_, n) => eventNumber(of.merchantId, n));
  await apply(...events.map((event) => routed(event, [crypto.randomUUID()])));
  const keys = await Promise.all(Array.from({ length: KEYS - 1 }, () => newKey(of)));
  const asked = (n: number): Asked => ({
    url: of.api.url,
    key: keys[n % KEYS] ?? of.keys.foreign,
    from: n % 2 === 0 ? undefined : '0',
  });
  // Those that wait for the first byte tell how long a start takes while others start, too; the first ones are slower.
  const patient = () => Promise.all(Array.from({ length: AT_ONCE }, (_, n) => abandon(asked(n), null)));
  await patient();
  const took = await patient();
  const longestMs = 1.2 * Math.max(...took);
  let next = 0;
  const client = async () => {
    for (let n = next++; n < abandoned; n = next++)
      await abandon(asked(n), n % 50 === 49 ? null : (longestMs * n) / abandoned);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  await eventually('no place is taken', async () => (await streams(of)) === 0);
  for (const key of [...keys, of.keys.foreign]) {
    const readers = await Promise.all(Array.from({ length: 10 }, () => openStream(of.api.url, key)));
    expect(readers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(hasLine(of, '"replaced"'), 'no place was taken').toBe(false);
    for (const reader of readers) reader.close();
  }
  await eventually('no place is taken', async () => (await streams(of)) === 0);
}

const OPTIONS = { rateLimitPerMinute: 1_000_000 };
const MANY = { ...OPTIONS, streamsPerKey: 1000 };
/** So many places that no client needs that of another one, and the usual number, at which clients replace one another. */
const title = 'streams that clients abandon at every moment of their start leave no place taken';

it(`${title}, with the store on SQLite`, { timeout: TIMEOUT_MS }, async () => {
  api = await startTestApi(MANY);
  await expectNoLeak(api, ABANDONED);
});

it('clients that replace one another and leave give every place back', { timeout: TIMEOUT_MS }, async () => {
  api = await startTestApi(OPTIONS);
  const of = api;
  const asked = { url: of.api.url, key: of.keys.own, from: undefined };
  for (let n = 0; n < 20; n += 1)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, each) => abandon(asked, (each * 40) / AT_ONCE)));
  await eventually('no place is taken', async () => (await streams(of)) === 0);
  expect((await openStream(of.api.url, of.keys.own)).status).toBe(200);
});

await describeWithPostgres('a store on PostgreSQL behind a network', (createDatabase) => {
  it(`${title}, with the store on PostgreSQL`, { timeout: TIMEOUT_MS }, async () => {
    database = await createDatabase();
    const url = new URL(database.url);
    line = await TcpLine.open(Number(url.port || 5432));
    url.hostname = '127.0.0.1';
    url.port = `${line.port}`;
    api = await startTestApi({ ...MANY, postgresUrl: url.href });
    line.slow(DELAY_MS);
    await expectNoLeak(api, ABANDONED_ON_POSTGRES);
  });
});
