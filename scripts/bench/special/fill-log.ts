import { closeSync, fsyncSync, openSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { deliveryId } from '../../../services/domain/ids.ts';
import { RecordSeals } from '../../../services/domain/seals/record-seals.ts';
import type { KeyRing } from '../../../services/keys/keyring.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { toEndpointChange } from '../../../services/store/rows/endpoint-rows.ts';
import { sealValues } from '../../../services/store/rows/record-seals.ts';
import { selectEveryEndpoint } from '../../../services/store/rules/select-endpoint.ts';
import { openConnection } from '../../../services/store/sqlite/connection.ts';
import { FeedReads } from '../../../services/store/sqlite/feed/feed-reads.ts';
import { ListReads } from '../../../services/store/sqlite/lists/list-reads.ts';
import { LogReads } from '../../../services/store/sqlite/log/log-reads.ts';
import { migrate } from '../../../services/store/sqlite/migrations/migrate.ts';
import { openSqliteStore } from '../../../services/store/sqlite/sqlite-store.ts';
import { SQLITE_DIALECT } from '../../../services/store/sqlite/statements.ts';
import { wallClock } from '../measure.ts';
import { entityOf, eventIdOf, logJournal, subjectOf } from './log-journal.ts';
import { ruleStatements } from './rule-statements.ts';

const DAY_MS = 86_400_000;
/** Recent enough that retention deletes nothing during the measurement. */
const AGE_MS = 25 * DAY_MS;
/** Endpoints in the log; the first gets every event, and so half of the deliveries. */
const LOG_ENDPOINTS = 100;
const SAMPLES = 1000;
/** An endpoint that is disabled would not change the reads. */
const NEVER_DISABLES = { withoutSuccessMs: 365 * DAY_MS, failedAttempts: 1_000_000 };

export interface LogSizes {
  readonly endpoints: number;
  /** Each event goes to two endpoints; every fourth delivery was retried once. */
  readonly events: number;
}

export interface FilledLog {
  readonly attempts: number;
  readonly merchantId: string;
  /** The endpoint that has half of all deliveries. */
  readonly hotEndpoint: string;
  readonly endpoints: readonly string[];
  /** The number of the feed's newest entry. */
  readonly feedHead: number;
  readonly deliveries: readonly { readonly deliveryId: string; readonly endpointId: string }[];
  readonly events: readonly string[];
  readonly subjects: readonly string[];
  readonly entities: readonly string[];
  /** The times of the oldest and the newest, milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly plans: readonly string[];
}

const UUID = `lower(printf('%s-%s-4%s-a%s-%s', hex(randomblob(4)), hex(randomblob(2)), substr(hex(randomblob(2)), 2),
  substr(hex(randomblob(2)), 2), hex(randomblob(6))))`;
const count = (to: number) =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${to})`;

/**
 * Fills the store file of a stopped service: the endpoints by SQL, the log as a recorder would have, through the store
 * itself, which takes a minute for a million deliveries. The data is durable when this returns.
 */
export async function fillLog(
  file: string,
  merchantId: string,
  { keyRing, ...sizes }: LogSizes & { readonly keyRing: KeyRing },
): Promise<FilledLog> {
  const to = Math.floor(wallClock()) - DAY_MS;
  const from = to - AGE_MS;
  const endpoints = makeEndpoints(file, merchantId, {
    from,
    count: sizes.endpoints,
    seals: new RecordSeals(keyRing),
  });
  const store = await openSqliteStore({ file, clock: systemClock(), healthPolicy: NEVER_DISABLES, keyRing });
  try {
    for (const batch of logJournal({ merchantId, endpoints, events: sizes.events, from, to }))
      await store.log.applyJournal([batch]);
  } finally {
    await store.close();
  }
  const db = openConnection(file, 'write');
  try {
    return { ...samples(db, sizes.events, endpoints), merchantId, from, to, plans: await plans(db) };
  } finally {
    db.close();
    flush(file);
  }
}

/** Returns the endpoints of the log. */
function makeEndpoints(
  file: string,
  merchantId: string,
  {
    from,
    count: endpoints,
    seals,
  }: { readonly from: number; readonly count: number; readonly seals: RecordSeals },
): readonly string[] {
  const db = openConnection(file, 'write');
  try {
    migrate(db, file);
    db.transaction(() => {
      insertEndpoints(db, merchantId, endpoints, from);
      sealEndpoints(db, seals);
    })();
    const listed = db.prepare('SELECT uuid FROM endpoint WHERE merchant_id = ? ORDER BY seq LIMIT ?').pluck();
    return listed.all(merchantId, LOG_ENDPOINTS) as string[];
  } finally {
    db.close();
  }
}

/** Flushes the file, which would otherwise be written to the disk during the measurement. */
function flush(file: string): void {
  const descriptor = openSync(file, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

function insertEndpoints(db: Database, merchantId: string, endpoints: number, from: number): void {
  db.exec(`${count(endpoints)} INSERT INTO endpoint (uuid, merchant_id, url, description, subscribed_events, status,
    api_version, secret_key_id, secret_ciphertext, secret_hint, legacy, version, created_at, updated_at, activated_at)
    SELECT ${UUID}, '${merchantId}', 'https://hooks.merchant.com/' || i, 'benchmark', NULL,
    CASE WHEN i % 2000 = 0 THEN 'auto_disabled' WHEN i % 200 = 0 THEN 'disabled' ELSE 'active' END,
    '2.3.8', 'k1', '', '…abcd', 0, 1, ${from} + i, ${from} + i, ${from} + i FROM n`);
}

/** The service takes a record without a seal for one that others have written. */
function sealEndpoints(db: Database, seals: RecordSeals): void {
  const write = db.prepare(
    'UPDATE endpoint SET seal_key_id = ?, seal_version = ?, seal_mac = ? WHERE uuid = ? AND seal_mac IS NULL',
  );
  const rows = db
    .prepare<[], Parameters<typeof toEndpointChange>[0]>(selectEveryEndpoint(SQLITE_DIALECT))
    .all();
  for (const row of rows) write.run(...sealValues(seals.sealed(toEndpointChange(row)).seal), row.uuid);
}

function samples(db: Database, events: number, logged: readonly string[]) {
  const uuids = (sql: string) => db.prepare(sql).pluck().all() as string[];
  const every = Math.max(1, Math.floor(events / SAMPLES));
  const sampled = Array.from({ length: Math.min(SAMPLES, events) }, (_, index) => index * every);
  return {
    attempts: db.prepare('SELECT count(*) FROM attempt').pluck().get() as number,
    feedHead: db.prepare('SELECT max(seq) FROM feed').pluck().get() as number,
    hotEndpoint: logged[0] ?? '',
    endpoints: uuids(`SELECT uuid FROM endpoint WHERE seq % ${LOG_ENDPOINTS} = 0 LIMIT ${SAMPLES}`),
    deliveries: sampled.map((n) => {
      const endpointId = logged[1 + (n % (logged.length - 1))] ?? '';
      return { endpointId, deliveryId: deliveryId(eventIdOf(n), endpointId) };
    }),
    events: sampled.map(eventIdOf),
    subjects: sampled.map(subjectOf),
    entities: sampled.map(entityOf),
  };
}

/** Returns SQLite's query plans of all statements that the API reads with, on this file. */
async function plans(db: Database): Promise<string[]> {
  const statements = await ruleStatements(['merchants', 'keys', 'endpoints', 'outbox']);
  const listening = new Proxy(db, {
    get(target, name) {
      if (name !== 'prepare') return Reflect.get(target, name);
      return (sql: string) => {
        statements.push(sql);
        return target.prepare(sql);
      };
    },
  });
  new LogReads(listening);
  new ListReads(listening);
  new FeedReads(listening);
  return statements.map((sql) => {
    const explained = db.prepare(`EXPLAIN QUERY PLAN ${sql.replaceAll(/[:$]\w+|\?/g, '1')}`).all();
    const lines = (explained as { detail: string }[]).map(({ detail }) => detail);
    return `${sql.replaceAll(/\s+/g, ' ')}\n    ${lines.join('\n    ')}`;
  });
}
