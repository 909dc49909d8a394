/**
 * Guarantee: once an erasure was carried out and `store vacuum` has run, no table of PostgreSQL has the entity's data in its
 * files; before, the erasure says that it may be there.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startLocalPostgres } from '../../../scripts/local-postgres/server.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../services/store/postgres/client/postgres-address.ts';
import { vacuumDatabase } from '../../../services/store/postgres/maintenance/vacuum-database.ts';
import { migrateDatabase } from '../../../services/store/postgres/migrations/migrate.ts';
import { openPostgresStore } from '../../../services/store/postgres/postgres-store.ts';
import { TEST_POLICY } from '../../contract/store-place.ts';
import { describeWherePostgresStarts } from '../../support/postgres/suites.ts';
import {
  delivered,
  eventNumber,
  HOUR_MS,
  head,
  OPERATOR,
  routed,
  START,
} from '../../support/records/journal-entries.ts';

const clock = systemClock();
const MERCHANT = 'a-merchant';
const ENDPOINT = '00000000-0000-4000-8000-000000000001';

describeWherePostgresStarts('an erasure on PostgreSQL', () => {
  it('leaves nothing in the files of tables once they were written anew', async () => {
    // Files of the WAL that are not needed any more are removed, and not used again.
    const settings = { wal_recycle: 'off', min_wal_size: '32MB', autovacuum: 'off' };
    const server = await startLocalPostgres({ environment: process.env, settings });
    onTestFinished(() => server.dispose());
    const address = parsePostgresUrl(server.url(), undefined);
    await migrateDatabase(address, clock);
    const options = { address, clock, connectionsMax: 2, healthPolicy: TEST_POLICY, leafMs: HOUR_MS };
    const store = await openPostgresStore(options);
    onTestFinished(() => store.close());
    const marker = `Erika ${randomUUID()} Mustermann`;
    const entityId = randomUUID();
    for (let n = 1; n <= 40; n += 1) {
      const isMarked = n % 8 === 3;
      const event = eventNumber(MERCHANT, n, {
        eventId: randomUUID(),
        entityId: isMarked ? entityId : randomUUID(),
        // Some in the row's page, some out of line.
        data: { note: isMarked ? `${marker} ${randomUUID().repeat(n * 4)}` : randomUUID().repeat(n) },
        occurredAt: START + n * 60_000 * 4,
      });
      const body = Buffer.from(isMarked ? marker : 'thanks');
      const response = { status: 200, headers: [], body, bodyTruncated: false };
      await store.log.applyJournal([
        {
          partition: 'p',
          first: 2 * n,
          last: 2 * n + 1,
          entries: [routed(event, [ENDPOINT]), delivered(head(event, ENDPOINT), { response })],
        },
      ]);
    }
    const checkpoint = () => query('SELECT pg_switch_wal()', 'CHECKPOINT', 'CHECKPOINT');
    const query = async (...texts: readonly string[]) => {
      const { default: pg } = await import('pg');
      const client = new pg.Client({ connectionString: server.url() });
      await client.connect();
      for (const text of texts) await client.query(text);
      await client.end();
    };
    const filesWithIt = (folder: string) => {
      const data = join(server.folder, 'data');
      const names = readdirSync(join(data, folder), {
        recursive: true,
        encoding: 'utf8',
        withFileTypes: true,
      });
      const files = names
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name));
      return files.filter((file) => readFileSync(file).includes(marker));
    };
    await checkpoint();
    expect(filesWithIt('base').length).toBeGreaterThan(0);
    const order = { entityId, merchantId: null };
    const by = { at: clock.wall() + 10 * 365 * 86_400_000, actor: OPERATOR };
    const erasureId = await store.erasures.order(order, by);
    for (let after: string | null | undefined; after !== null; )
      after = (await store.erasures.step(erasureId, after)).next;
    expect(await store.erasures.purge()).toEqual([
      expect.stringContaining('until hookrail operator store vacuum'),
      expect.stringContaining('WAL'),
    ]);
    const written = await vacuumDatabase(address, clock, HOUR_MS);
    expect(written).toEqual(expect.arrayContaining(['body_2030010100', 'body_2030010101', 'endpoint']));
    await checkpoint();
    expect(filesWithIt('base')).toEqual([]);
    expect(filesWithIt('pg_wal')).toEqual([]);
    expect(await store.erasures.purge()).toEqual([]);
  }, 180_000);
});
