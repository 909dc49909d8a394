import { closeSync, fsyncSync, openSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { EVENT_TYPES } from '../../../services/domain/event.ts';
import { RecordSeals } from '../../../services/domain/seals/record-seals.ts';
import type { KeyRing } from '../../../services/keys/keyring.ts';
import { unpackId } from '../../../services/sqlite/ids.ts';
import { API_VERSION, EVENT_TYPE, FAILURE_CODE, STATUS, TRIGGER } from '../../../services/store/log/codes.ts';
import { ATTEMPTS_PER_DELIVERY } from '../../../services/store/log/delivery.ts';
import { FEED_KIND } from '../../../services/store/log/log-rows.ts';
import { toEndpointChange } from '../../../services/store/rows/endpoint-rows.ts';
import { sealValues } from '../../../services/store/rows/record-seals.ts';
import { selectEveryEndpoint } from '../../../services/store/rules/select-endpoint.ts';
import { openConnection } from '../../../services/store/sqlite/connection.ts';
import { FeedReads } from '../../../services/store/sqlite/feed/feed-reads.ts';
import { ListReads } from '../../../services/store/sqlite/lists/list-reads.ts';
import { LogReads } from '../../../services/store/sqlite/log/log-reads.ts';
import { migrate } from '../../../services/store/sqlite/migrations/migrate.ts';
import { SQLITE_DIALECT } from '../../../services/store/sqlite/statements.ts';
import { wallClock } from '../measure.ts';
import { ruleStatements } from './rule-statements.ts';

const DAY_MS = 86_400_000;
/** Recent enough that retention deletes nothing during the measurement. */
const AGE_MS = 25 * DAY_MS;
/** Endpoints in the log; the first gets every event, and so half of the deliveries. */
const LOG_ENDPOINTS = 100;
const SAMPLES = 1000;
/** The number of events between two of the rarest type. */
const RARE_EVERY = 100_000;

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
 * Fills the store file of a stopped service by SQL alone, because the service itself would take an hour. The data is
 * durable when this returns.
 */
export async function fillLog(
  file: string,
  merchantId: string,
  { keyRing, ...sizes }: LogSizes & { readonly keyRing: KeyRing },
): Promise<FilledLog> {
  const db = openConnection(file, 'write');
  try {
    migrate(db, file);
    // One transaction of gigabytes: with a journal it would be written twice.
    db.pragma('journal_mode = OFF');
    db.pragma('synchronous = OFF');
    const to = Math.floor(wallClock()) - DAY_MS;
    const from = to - AGE_MS;
    insertEndpoints(db, merchantId, sizes.endpoints, from);
    sealEndpoints(db, new RecordSeals(keyRing));
    insertEvents(db, sizes.events, from, to);
    insertDeliveries(db, sizes.events);
    insertAttempts(db);
    insertFeed(db);
    db.exec(`INSERT INTO event_by_id SELECT event_id, merchant, seq FROM event ORDER BY event_id;
      INSERT INTO delivery_by_id SELECT delivery_id, seq FROM delivery ORDER BY delivery_id;
      INSERT INTO event_by_merchant SELECT merchant, created_at, seq FROM event ORDER BY merchant, created_at, seq;
      INSERT INTO delivery_by_endpoint SELECT endpoint, created_at, seq FROM delivery
        ORDER BY endpoint, created_at, seq;
      INSERT INTO feed_by_merchant SELECT merchant, seq FROM feed ORDER BY merchant, seq;
      UPDATE meta SET value = (SELECT max(seq) FROM feed) WHERE name = 'feed_listed_to';
      UPDATE meta SET value = (SELECT max(seq) FROM event) WHERE name IN ('event_indexed_to', 'event_listed_to');
      UPDATE meta SET value = (SELECT max(seq) FROM delivery)
        WHERE name IN ('delivery_indexed_to', 'delivery_listed_to');`);
    const filled = { ...samples(db), merchantId, from, to, plans: await plans(db) };
    db.pragma('journal_mode = WAL');
    return filled;
  } finally {
    db.close();
    flush(file);
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
  db.exec(`INSERT INTO log_merchant (seq, merchant_id) VALUES (1, '${merchantId}');
    INSERT INTO log_endpoint SELECT seq, uuid, 1 FROM endpoint WHERE merchant_id = '${merchantId}' LIMIT ${LOG_ENDPOINTS}`);
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

function insertEvents(db: Database, events: number, from: number, to: number): void {
  const { of } = EVENT_TYPE;
  const rare = EVENT_TYPES.at(-1) ?? 'KYC';
  const type = `CASE WHEN i % ${RARE_EVERY} = 0 THEN ${of[rare]} WHEN i % 10 = 0 THEN ${of.KYC} WHEN i % 3 = 0
    THEN ${of.cryptoToFiat} ELSE ${of.fiatToCrypto} END`;
  const at = `${from} + CAST(i * ${(to - from) / events} AS INTEGER)`;
  const data = JSON.stringify({ transactionUuid: '', amountFiat: '125.50', filler: 'x'.repeat(300) });
  // The codec's format of bodies: version code, length (4 bytes, little-endian), bytes.
  const body = Buffer.from(
    JSON.stringify({ type: 'fiatToCrypto', subType: 'SUCCESS', data: 'y'.repeat(450) }),
  );
  const header = Buffer.alloc(5);
  header[0] = API_VERSION.of['2.3.8'];
  header.writeUInt32LE(body.length, 1);
  const bodies = Buffer.concat([header, body]).toString('hex');
  db.exec(`${count(events)} INSERT INTO event (seq, event_id, merchant, entity_id, entity_kind,
    type, sub_type, occurred_at, simulated, created_at, last_at, routed_at, trace, data, bodies) SELECT i, randomblob(16), 1, randomblob(16), 1, ${type}, 'SUCCESS', ${at}, 0,
    ${at}, ${at}, ${at} + 5, '[[1,0,"",2]]', '${data}', x'${bodies}' FROM n`);
}

/** Delivery 2i goes to the hot endpoint, 2i + 1 to one of the others. */
function insertDeliveries(db: Database, events: number): void {
  const { of } = STATUS;
  const status = (seq: string) =>
    `CASE WHEN ${seq} % 1000 = 0 THEN ${of.exhausted} WHEN ${seq} % 999983 = 0 THEN ${of.pending} ELSE ${of.delivered} END`;
  const insert = (seq: string, endpoint: string) =>
    db.exec(`INSERT INTO delivery (seq, delivery_id, endpoint, event, type, api_version, trigger,
      status, cancel_reason, attempts_made, attempts_max, created_at, next_attempt_at, last_attempt_at,
      last_response_status, last_failure_code) SELECT ${seq}, randomblob(16), ${endpoint}, seq, type, ${API_VERSION.of['2.3.8']},
      ${TRIGGER.of.live}, ${status(`(${seq})`)}, NULL, 1 + (${seq}) % 4 / 3, 7, created_at, NULL, created_at + 8, 200, NULL
      FROM event WHERE seq <= ${events}`);
  insert('2 * seq', '1');
  insert('2 * seq + 1', `2 + seq % ${LOG_ENDPOINTS - 1}`);
}

function insertAttempts(db: Database): void {
  const headers = JSON.stringify([
    ['content-type', 'application/json'],
    ['date', 'Sat, 01 Mar 2025 10:15:29 GMT'],
    ['server', 'nginx'],
  ]);
  const signature = `v1,${'A'.repeat(43)}=`;
  db.exec(`INSERT INTO attempt (attempt_id, started_at, duration_ms, response_status, response_headers, response_body,
    response_truncated, failure_code, signature)
    SELECT seq * ${ATTEMPTS_PER_DELIVERY} + number, created_at + number, 25.5,
    CASE WHEN number = attempts_made THEN 200 ELSE 500 END, '${headers}', x'6f6b', 0,
    CASE WHEN number = attempts_made THEN NULL ELSE ${FAILURE_CODE.of.http_5xx} END, '${signature}'
    FROM delivery, (SELECT 1 AS number UNION ALL SELECT 2) WHERE number <= attempts_made`);
}

/** The feed: every routing, then every attempt. */
function insertFeed(db: Database): void {
  const { routed, attempt } = FEED_KIND;
  db.exec(`INSERT INTO feed (merchant, kind, ref, detail, at) SELECT 1, ${routed}, seq, 1, created_at FROM event;
    INSERT INTO feed (merchant, kind, ref, detail, at)
    SELECT 1, ${attempt}, attempt_id, NULL, CAST(started_at AS INTEGER) FROM attempt`);
}

function samples(db: Database) {
  const uuids = (sql: string) => db.prepare(sql).pluck().all() as string[];
  const names = uuids('SELECT endpoint_id FROM log_endpoint ORDER BY seq');
  const events = db.prepare('SELECT max(seq) FROM event').pluck().get() as number;
  const every = Math.max(1, Math.floor(events / SAMPLES));
  const deliveries = db
    .prepare('SELECT delivery_id, endpoint FROM delivery WHERE seq % 2 = 1 AND event % ? = 0')
    .all(every) as { delivery_id: Buffer; endpoint: number }[];
  const ids = db.prepare('SELECT event_id FROM event WHERE seq % ? = 0').pluck().all(every) as Buffer[];
  return {
    attempts: db.prepare('SELECT count(*) FROM attempt').pluck().get() as number,
    feedHead: db.prepare('SELECT max(seq) FROM feed').pluck().get() as number,
    hotEndpoint: names[0] ?? '',
    endpoints: uuids(`SELECT uuid FROM endpoint WHERE seq % ${LOG_ENDPOINTS} = 0 LIMIT ${SAMPLES}`),
    deliveries: deliveries.map(({ delivery_id, endpoint }) => ({
      deliveryId: unpackId(delivery_id),
      endpointId: names[endpoint - 1] ?? '',
    })),
    events: ids.map(unpackId),
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
