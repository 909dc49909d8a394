/**
 * The queries of replays use an index, and a file of an older build gets its list of missed events at the migration.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../services/process/clock.ts';
import { scopeSql } from '../../../services/store/rules/reads/missed-page.ts';
import { migrate } from '../../../services/store/sqlite/migrations/migrate.ts';
import { MISSED_SQL } from '../../../services/store/sqlite/replays/missed-reads.ts';
import { openSqliteStore } from '../../../services/store/sqlite/sqlite-store.ts';
import { TEST_POLICY } from '../../contract/store-place.ts';
import {
  cancelled,
  createEndpoint,
  delivered,
  eventNumber,
  failed,
  HOUR_MS,
  head,
  journalOf,
  requested,
  routed,
  START,
} from '../../support/records/journal-entries.ts';

const MERCHANT = 'a-merchant';
/** Layout of the files before replays. */
const LAYOUT_BEFORE = 2;
let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hookrail-store-'));
  file = join(directory, 'store.db');
});
afterEach(() => rm(directory, { recursive: true }));

const open = () => openSqliteStore({ file, clock: systemClock(), healthPolicy: TEST_POLICY });

it('the queries of a replay use the indexes of missed events and endpoints', () => {
  const db = new Database(file);
  migrate(db, file);
  const planOf = (sql: string) => {
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql.replaceAll(/\$\d|\?/g, '1')}`).all();
    return (plan as { detail: string }[]).map(({ detail }) => detail).join('\n');
  };
  expect(planOf(MISSED_SQL)).toMatch(/SEARCH m USING PRIMARY KEY \(endpoint=\? AND \(created_at,event\)>/);
  const active = "e.status = 'active' AND e.seq >= ?";
  const plans = [
    MISSED_SQL,
    scopeSql('e.uuid = ?'),
    scopeSql(active),
    scopeSql(`${active} AND e.merchant_id = ?`),
    'SELECT * FROM missed WHERE event = ?',
  ].map(planOf);
  for (const plan of plans) expect(plan).not.toMatch(/SCAN|TEMP B-TREE/);
  db.close();
});

it('a replay finds skipped, exhausted and cancelled events in an older file', async () => {
  let store = await open();
  const endpointId = randomUUID();
  await createEndpoint(store, MERCHANT, endpointId);
  const events = Array.from({ length: 6 }, (_, n) => eventNumber(MERCHANT, n));
  const [skipped, filtered, lost, stopped, arrived, resent] = events.map((event) => ({
    event,
    first: head(event, endpointId),
  }));
  if (!skipped || !filtered || !lost || !stopped || !arrived || !resent) return;
  const passed = (verdict: 'endpoint_auto_disabled' | 'filtered') => [{ endpointId, verdict }] as const;
  const manual = { ...resent.first, trigger: 'manual', attemptsMax: 1, deliveryId: randomUUID() } as const;
  await journalOf(store)(
    { ...routed(skipped.event, []), trace: passed('endpoint_auto_disabled') },
    { ...routed(filtered.event, []), trace: passed('filtered') },
    ...[lost, stopped, arrived, resent].map(({ event }) => routed(event, [endpointId])),
    failed({ ...lost.first, attempt: 7 }),
    cancelled(stopped.first),
    delivered(arrived.first),
    requested(manual, new Uint8Array([1])),
    failed(manual),
  );
  await store.close();
  const db = new Database(file);
  // What later layouts have made since.
  for (const table of ['merchant', 'endpoint'])
    for (const column of ['seal_key_id', 'seal_version', 'seal_mac'])
      db.exec(`ALTER TABLE ${table} DROP COLUMN ${column}`);
  db.exec(`DROP INDEX endpoint_of_url; DROP TABLE feed; ALTER TABLE log_merchant DROP COLUMN feed_removed_to;
     DROP INDEX log_endpoint_of_merchant; DROP TABLE feed_by_merchant; DROP TABLE event_by_merchant;
     DROP TABLE delivery_by_endpoint; DELETE FROM meta WHERE name LIKE '%_listed_to'; DROP TABLE content;
     CREATE INDEX delivery_newest ON delivery (endpoint, created_at);
     ALTER TABLE delivery DROP COLUMN parked; DROP INDEX endpoint_of_status;
    DROP TABLE erasure; DELETE FROM meta WHERE name LIKE '%_bodies_removed_to';
    ALTER TABLE event DROP COLUMN bodies_removed_at; ALTER TABLE api_key DROP COLUMN name;
    DROP TABLE backup; DELETE FROM meta WHERE name = 'purge_due';
    ALTER TABLE event DROP COLUMN published_by; ALTER TABLE audit DROP COLUMN person;
    ALTER TABLE api_key DROP COLUMN types; ALTER TABLE api_key DROP COLUMN merchants;
    DROP INDEX audit_newest; DROP INDEX audit_merchant; DROP INDEX audit_endpoint;
    DROP TABLE missed; DROP TABLE replay; DROP INDEX endpoint_of_merchant;`);
  db.pragma(`user_version = ${LAYOUT_BEFORE}`);
  db.close();
  store = await open();
  const all = { since: START, until: START + 100 * HOUR_MS, types: null, only: 'missing' } as const;
  const page = await store.replays.missed({ ...all, merchantId: MERCHANT, endpointId }, null, 100);
  expect(page.events.map(({ eventId, because }) => [eventId, because])).toEqual([
    [skipped.event.eventId, 'skipped'],
    [lost.event.eventId, 'exhausted'],
    [stopped.event.eventId, 'cancelled'],
  ]);
  await store.close();
});
