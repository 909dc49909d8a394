/** What the operator's console reads of the store: the newest deliveries by result, and any id, the same on both stores. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deliveryId } from '../../services/domain/ids.ts';
import { type OperatorDeps, runServed } from '../../services/operator/commands/command.ts';
import { DELIVERY_COMMANDS } from '../../services/operator/commands/look/deliveries.ts';
import { FIND_COMMANDS } from '../../services/operator/commands/look/find.ts';
import { NEWEST_COMMANDS } from '../../services/operator/commands/look/newest.ts';
import { systemClock } from '../../services/process/clock.ts';
import { systemRandom } from '../../services/process/random.ts';
import { openSqliteStore } from '../../services/store/sqlite/sqlite-store.ts';
import type { Store } from '../../services/store/store.ts';
import { TEST_POLICY } from '../contract/store-place.ts';
import { postgresPlace } from '../store/postgres/postgres-place.ts';
import { describeWithPostgres } from '../support/postgres/suites.ts';
import {
  createEndpoint,
  delivered,
  eventNumber,
  failed,
  head,
  journalOf,
  routed,
} from '../support/records/journal-entries.ts';
import { TEST_RING } from '../support/records/key-ring.ts';

const [ACME, APEX] = ['acme', 'apex'];
const [SHOP, BROKEN] = [randomUUID(), randomUUID()];
const clock = systemClock();

interface Place {
  open(): Promise<Store>;
  dispose(): Promise<void>;
}

function reads(placeOf: () => Promise<Place>): void {
  let place: Place;
  let store: Store;
  const deps = (): OperatorDeps => ({
    ...{ store, clock, random: systemRandom, environment: 'sandbox', consoleUrl: null },
    actor: { kind: 'operator' },
    keyRing: () => TEST_RING,
    withRecordStores: () => Promise.reject(new Error('reads of the store need no record stores')),
  });
  const at = Math.floor(clock.wall()) - 60_000;
  const events = [1, 2, 3].map((n) => eventNumber(ACME, n, { occurredAt: at }));
  const other = eventNumber(APEX, 4, { occurredAt: at });
  const [first = other, second = other] = events;

  beforeAll(async () => {
    place = await placeOf();
    store = await place.open();
    for (const [merchantId, name] of [
      [ACME, 'Acme'],
      [APEX, 'Apex'],
    ] as const)
      await store.merchants.create({ merchantId, name, senderAccountDetails: false });
    await createEndpoint(store, ACME, SHOP, { url: 'https://shop.example.com/hooks' });
    await createEndpoint(store, ACME, BROKEN, { url: 'https://broken.example.com/hooks' });
    const apply = journalOf(store);
    await apply(...events.map((event) => routed(event, [SHOP, BROKEN])), routed(other, [randomUUID()]));
    await apply(delivered(head(first, SHOP)), delivered(head(second, SHOP)));
    await apply(failed(head(first, BROKEN)));
  });
  afterAll(async () => {
    await store?.close();
    await place?.dispose();
  });

  test('counts the newest deliveries by result, and names the hosts and merchants that fail', async () => {
    const summary = await NEWEST_COMMANDS['deliveries summary'].run(deps(), {}, undefined);
    expect(summary).toMatchObject({
      deliveries: 7,
      results: [{ name: 'waiting', count: 4 }, { name: 'delivered', count: 2 }, { count: 1 }],
      failingHosts: [
        { name: 'broken.example.com', endpoints: 1, failures: 1, merchantIds: [ACME], failingSince: null },
      ],
      failingMerchants: [{ merchantId: ACME, name: 'Acme', endpoints: 1 }],
    });
    expect(summary.results[2]?.name).toBe(summary.failingHosts[0]?.code);
    expect(summary.p99Seconds).toBeGreaterThanOrEqual(0);
    expect(summary.attemptsPerSecond).toBeLessThan(1);
  });

  test('lists deliveries since some time ago', async () => {
    const list = DELIVERY_COMMANDS['deliveries list'];
    const given = { limit: 10, since: '1h' };
    const { items } = (await runServed(list, given, {
      store: (use) => use(deps(), undefined),
      broker: () => Promise.reject(new Error('not asked')),
      clock: () => Promise.reject(new Error('not asked')),
    })) as { items: unknown[] };
    expect(items).toHaveLength(7);
  });

  test('finds what every kind of id is, and whose', async () => {
    const find = (id: string) => FIND_COMMANDS.find.run(deps(), { id }, undefined);
    const delivery = deliveryId(first.eventId, BROKEN);
    for (const [id, kind, merchantId] of [
      [ACME, 'merchant', ACME],
      ['apex', 'merchant', APEX],
      [other.eventId, 'event', APEX],
      [first.eventId.toUpperCase(), 'event', ACME],
      [first.entityId, 'subject', ACME],
      [delivery, 'delivery', ACME],
      [SHOP, 'endpoint', ACME],
    ] as const)
      expect([id, await find(id)]).toMatchObject([
        id,
        expect.arrayContaining([expect.objectContaining({ kind, merchantId })]),
      ]);
    await expect(find(randomUUID())).rejects.toThrow('it was deleted with age, or was never there');
  });
}

describe('on SQLite', () => {
  reads(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hookrail-reads-'));
    return {
      open: () =>
        openSqliteStore({
          file: join(folder, 'store.db'),
          clock,
          healthPolicy: TEST_POLICY,
          keyRing: TEST_RING,
        }),
      dispose: async () => rmSync(folder, { recursive: true }),
    };
  });
});

await describeWithPostgres('on PostgreSQL', (createDatabase) => {
  reads(() => postgresPlace(createDatabase, clock));
});
