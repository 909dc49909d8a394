/**
 * Guarantee: the numbers of rows, merchants and endpoints that a process keeps in memory are its own after a crash of
 * the server and after a failover, so no attempt is taken for another one, and no delivery for another endpoint's.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { deliveryId } from '../../../../services/domain/ids.ts';
import { systemClock } from '../../../../services/process/clock.ts';
import { parsePostgresUrl } from '../../../../services/store/postgres/client/postgres-address.ts';
import { PostgresDatabase } from '../../../../services/store/postgres/client/postgres-database.ts';
import { Numbers } from '../../../../services/store/postgres/log/numbers.ts';
import type { Store } from '../../../../services/store/store.ts';
import { eventually } from '../../../support/eventually.ts';
import { describeWherePostgresStarts } from '../../../support/postgres/suites.ts';
import { delivered, eventNumber, head, routed } from '../../../support/records/journal-entries.ts';
import { type ServerPair, startServerPair, urlOf } from './server-pair.ts';

const MERCHANT = 'a-merchant';
const START_MS_MAX = 120_000;

describeWherePostgresStarts('recorders whose PostgreSQL crashes or fails over', () => {
  let pair: ServerPair;
  let one: Store;
  let two: Store;
  beforeEach(async () => {
    pair = await startServerPair();
    [one, two] = await Promise.all([pair.open(), pair.open()]);
  }, START_MS_MAX);
  afterEach(() => pair?.dispose(), START_MS_MAX);

  /** Records one event, then its delivered attempt, in a partition of its own. */
  async function record(store: Store, endpointId: string): Promise<string> {
    const eventId = randomUUID();
    const event = eventNumber(MERCHANT, 1, { eventId });
    const entries = [routed(event, [endpointId]), delivered(head(event, endpointId))];
    for (const [index, entry] of entries.entries()) {
      const position = { partition: eventId, first: index, last: index };
      const isRecorded = () =>
        store.log.applyJournal([{ ...position, entries: [entry] }]).then(
          () => true,
          () => false,
        );
      await eventually('the entry is recorded', isRecorded);
    }
    return deliveryId(eventId, endpointId);
  }

  async function expectRecorded(store: Store, endpointId: string, id: string): Promise<void> {
    const found = await store.log.delivery(MERCHANT, endpointId, id);
    expect(found).toMatchObject({ endpointId, status: 'delivered', attempts: [{ number: 1 }] });
  }

  it('use no number until its reservation is durable', { timeout: START_MS_MAX }, async () => {
    const { primary, standby } = pair;
    const client = new pg.Client({ connectionString: urlOf(primary) });
    await client.connect();
    await standby.stop();
    await client.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await client.query('SELECT pg_reload_conf()');
    // A sequence that is not durable gives the same number again after a crash or a failover.
    await client.query('CHECKPOINT');
    let isReserved = false;
    const address = parsePostgresUrl(primary.url(), undefined);
    const options = { address, clock: systemClock(), connectionsMax: 1, applicationName: 'test' };
    const database = new PostgresDatabase(options);
    const reserved = new Numbers(database).reserve(1).then(() => {
      isReserved = true;
    });
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    await eventually('its commit waits', async () => (await client.query(waiting)).rowCount);
    expect(isReserved).toBe(false);
    await standby.start();
    await reserved;
    await Promise.all([database.close(), client.end()]);
  });

  it('look names up again that a failover has lost', { timeout: START_MS_MAX }, async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    await record(one, randomUUID());
    await pair.failOver(async () => {
      await record(one, first);
    });
    // New names wait for that.
    const timeline = await eventually('a server answers', () => two.outbox.timeline().catch(() => null));
    await two.outbox.reconciled(timeline.name);
    const other = await record(two, second);
    const mine = await record(one, first);
    await expectRecorded(two, second, other);
    await expectRecorded(two, first, mine);
    await expectRecorded(one, first, mine);
  });
});
