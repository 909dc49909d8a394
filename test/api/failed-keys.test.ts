/**
 * Promise: keys of one's own making do not reach the store for long. An address that sends many requests without a valid
 * key gets 429, while valid keys behind the same address go on; a key over its rate limit costs the store nothing more
 * until its minute ends. On SQLite, and for two apis on one PostgreSQL.
 */
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { apiKeyHint, hashApiKey, newApiKey } from '../../services/domain/api-key.ts';
import { systemRandom } from '../../services/process/random.ts';
import { ENDPOINTS, startTestApi, type TestApi, type TestApiOptions } from '../support/api/test-api.ts';
import { describeWithPostgres, type TestDatabase } from '../support/postgres/suites.ts';

const MAX = 10;
const SENT = 300;
const LOOK_UP_MS = 300;
const PRODUCER = '/producer/events';

const invented = () => newApiKey('merchant', 'sandbox', systemRandom.bytes(32));
const inventedProducer = () => newApiKey('producer', 'sandbox', systemRandom.bytes(32));

let api: TestApi;
afterEach(() => api?.close());

const start = async (options: TestApiOptions = {}) => {
  api = await startTestApi({ failedKeysPerMinute: MAX, ...options });
};
const list = (key: string | null) => api.call('GET', ENDPOINTS, { key });
const codeOf = (answer: { status: number; body: { code?: string } | null }) =>
  answer.body?.code ?? answer.status;

async function countOf(answers: readonly Promise<Awaited<ReturnType<typeof list>>>[]) {
  const counts: Record<string, number> = {};
  for (const answer of await Promise.all(answers)) counts[codeOf(answer)] = (counts[codeOf(answer)] ?? 0) + 1;
  return counts;
}

/** A valid key that nobody has used yet. */
async function freshKey(): Promise<string> {
  const key = invented();
  await api.store.keys.create({
    keyId: systemRandom.uuid(),
    kind: 'merchant',
    merchantId: api.merchantId,
    hash: hashApiKey(key),
    hint: apiKeyHint(key),
    name: null,
    createdAt: Date.now(),
    revokedAt: null,
    lastUsedAt: null,
  });
  return key;
}

/** Asks from another address of this machine, or as a proxy for a client. */
function statusFrom(
  localAddress: string,
  key: string,
  headers: Record<string, string> = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { localAddress, headers: { authorization: `API-Key ${key}`, ...headers } };
    const asked = request(api.api.url + ENDPOINTS, options, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    });
    asked.once('error', reject).end();
  });
}

