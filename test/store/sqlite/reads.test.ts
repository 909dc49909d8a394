/** Guarantee: no read of the SQLite store scans a table that grows; a search without an index is bounded. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ruleStatements } from '../../../scripts/bench/special/rule-statements.ts';
import type { DomainEvent } from '../../../services/domain/event.ts';
import { RecordSeals } from '../../../services/domain/seals/record-seals.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { openConnection } from '../../../services/store/sqlite/connection.ts';
import { EventFeedReads } from '../../../services/store/sqlite/feed/event-feed-reads.ts';
import { FeedReads } from '../../../services/store/sqlite/feed/feed-reads.ts';
import { FeedWrites } from '../../../services/store/sqlite/feed/feed-writes.ts';
import { AboutReads } from '../../../services/store/sqlite/lists/about-reads.ts';
import { ListReads } from '../../../services/store/sqlite/lists/list-reads.ts';
import { MetricReads } from '../../../services/store/sqlite/lists/metric-reads.ts';
import { BodyReads } from '../../../services/store/sqlite/log/body-reads.ts';
import { BodyWrites } from '../../../services/store/sqlite/log/body-writes.ts';
import { DeliveryReads } from '../../../services/store/sqlite/log/delivery-reads.ts';
import { EndpointHealth } from '../../../services/store/sqlite/log/endpoint-health.ts';
import { JournalWriter } from '../../../services/store/sqlite/log/journal-writer.ts';
import { LogReads } from '../../../services/store/sqlite/log/log-reads.ts';
import { RetentionReads } from '../../../services/store/sqlite/maintenance/retention-reads.ts';
import { RetentionWrites } from '../../../services/store/sqlite/maintenance/retention-writes.ts';
import { migrate } from '../../../services/store/sqlite/migrations/migrate.ts';
import { Names } from '../../../services/store/sqlite/names.ts';
import {
  MISSED_SQL,
  ROUTED_SQL,
  UNLISTED_ROUTED_SQL,
} from '../../../services/store/sqlite/replays/missed-reads.ts';
import { openSqliteStore } from '../../../services/store/sqlite/sqlite-store.ts';
import { Changes } from '../../../services/store/sqlite/transaction.ts';
import type { Store } from '../../../services/store/store.ts';
import { TEST_POLICY } from '../../contract/store-place.ts';
import { eventNumber, journalOf, routed, START } from '../../support/records/journal-entries.ts';
import { TEST_RING } from '../../support/records/key-ring.ts';
import { runWrites } from './run-writes.ts';

/** Filling the log takes a while where other tests run beside it. */
const FILLED_MS_MAX = 120_000;
const MERCHANT = 'a-merchant';
let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hookrail-store-'));
  file = join(directory, 'store.db');
});
afterEach(() => rm(directory, { recursive: true }));

const open = (): Promise<Store> =>
  openSqliteStore({ file, clock: systemClock(), healthPolicy: TEST_POLICY, keyRing: TEST_RING });

/** Returns the last twelve digits of the transaction that an event is about. */
function endOf({ data }: DomainEvent): string {
  return String(data.transactionUuid).slice(24);
}

