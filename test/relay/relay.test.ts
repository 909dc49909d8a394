/** The relay brings what the store's outbox holds to the DIRECTORY stream, also where another process has the relay. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { DirectoryChange } from '../../services/domain/directory.ts';
import { systemClock } from '../../services/process/clock.ts';
import { PublishedChanges } from '../../services/relay/published-changes.ts';
import { Relay } from '../../services/relay/relay.ts';
import { openSqliteStore } from '../../services/store/sqlite/sqlite-store.ts';
import { type Store, StoreUnavailable } from '../../services/store/store.ts';
import { TEST_POLICY } from '../contract/store-place.ts';
import { eventually } from '../support/eventually.ts';
import { createEndpoint } from '../support/records/journal-entries.ts';
import { TEST_RING } from '../support/records/key-ring.ts';

const MERCHANT = 'a-merchant';
const LONG_MS = 20_000;
const clock = systemClock();
const log = pino({ level: 'silent' });
let folder: string;
let store: Store;
let relay: Relay | undefined;
let changes: PublishedChanges;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookrail-relay-'));
  store = await openSqliteStore({
    file: join(folder, 'store.db'),
    clock,
    healthPolicy: TEST_POLICY,
    keyRing: TEST_RING,
  });
  changes = new PublishedChanges(store.outbox, clock);
  await store.merchants.create({ merchantId: MERCHANT, name: MERCHANT, senderAccountDetails: false });
});
afterEach(async () => {
  await relay?.stop();
  relay = undefined;
  changes.stop();
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

const broken = { publishDirectory: () => Promise.reject(new Error('the broker is away')) };

test('a change is published once it is on the stream, and its row is gone', async () => {
  const published: DirectoryChange[] = [];
  const broker = {
    publishDirectory: async (changes: readonly DirectoryChange[]) => void published.push(...changes),
  };
  relay = new Relay({ store, broker, published: changes, clock, log });
  const { outboxId } = await createEndpoint(store, MERCHANT, randomUUID());
  expect(await changes.published(outboxId, LONG_MS)).toBe(true);
  expect(published.map(({ kind }) => kind)).toEqual(['merchant', 'endpoint']);
  expect(await store.outbox.pending(10)).toEqual([]);
  // A response that was stored for an Idempotency-Key asks for its change again.
  expect(await changes.published(outboxId, LONG_MS)).toBe(true);
  expect(await changes.published(0, LONG_MS)).toBe(true);
});

test('a change that another process publishes ends the wait', async () => {
  relay = new Relay({ store, broker: broken, published: changes, clock, log });
  const { outboxId } = await createEndpoint(store, MERCHANT, randomUUID());
  const waits = changes.published(outboxId, LONG_MS);
  await store.outbox.published([outboxId]);
  expect(await waits).toBe(true);
});

test('a change that another process adds is published, although nobody wakes the relay', async () => {
  const published: string[] = [];
  const broker = {
    publishDirectory: async (changes: readonly DirectoryChange[]) =>
      void published.push(...changes.map(({ id }) => id)),
  };
  const outbox: Store['outbox'] = { ...store.outbox, onAdded: () => () => {} };
  relay = new Relay({ store: { outbox }, broker, published: changes, clock, log, lookMs: 5 });
  await eventually('the first is published', () => published.includes(MERCHANT));
  const uuid = randomUUID();
  await createEndpoint(store, MERCHANT, uuid);
  await eventually('the second is published', () => published.includes(uuid));
});

test('a change that commits after a higher id was published is published too', async () => {
  const published: string[] = [];
  const broker = {
    publishDirectory: async (changes: readonly DirectoryChange[]) =>
      void published.push(...changes.map(({ id }) => id)),
  };
  const rows = await store.outbox.pending(1);
  const [low] = rows;
  if (!low) throw new Error('the merchant has no outbox row');
  let isCommitted = false;
  // What a store with several writers shows: the lower id's transaction is still open.
  const outbox: Store['outbox'] = {
    ...store.outbox,
    pending: async (limit, after) => {
      const pending = await store.outbox.pending(limit, after);
      return isCommitted ? pending : pending.filter(({ outboxId }) => outboxId !== low.outboxId);
    },
  };
  relay = new Relay({ store: { outbox }, broker, published: changes, clock, log });
  const { outboxId } = await createEndpoint(store, MERCHANT, randomUUID());
  expect(await changes.published(outboxId, LONG_MS)).toBe(true);
  expect(await changes.published(low.outboxId, 1)).toBe(false);
  isCommitted = true;
  await createEndpoint(store, MERCHANT, randomUUID());
  expect(await changes.published(low.outboxId, LONG_MS)).toBe(true);
  expect(published).toContain(MERCHANT);
});

test('a wait ends without the change when its time is up, the store does not answer, or the process stops', async () => {
  const outbox: Store['outbox'] = {
    ...store.outbox,
    isPublished: () => Promise.reject(new StoreUnavailable('disk full')),
  };
  changes = new PublishedChanges(outbox, clock);
  const { outboxId } = await createEndpoint(store, MERCHANT, randomUUID());
  expect(await changes.published(outboxId, 60)).toBe(false);
  const waits = changes.published(outboxId, LONG_MS);
  changes.stop();
  expect(await waits).toBe(false);
  expect(await store.outbox.pending(10)).toHaveLength(2);
});