describe('requests without a valid key, on SQLite,', () => {
  it('get 401 up to the limit of their address, then 429 with Retry-After and without a look-up', async () => {
    await start();
    expect(codeOf(await list(api.keys.own))).toBe(200);
    const lookUps = vi.spyOn(api.store.keys, 'findByHash');
    for (let n = 0; n < SENT; n += 1) {
      const answer = await list(invented());
      expect(codeOf(answer)).toBe(n < MAX ? 'api_key_invalid' : 'too_many_failed_keys');
      if (n < MAX) continue;
      const seconds = Number(answer.headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(60);
      expect(answer.headers.get('www-authenticate')).toBeNull();
    }
    expect(lookUps).toHaveBeenCalledTimes(MAX);
    // A key that was accepted before goes on.
    expect(codeOf(await list(api.keys.own))).toBe(200);
    expect(lookUps).toHaveBeenCalledTimes(MAX + 1);
  });

  it('cost no more look-ups when they come at once, and hold up no valid key that comes with them', async () => {
    await start();
    expect(codeOf(await list(api.keys.own))).toBe(200);
    const find = api.store.keys.findByHash.bind(api.store.keys);
    // As over a network: while one is looked up, the others arrive.
    const lookUps = vi.spyOn(api.store.keys, 'findByHash').mockImplementation(async (hash) => {
      await sleep(LOOK_UP_MS);
      return find(hash);
    });
    const strangers = Array.from({ length: SENT }, () => list(invented()));
    const own = Array.from({ length: 20 }, () => list(api.keys.own));
    expect(await countOf(own)).toEqual({ 200: 20 });
    expect(await countOf(strangers)).toEqual({ api_key_invalid: MAX, too_many_failed_keys: SENT - MAX });
    expect(lookUps).toHaveBeenCalledTimes(MAX + 20);
  });

  it('are not taken for those of many merchants that come at once behind one proxy', async () => {
    await start();
    const keys = await Promise.all(Array.from({ length: 5 * MAX }, freshKey));
    expect(await countOf(keys.map(list))).toEqual({ 200: 5 * MAX });
  });

  it.each<[string, () => string | null, string, string]>([
    ['no key', () => null, ENDPOINTS, 'api_key_missing'],
    ['a malformed key', () => `${invented()}x`, ENDPOINTS, 'api_key_malformed'],
    ['a key of the other environment', () => api.keys.live, ENDPOINTS, 'api_key_environment_mismatch'],
    ['a revoked key', () => api.keys.revoked, ENDPOINTS, 'api_key_invalid'],
    ['an invented producer’s key', inventedProducer, PRODUCER, 'api_key_invalid'],
    ['a revoked producer’s key', () => api.keys.revokedProducer, PRODUCER, 'api_key_invalid'],
    ['a merchant’s key', () => api.keys.own, PRODUCER, 'api_key_invalid'],
  ])('are counted with %s', async (_case, key, path, code) => {
    await start();
    const ask = () => api.call(path === PRODUCER ? 'POST' : 'GET', path, { key: key(), headers: {} });
    for (let n = 0; n < MAX; n += 1) expect(codeOf(await ask())).toBe(code);
    expect(codeOf(await ask())).toBe('too_many_failed_keys');
    expect(codeOf(await list(invented()))).toBe('too_many_failed_keys');
  });

  it('are counted for a key that was accepted until it was revoked', async () => {
    await start();
    expect(codeOf(await list(api.keys.own))).toBe(200);
    await api.store.keys.revoke(api.keyIds.own, Date.now());
    for (let n = 0; n < MAX; n += 1) expect(codeOf(await list(api.keys.own))).toBe('api_key_invalid');
    expect(codeOf(await list(api.keys.own))).toBe('too_many_failed_keys');
  });

  it('are those of their own address, which only a trusted proxy may name', async () => {
    await start({ trustedProxies: ['127.0.0.2'] });
    for (let n = 0; n <= MAX; n += 1) await list(invented());
    expect(await statusFrom('127.0.0.1', await freshKey())).toBe(429);
    expect(await statusFrom('127.0.0.1', await freshKey(), { 'x-forwarded-for': '192.0.2.9' })).toBe(429);
    expect(await statusFrom('127.0.0.3', await freshKey())).toBe(200);
    const as = (client: string, key: string) => statusFrom('127.0.0.2', key, { 'x-forwarded-for': client });
    for (let n = 0; n <= MAX; n += 1) await as(`2001:db8:1:2::${n}`, invented());
    expect(await as('2001:db8:1:2:3:4:5:6', await freshKey())).toBe(429);
    expect(await as('2001:db8:1:3::1', await freshKey())).toBe(200);
    expect(await as('192.0.2.1', await freshKey())).toBe(200);
  });
});

describe('requests of a key over its rate limit, on SQLite,', () => {
  it('are refused without being counted, with the headers of a refusal', async () => {
    await start({ rateLimitPerMinute: 5, testRateLimitPerMinute: 2 });
    const taken = vi.spyOn(api.store.limits, 'take');
    const answers = [];
    for (let n = 0; n < 50; n += 1) answers.push(await list(api.keys.own));
    expect(answers.map(codeOf)).toEqual([...Array(5).fill(200), ...Array(45).fill('rate_limited')]);
    expect(taken).toHaveBeenCalledTimes(6);
    for (const { headers } of answers.slice(5)) {
      expect(headers.get('ratelimit')).toMatch(/^"requests"; r=0; t=\d+/);
      expect(headers.get('ratelimit-policy')).toMatch(/^"requests"; q=5; w=60/);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(codeOf(await list(api.keys.foreign))).toBe(200);
  });
});

await describeWithPostgres('two apis on one PostgreSQL', (createDatabase) => {
  let database: TestDatabase;
  afterEach(() => database?.drop());
  const startOnPostgres = async (options: TestApiOptions) => {
    database = await createDatabase();
    await start({ postgresUrl: database.url, ...options });
  };
  /** The server's own count, whole once the connections are closed. */
  const statistic = async (expression: string, table: string) => {
    await api.close();
    const text = `SELECT ${expression} AS n FROM pg_stat_user_tables WHERE relname = $1`;
    const [row] = await database.query(text, [table]);
    return Number(row?.n);
  };

  it('look up no more invented keys than each allows an address', { timeout: 120_000 }, async () => {
    await startOnPostgres({});
    expect(await countOf([list(api.keys.own), list(api.keys.own)])).toEqual({ 200: 2 });
    const strangers = Array.from({ length: SENT }, () => list(invented()));
    const own = Array.from({ length: 20 }, () => list(api.keys.own));
    expect(await countOf(own)).toEqual({ 200: 20 });
    expect(await countOf(strangers)).toEqual({
      api_key_invalid: 2 * MAX,
      too_many_failed_keys: SENT - 2 * MAX,
    });
    const lookUps = await statistic('seq_scan + idx_scan', 'api_key');
    expect(lookUps).toBeGreaterThanOrEqual(2 * MAX + 22);
    // Keys were created, revoked and marked as used beside the look-ups.
    expect(lookUps).toBeLessThan(2 * MAX + 22 + 20);
  });

  it('write nothing for a key over its rate limit, and allow no more than it', {
    timeout: 120_000,
  }, async () => {
    const limit = 30;
    await startOnPostgres({ rateLimitPerMinute: limit });
    expect(await countOf(Array.from({ length: 100 }, () => list(api.keys.own)))).toEqual({
      200: limit,
      rate_limited: 100 - limit,
    });
    for (let n = 0; n < 200; n += 1) expect(codeOf(await list(api.keys.own))).toBe('rate_limited');
    const written = await statistic('n_tup_ins + n_tup_upd', 'request_window');
    expect(written).toBeGreaterThan(limit);
    // Each api counts four requests at a time. Before it reads the first refusal, three answers under the limit may each start one more.
    expect(written).toBeLessThanOrEqual(limit + 2 * (4 + 3));
  });
});
