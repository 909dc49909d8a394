/** The operator's replays: over every merchant's active endpoints or one merchant's, with or without a running service. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../services/process/clock.ts';
import { openSqliteStore } from '../../services/store/sqlite/sqlite-store.ts';
import {
  createEndpoint,
  eventNumber,
  failed,
  head,
  journalOf,
  routed,
} from '../support/records/journal-entries.ts';
import { TEST_RING } from '../support/records/key-ring.ts';
import { runTool, toolAnswer } from '../support/service/operator-tool.ts';

let dataDir: string;
const merchants = [randomUUID(), randomUUID()];
const period = ['--since', '2029-12-31T00:00:00Z'];

/** Two merchants with an endpoint each: the first has missed two events and one failed, the second missed one. */
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hookrail-operator-'));
  const store = await openStore();
  for (const [index, merchantId] of merchants.entries()) {
    await store.merchants.create({ merchantId, name: `Merchant ${index}`, senderAccountDetails: false });
    const endpointId = randomUUID();
    await createEndpoint(store, merchantId, endpointId);
    const apply = journalOf(store, merchantId);
    const trace = [{ endpointId, verdict: 'endpoint_auto_disabled' }] as const;
    // Long ago, so that the period until now holds them.
    const events = [0, 1, 2].map((n) =>
      eventNumber(merchantId, n, { occurredAt: Date.UTC(2020, 0, 1) + n, eventId: randomUUID() }),
    );
    for (const event of events.slice(index + 1)) await apply({ ...routed(event, []), trace });
    const [first] = events;
    if (index === 0 && first) {
      await apply(routed(first, [endpointId]), failed(head(first, endpointId, { attempt: 7 })));
    }
  }
  await store.close();
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

function openStore() {
  const healthPolicy = { withoutSuccessMs: 86_400_000, failedAttempts: 20 };
  return openSqliteStore({
    file: join(dataDir, 'store.db'),
    clock: systemClock(),
    healthPolicy,
    keyRing: TEST_RING,
  });
}

// Nobody listens on port 1: the tool opens the store itself.
const where = () => ({ HOOKRAIL_DATA_DIR: dataDir, HOOKRAIL_OPS_PORT: '1' });
const operator = (...argv: string[]) => runTool(where(), ...argv);
const json = (...argv: string[]) => toolAnswer(where(), 'replay', ...argv);

const since = ['--since', '2019-12-31T00:00:00Z'];

test('the replay command counts over all merchants, one, a kind or a type, without starting a replay', async () => {
  const count = async (...more: string[]) => (await json('start', ...since, '--dry-run', ...more)).count;
  expect(await count('--only', 'missing')).toBe(4);
  expect(await count('--only', 'missing', '--merchant', merchants[1] ?? '')).toBe(1);
  expect(await count('--only', 'failed')).toBe(1);
  expect(await count('--only', 'missing', '--type', 'KYC', 'AML')).toBe(0);
  expect(await count('--only', 'missing', '--until', '2020-01-01T00:00:00.003Z')).toBe(1);
  expect(await json('list')).toEqual([]);
});

test('the replay command starts a replay that the service runs, shows it, and cancels it once', async () => {
  const started = await json('start', ...since, '--only', 'missing', '--type', 'fiatToCrypto');
  expect(started).toMatchObject({
    status: 'running',
    count: 4,
    published: 0,
    endpointId: null,
    merchantId: null,
  });
  const again = await operator('replay', 'start', ...since, '--only', 'failed');
  expect([again.code, again.err]).toEqual([
    1,
    expect.stringContaining(`replay ${started.replayId} is running`),
  ]);
  const second = await json('start', ...since, '--only', 'failed', '--merchant', merchants[0] ?? '');
  const list = await json('list');
  expect(list.map((replay: { replayId: string }) => replay.replayId)).toEqual([
    second.replayId,
    started.replayId,
  ]);
  expect(await json('get', started.replayId)).toEqual(started);
  const cancelled = await json('cancel', started.replayId);
  expect(cancelled).toMatchObject({ status: 'cancelled', cancelReason: 'operator' });
  expect((await operator('replay', 'cancel', started.replayId)).err).toContain('has ended already');
  const store = await openStore();
  const running = await store.replays.running();
  expect(running.map(({ replayId }) => replayId)).toEqual([second.replayId]);
  await store.close();
});

test('the replay command explains its errors', async () => {
  const says = async (...argv: string[]) => {
    const { code, err } = await operator('replay', ...argv);
    return `${code} ${err}`;
  };
  const merchant = randomUUID();
  expect(await says('start', '--only', 'missing')).toMatch(/^2 .*since/);
  expect(await says('start', ...since, '--only', 'everything')).toMatch(/^2 /);
  expect(await says('start', ...since, '--only', 'missing', '--type', 'kyc')).toMatch(/^2 /);
  expect(await says('start', ...period, '--only', 'missing')).toMatch(/^2 .*since: must be before until/);
  expect(await says('start', '--since', 'today', '--only', 'missing')).toMatch(
    /^2 .*since: must be a time such as/,
  );
  expect(await says('start', ...since, '--only', 'missing', '--merchant', merchant)).toContain(
    `there is no merchant ${merchant}`,
  );
  expect(await says('get', merchant)).toContain(`there is no replay ${merchant}`);
  expect(await says()).toMatch(/^2 .*start, list, get, cancel/);
});