/** The lines of a statement's query plan. What it is asked for does not change it. */
function planOf(db: ReturnType<typeof openConnection>, sql: string): string[] {
  const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql.replaceAll(/[:$]\w+|\?/g, '1')}`).all();
  return (plan as { detail: string }[]).map(({ detail }) => detail);
}

describe('a query of the delivery log', () => {
  it('of endpoints uses an index for every set of filters, without sorting', async () => {
    const db = openConnection(file, 'write');
    migrate(db, file);
    const [, all = '', ofStatus = '', one = '', every = '', ofMerchant = ''] = await ruleStatements([
      'endpoints',
    ]);
    for (const [sql, index] of [
      [all, 'endpoint_newest'],
      [ofStatus, 'endpoint_of_status'],
    ] as const) {
      const lines = planOf(db, sql);
      expect(lines[0]).toContain(`USING INDEX ${index} (merchant_id=?`);
      expect(lines.join()).not.toMatch(/SCAN|TEMP B-TREE/);
    }
    for (const [sql, search] of [
      [one, 'sqlite_autoindex_endpoint_1 (uuid=?)'],
      [every, 'INTEGER PRIMARY KEY (rowid<?)'],
      [ofMerchant, 'endpoint_of_merchant (merchant_id=? AND seq<?)'],
    ] as const) {
      const lines = planOf(db, sql);
      expect(lines[0]).toContain(search);
      expect(lines.join()).not.toMatch(/SCAN|TEMP B-TREE/);
    }
    db.close();
  });

  it('of a whole merchant merges its endpoints’ indexes, and reads events in the order of theirs', () => {
    const db = openConnection(file, 'write');
    migrate(db, file);
    expect(planOf(db, ListReads.endpointsSql)).toEqual([
      'SEARCH log_endpoint USING COVERING INDEX log_endpoint_of_merchant (merchant=?)',
    ]);
    const [keys, ...noMore] = planOf(db, ListReads.keysSql);
    expect(keys).toMatch(/^SEARCH delivery_by_endpoint USING PRIMARY KEY \(endpoint=\? AND created_at>\?/);
    expect(noMore).toEqual([]);
    const [failing, ...none] = planOf(db, ListReads.failingKeysSql);
    const index = 'delivery_failing (endpoint=? AND status=? AND created_at>?';
    expect(failing).toContain(`SEARCH delivery USING COVERING INDEX ${index}`);
    expect(none).toEqual([]);
    const { deliverySql, eventSql, endpointSql, merchantSql } = DeliveryReads;
    for (const sql of [deliverySql, eventSql, endpointSql, merchantSql])
      expect(planOf(db, sql)).toEqual([
        expect.stringMatching(/^SEARCH \w+ USING INTEGER PRIMARY KEY \(rowid=\?\)$/),
      ]);
    const lines = planOf(db, ListReads.eventsSql);
    expect(lines[0]).toMatch(/^SEARCH l USING PRIMARY KEY \(merchant=\? AND created_at>\?/);
    expect(lines.slice(1)).toEqual(['SEARCH ev USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN']);
    expect(planOf(db, FeedReads.listedSql)).toEqual([
      'SEARCH l USING PRIMARY KEY (merchant=? AND seq>? AND seq<?)',
      'SEARCH feed USING INTEGER PRIMARY KEY (rowid=?)',
    ]);
    expect(planOf(db, EventFeedReads.listedSql)).toEqual(planOf(db, FeedReads.listedSql));
    expect(planOf(db, EventFeedReads.boundSql)[0]).toMatch(/^SEARCH feed_by_merchant USING PRIMARY KEY/);
    expect(planOf(db, AboutReads.listedSql)).toEqual([
      'SEARCH a USING PRIMARY KEY (key=? AND merchant=?)',
      'SEARCH ev USING INTEGER PRIMARY KEY (rowid=?)',
    ]);
    expect(planOf(db, AboutReads.everyListedSql)[0]).toBe('SEARCH a USING PRIMARY KEY (key=?)');
    const [ofMerchant, ...noEvent] = planOf(db, ListReads.eventKeysSql);
    expect(ofMerchant).toMatch(/^SEARCH event_by_merchant USING PRIMARY KEY \(merchant=\? AND created_at>\?/);
    expect(noEvent).toEqual([]);
    expect(planOf(db, ListReads.endpointSql)[0]).toMatch(/\(endpoint_id=\?\)$/);
    expect(planOf(db, AboutReads.listedDeliveriesSql)).toEqual([
      'SEARCH l USING PRIMARY KEY (event=?)',
      'SEARCH d USING INTEGER PRIMARY KEY (rowid=?)',
    ]);
    expect(planOf(db, MetricReads.endpointsSql)).toEqual([
      'SEARCH m USING COVERING INDEX sqlite_autoindex_log_merchant_1 (merchant_id=?)',
      'SEARCH e USING INDEX log_endpoint_of_merchant (merchant=?)',
    ]);
    expect(planOf(db, MetricReads.talliesSql)).toEqual([
      'SEARCH tally USING PRIMARY KEY (endpoint=? AND created_at>? AND created_at<?)',
    ]);
    // What the indexes lack is a bounded number of newest rows.
    const unlisted = [ListReads.unlistedKeysSql, ListReads.unlistedEventsSql, FeedReads.unlistedSql];
    const { unlistedSql, unlistedDeliveriesSql } = AboutReads;
    for (const sql of [...unlisted, unlistedSql, unlistedDeliveriesSql, EventFeedReads.unlistedSql]) {
      expect(planOf(db, sql)[0]).toMatch(/^SEARCH (d|ev|feed|delivery) USING INTEGER PRIMARY KEY \(rowid>\?/);
    }
    db.close();
  });

  it('scans no table that grows, nor does any other statement of the store', async () => {
    const db = openConnection(file, 'write');
    migrate(db, file);
    const statements = await ruleStatements(['merchants', 'keys', 'endpoints', 'outbox', 'replays']);
    const listening = new Proxy(db, {
      get(target, name) {
        if (name !== 'prepare') return Reflect.get(target, name);
        return (sql: string) => {
          statements.push(sql);
          return target.prepare(sql);
        };
      },
    });
    const names = new Names(listening);
    const feed = new FeedWrites(listening, names);
    const health = new EndpointHealth(listening, TEST_POLICY);
    const journal = new JournalWriter(listening, names, health, feed);
    const { erasures } = journal.events;
    const seals = new RecordSeals(TEST_RING);
    await runWrites(new Changes(listening, { feed, seals, health, erasures, names }).at(START));
    for (const make of [
      () => new LogReads(listening),
      () => new ListReads(listening),
      () => new MetricReads(listening),
      () => new EventFeedReads(listening, new FeedReads(listening)),
      () => new RetentionReads(listening),
      () => new RetentionWrites(listening, journal),
      () => new BodyReads(listening),
      () => new BodyWrites(listening, journal),
    ])
      make();
    statements.push(MISSED_SQL, ROUTED_SQL, UNLISTED_ROUTED_SQL);
    expect(statements.length).toBeGreaterThan(60);
    // A list that was given; a bounded number of rows; or one row per merchant, key, partition, replay or order to erase: read whole at a start, or by an operator.
    const small =
      /^SCAN (merchant|api_key|journal_position|log_merchant|log_endpoint|CONSTANT ROW|replay|erasure|json_each)\b/;
    for (const sql of statements) {
      const scans = planOf(db, sql).filter((line) => line.includes('SCAN') && !small.test(line));
      expect([sql, scans]).toEqual([sql, []]);
    }
    db.close();
  });

  it('reads a bounded number of deliveries for a page, and continues where it stopped', {
    timeout: FILLED_MS_MAX,
  }, async () => {
    const endpointId = randomUUID();
    const store = await open();
    const apply = journalOf(store);
    const many = 25_000;
    const rare = (n: number) => n === 100 || n === many - 1;
    for (let at = 0; at < many; at += 2500) {
      const events = Array.from({ length: 2500 }, (_, n) =>
        eventNumber(MERCHANT, at + n, rare(at + n) ? { type: 'KYC', subType: 'KYC_PENDING' } : {}),
      );
      // Two ids that end alike have one key in the index of subjects.
      const [alike] = events;
      if (alike) events[0] = { ...alike, entityId: `${randomUUID().slice(0, 24)}${endOf(alike)}` };
      await apply(...events.map((event) => routed(event, [endpointId])));
    }
    const found: number[] = [];
    let after: string | undefined;
    let pages = 0;
    do {
      const page = await store.lists.deliveries(MERCHANT, {
        endpointId,
        type: 'KYC',
        limit: 50,
        ...(after === undefined ? {} : { after }),
      });
      pages += 1;
      found.push(page.records.length);
      after = page.next ?? undefined;
    } while (after !== undefined);
    expect(found).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 1]);
    expect(pages).toBe(9);
    // A filter that an index has needs no such bound: one page has it all.
    const pending = await store.lists.deliveries(MERCHANT, { endpointId, status: 'exhausted', limit: 50 });
    expect(pending).toEqual({ records: [], next: null });
    // Of what is in the index of subjects, and of what is not yet.
    for (const n of [5, many - 2]) {
      const { eventId, data } = eventNumber(MERCHANT, n);
      const transactionId = String(data.transactionUuid);
      const events = await store.lists.events(MERCHANT, { transactionId, limit: 50 });
      expect(events.records.map(({ event }) => event.eventId)).toEqual([eventId]);
      const deliveries = await store.lists.deliveries(MERCHANT, { transactionId, limit: 50 });
      expect(deliveries.records.map((each) => each.eventId)).toEqual([eventId]);
    }
    await store.close();
  });

  it('finds deliveries and events by id before and after their ids went into the index', {
    timeout: FILLED_MS_MAX,
  }, async () => {
    const endpointId = randomUUID();
    let store = await open();
    const apply = journalOf(store);
    // More than one generation of ids, so that some are indexed and some are not.
    const count = 34_000;
    const sample = eventNumber(MERCHANT, 0);
    const events = Array.from({ length: count }, () => ({ ...sample, eventId: randomUUID() }));
    for (let at = 0; at < count; at += 2000) {
      await apply(...events.slice(at, at + 2000).map((event) => routed(event, [endpointId])));
    }
    const probes = [0, 1, 17_000, count - 2, count - 1].flatMap((index) => events[index] ?? []);
    const findAll = async () => {
      for (const event of probes) {
        const [line] = routed(event, [endpointId]).trace;
        const id = line?.verdict === 'delivered_to' ? line.deliveryId : '';
        expect(await store.log.delivery(MERCHANT, endpointId, id)).toMatchObject({ eventId: event.eventId });
        expect((await store.log.event(MERCHANT, event.eventId))?.event.eventId).toBe(event.eventId);
      }
    };
    await findAll();
    await store.close();
    store = await open();
    await findAll();
    // Routed once more: every delivery is recognised, wherever its id is.
    await store.log.applyJournal([
      {
        partition: 'again',
        first: 1,
        last: probes.length,
        entries: probes.map((event) => routed(event, [endpointId])),
      },
    ]);
    expect(await store.log.retain(Number.MAX_SAFE_INTEGER, 2 * count + 1)).toBe(2 * count);
    await store.close();
  });
});
