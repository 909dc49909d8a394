/**
 * Guarantee: a database is migrated to a newer layout while a process of this build records, changes endpoints and reads,
 * and that process goes on without an error, before, during and after it.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { deliveryId } from '../../../services/domain/ids.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../services/store/postgres/client/postgres-address.ts';
import {
  MIGRATIONS,
  type Migration,
  migrateDatabase,
} from '../../../services/store/postgres/migrations/migrate.ts';
import type { Store } from '../../../services/store/store.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';
import {
  createEndpoint,
  delivered,
  eventNumber,
  head,
  OPERATOR,
  routed,
} from '../../support/records/journal-entries.ts';
import { type PostgresPlace, postgresPlace } from './postgres-place.ts';

const MERCHANT = 'a-merchant';
/** The additions of a newer build: columns, an index on every leaf, values for the rows that are there. */
const NEXT: Migration = {
  worksWith: MIGRATIONS.length,
  steps: [
    { kind: 'change', sql: 'ALTER TABLE delivery ADD COLUMN note text, ADD COLUMN shard int DEFAULT 7' },
    {
      kind: 'change',
      sql: 'ALTER TABLE attempt ADD COLUMN note text; ALTER TABLE feed ADD COLUMN note text',
    },
    {
      kind: 'change',
      sql: 'ALTER TABLE endpoint ADD COLUMN note text; ALTER TABLE outbox ADD COLUMN note text',
    },
    { kind: 'index', table: 'delivery', name: 'delivery_shard', columns: 'shard, created_at' },
    {
      kind: 'fill',
      sql: `UPDATE delivery SET note = 'filled' WHERE delivery_id IN
        (SELECT delivery_id FROM delivery WHERE note IS NULL AND status = 2 LIMIT 50)`,
    },
  ],
};

await describeWithPostgres('a migration of a database in use', (createDatabase) => {
  let place: PostgresPlace;
  let store: Store;
  beforeEach(async () => {
    place = await postgresPlace(createDatabase, systemClock());
    store = await place.open();
  });
  afterEach(async () => {
    await store.close();
    await place.dispose();
  });

  it('disturbs no process of the previous build', async () => {
    const endpointId = randomUUID();
    await createEndpoint(store, MERCHANT, endpointId);
    const ids: string[] = [];
    let isOver = false;
    const using = (async () => {
      for (let number = 1; !isOver; number += 1) {
        // Another leaf every few events: also those that are made meanwhile get the new columns.
        const event = eventNumber(MERCHANT, 1 + Math.floor(number / 20), {
          eventId: randomUUID(),
        });
        const entries = [routed(event, [endpointId]), delivered(head(event, endpointId))];
        await store.log.applyJournal([{ partition: 'p', first: 2 * number, last: 2 * number + 1, entries }]);
        ids.push(deliveryId(event.eventId, endpointId));
        const change = { description: `${number}` };
        await store.endpoints.update(MERCHANT, endpointId, change, { at: event.occurredAt, actor: OPERATOR });
        await store.lists.deliveries(MERCHANT, { endpointId, limit: 10 });
      }
    })();
    // It ends with a failure of any of its calls.
    using.catch(() => {});
    await eventually('it is in use', () => ids.length > 50);
    const address = parsePostgresUrl(place.database.owner, undefined);
    const { to } = await migrateDatabase(address, systemClock(), [...MIGRATIONS, NEXT]);
    expect(to).toBe(MIGRATIONS.length + 1);
    const during = ids.length;
    await eventually('it goes on', () => ids.length > during + 50);
    isOver = true;
    await using;
    for (const id of ids)
      expect(await store.log.delivery(MERCHANT, endpointId, id)).toMatchObject({
        status: 'delivered',
        attempts: [{ number: 1 }],
      });
    const unindexed = `SELECT count(*)::int AS n FROM pg_inherits i WHERE i.inhparent = 'delivery'::regclass AND NOT EXISTS
      (SELECT FROM pg_index x JOIN pg_inherits a ON a.inhrelid = x.indexrelid
       WHERE x.indrelid = i.inhrelid AND x.indisvalid AND a.inhparent = 'delivery_shard'::regclass)`;
    expect(await place.database.query(unindexed)).toEqual([{ n: 0 }]);
  });
});
