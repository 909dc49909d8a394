/** Guarantee: an index that is filled in bulk finds each row before, during and after, and loses it with the row. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import type { DomainEvent } from '../../../services/domain/event.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { openSqliteStore } from '../../../services/store/sqlite/sqlite-store.ts';
import { TEST_POLICY } from '../../contract/store-place.ts';
import {
  delivered,
  eventNumber,
  HOUR_MS,
  head,
  journalOf,
  requested,
  routed,
  START,
} from '../../support/records/journal-entries.ts';
import { TEST_RING } from '../../support/records/key-ring.ts';

/** Filling the log takes a while where other tests run beside it. */
const FILLED_MS_MAX = 120_000;
const MERCHANT = 'a-merchant';
/** Two deliveries of each are more than an index waits for. */
const COUNT = 12_000;

/** Rows of the indexes whose delivery or event is not in its table. */
const STRAYS = `
  SELECT (SELECT count(*) FROM delivery_by_event WHERE delivery NOT IN (SELECT seq FROM delivery))
       + (SELECT count(*) FROM delivery_by_endpoint WHERE seq NOT IN (SELECT seq FROM delivery))
       + (SELECT count(*) FROM event_about WHERE event NOT IN (SELECT seq FROM event))
       + (SELECT count(*) FROM event_by_merchant WHERE seq NOT IN (SELECT seq FROM event))`;

it('finds the deliveries of an event in the index and above it, and none that retention deleted', {
  timeout: FILLED_MS_MAX,
}, async () => {
  const [endpointId, otherId] = [randomUUID(), randomUUID()];
  const directory = await mkdtemp(join(tmpdir(), 'hookrail-store-'));
  const file = join(directory, 'store.db');
  const store = await openSqliteStore({
    ...{ file, clock: systemClock(), healthPolicy: TEST_POLICY, keyRing: TEST_RING },
  });
  const apply = journalOf(store);
  const entities = { old: randomUUID(), resent: randomUUID(), newest: randomUUID() };
  const entityOf = new Map([
    [10, entities.old],
    [9000, entities.resent],
    [COUNT - 1, entities.newest],
  ]);
  const events = Array.from({ length: COUNT }, (_, n) => {
    const entityId = entityOf.get(n);
    return eventNumber(MERCHANT, n, entityId === undefined ? {} : { entityId });
  });
  for (let at = 0; at < COUNT; at += 2000) {
    const batch = events.slice(at, at + 2000);
    await apply(...batch.map((event) => routed(event, [endpointId, otherId])));
    await apply(...batch.map((event) => delivered(head(event, endpointId))));
  }
  const again = { trigger: 'manual', attemptsMax: 1, deliveryId: randomUUID() } as const;
  const acceptedAt = START + 2 * COUNT * HOUR_MS;
  const resent = head(events[9000] as DomainEvent, endpointId, { ...again, acceptedAt });
  await apply(requested(resent, new Uint8Array([1, 2])));
  const countOf = async (entityId: string, filter: { readonly endpointId?: string } = {}) => {
    const { records } = await store.lists.deliveries(MERCHANT, { entityId, ...filter, limit: 50 });
    return records.length;
  };
  expect(await countOf(entities.old)).toBe(2);
  expect(await countOf(entities.resent)).toBe(3);
  expect(await countOf(entities.resent, { endpointId })).toBe(2);
  expect(await countOf(entities.resent, { endpointId: otherId })).toBe(1);
  expect(await countOf(entities.newest)).toBe(2);

  while ((await store.log.retain(START + 5000 * HOUR_MS, 2000)) > 0);
  expect(await countOf(entities.old)).toBe(0);
  expect(await countOf(entities.resent)).toBe(3);
  await store.close();
  const db = new Database(file, { readonly: true });
  expect(db.prepare('SELECT count(*) FROM delivery_by_event').pluck().get()).toBeGreaterThan(0);
  expect(db.prepare(STRAYS).pluck().get()).toBe(0);
  db.close();
  await rm(directory, { recursive: true });
});
