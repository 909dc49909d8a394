/**
 * The relay and the timeline of the store: after a failover everything on the stream is read before changes are accepted
 * again, and a difference that another process makes meanwhile is none.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Directory, type DirectoryChange } from '../../services/domain/directory.ts';
import { reconcile } from '../../services/relay/reconcile.ts';
import { type RunningRelay, startRelay } from '../../services/relay/start-relay.ts';
import type { Outbox, Timeline } from '../../services/store/outbox.ts';
import { openSqliteStore } from '../../services/store/sqlite/sqlite-store.ts';
import type { Store } from '../../services/store/store.ts';
import { createLogger } from '../../services/telemetry/logger.ts';
import { TEST_POLICY } from '../contract/store-place.ts';
import { eventually } from '../support/eventually.ts';
import { movableClock } from '../support/movable-clock.ts';
import { createEndpoint, OPERATOR, START } from '../support/records/journal-entries.ts';
import { TEST_RING } from '../support/records/key-ring.ts';

const MERCHANT = 'a-merchant';
/** How often the timeline is checked. */
const LOOK_MS = 500;
/** Longer than changes of another relay may be on their way. */
const LATE_MS = 61_000;
let clock: ReturnType<typeof movableClock>;
let folder: string;
let store: Store;
let relay: RunningRelay | undefined;
let directory: Directory;
let lines: Record<string, unknown>[];
/** The state that the store reports, and the timelines that it was told to accept. */
let timeline: Timeline | null;
let told: string[];
let stalenessMs: () => number;
beforeEach(async () => {
  clock = movableClock();
  folder = await mkdtemp(join(tmpdir(), 'hookrail-relay-'));
  store = await openSqliteStore({
    file: join(folder, 'store.db'),
    clock,
    healthPolicy: TEST_POLICY,
    keyRing: TEST_RING,
  });
  await store.merchants.create({ merchantId: MERCHANT, name: MERCHANT, senderAccountDetails: false });
  directory = new Directory();
  lines = [];
  told = [];
  timeline = { name: '1', isReconciled: true };
  stalenessMs = () => 0;
});
afterEach(async () => {
  await relay?.stop();
  relay = undefined;
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

const log = createLogger('info', { write: (line: string) => void lines.push(JSON.parse(line)) });
const messages = () => lines.map(({ msg }) => `${msg}`);

/** The store's outbox, on a timeline that the test sets. */
function outboxOnServers(): Outbox {
  return {
    ...store.outbox,
    timeline: async () => timeline,
    reconciled: async (name) => {
      told.push(name);
      timeline = { name, isReconciled: true };
    },
  };
}

async function start(outbox = outboxOnServers()): Promise<void> {
  relay = await startRelay({
    store: { outbox },
    directory,
    follower: { stalenessMs: () => stalenessMs() },
    broker: { publishDirectory: async (changes) => changes.forEach((each) => void directory.apply(each)) },
    published: { note: () => {} },
    clock,
    log,
  });
}

/** Returns a later change of an endpoint, as a relay on the former server has published it. */
async function laterChange(uuid: string): Promise<DirectoryChange> {
  const known = await eventually('it is on the stream', () =>
    directory.newest({ kind: 'endpoint', id: uuid }),
  );
  if (known.kind !== 'endpoint' || !known.value) throw new Error('the endpoint was deleted');
  const version = known.version + 1;
  return { ...known, version, value: { ...known.value, status: 'disabled', version } };
}

const statusOf = async (uuid: string) => (await store.endpoints.get(MERCHANT, uuid))?.status;

test('a store that was set back accepts changes once everything on the stream was read', async () => {
  const uuid = randomUUID();
  await createEndpoint(store, MERCHANT, uuid);
  await start();
  const later = await laterChange(uuid);
  let isRead = false;
  let looks = 0;
  stalenessMs = () => {
    looks += 1;
    return isRead ? 0 : 120_000;
  };
  timeline = { name: '2', isReconciled: false };
  await eventually('it has looked at the stream', () => looks > 5);
  expect(told, 'not before the stream was read').toEqual([]);
  // Published before the failover, and read now.
  directory.apply(later);
  isRead = true;
  await eventually('it accepts changes', () => told.length > 0);
  expect(told).toEqual(['2']);
  expect(await statusOf(uuid)).toBe('disabled');
  expect(messages().filter((line) => line.includes('accepts changes again'))).toHaveLength(1);
  const next = await createEndpoint(store, MERCHANT, randomUUID());
  await eventually('it is published', () => directory.newest({ kind: 'endpoint', id: next.record.uuid }));
});

test('a change that the relay of the former server publishes late is in the store a minute later', async () => {
  const uuid = randomUUID();
  await createEndpoint(store, MERCHANT, uuid);
  timeline = { name: '2', isReconciled: false };
  await start();
  expect(told).toEqual(['2']);
  directory.apply(await laterChange(uuid));
  clock.forward(LATE_MS);
  await eventually('the store has it', async () => (await statusOf(uuid)) === 'disabled');
  expect(told).toEqual(['2']);
});

test('a store that cannot be reconciled yet is tried again, and says so once', async () => {
  let failures = 0;
  const outbox = outboxOnServers();
  await start({
    ...outbox,
    reconciled: async (name) => {
      failures += 1;
      if (failures < 3) throw new Error('PostgreSQL is unavailable');
      await outbox.reconciled(name);
    },
  });
  timeline = { name: '2', isReconciled: false };
  await eventually('it accepts changes', () => told.length > 0);
  const failed = lines.filter(({ event }) => event === 'directory_not_reconciled');
  expect(failed).toMatchObject([{ timeline: '2', reason: 'PostgreSQL is unavailable' }]);
});

test('a store of one process is reconciled without a wait, and is not watched', async () => {
  timeline = null;
  stalenessMs = () => 120_000;
  const sleeps: number[] = [];
  const { sleep } = clock;
  clock.sleep = (ms, signal) => {
    sleeps.push(ms);
    return sleep(ms, signal);
  };
  await start();
  expect(told).toEqual([]);
  await relay?.stop();
  expect(sleeps, 'nothing waits to look again').not.toContain(LOOK_MS);
});

test('a change that another process makes while the two are compared is no difference', async () => {
  const [changed, deleted] = [randomUUID(), randomUUID()];
  for (const uuid of [changed, deleted]) await createEndpoint(store, MERCHANT, uuid);
  const publishAll = async () => {
    const rows = await store.outbox.pending(100);
    for (const { change } of rows) directory.apply(change);
    await store.outbox.published(rows.map(({ outboxId }) => outboxId));
  };
  await publishAll();
  const by = { at: START, actor: OPERATOR };
  let isChanged = false;
  const outbox: Outbox = {
    ...store.outbox,
    snapshot: async (after, limit) => {
      const page = await store.outbox.snapshot(after, limit);
      if (!isChanged && after?.kind === 'endpoint') {
        isChanged = true;
        // Both are published before the page is compared: the stream seems to be ahead.
        await store.endpoints.update(MERCHANT, changed, { status: 'disabled' }, by);
        await store.endpoints.remove(MERCHANT, deleted, by);
        await publishAll();
      }
      return page;
    },
  };
  const record = await store.endpoints.get(MERCHANT, changed);
  await reconcile({ store: { outbox }, directory, clock, log });
  expect(isChanged).toBe(true);
  expect(await store.endpoints.get(MERCHANT, changed)).toMatchObject({
    status: 'disabled',
    version: (record?.version ?? 0) + 1,
  });
  expect(messages()).toEqual([]);
  expect(await store.outbox.pending(10)).toEqual([]);
});

test('a change that another process has made since is not published with its former content', async () => {
  const uuid = randomUUID();
  await createEndpoint(store, MERCHANT, uuid);
  // The stream is new, and lacks everything; nothing is pending.
  const rows = await store.outbox.pending(100);
  await store.outbox.published(rows.map(({ outboxId }) => outboxId));
  const outbox: Outbox = {
    ...store.outbox,
    addAgain: async (changes) => {
      await store.endpoints.update(MERCHANT, uuid, { status: 'disabled' }, { at: START, actor: OPERATOR });
      return store.outbox.addAgain(changes);
    },
  };
  await reconcile({ store: { outbox }, directory, clock, log });
  const pending = await store.outbox.pending(10);
  expect(pending.map(({ change }) => [change.id, change.version])).toEqual([
    [uuid, 2],
    [MERCHANT, 1],
  ]);
  expect(lines).toMatchObject([{ keys: 1 }]);
});
