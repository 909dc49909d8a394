import pg from 'pg';
import { EVENT_TYPES } from '../../../services/domain/event.ts';
import { API_VERSION, EVENT_TYPE, FAILURE_CODE, STATUS, TRIGGER } from '../../../services/store/log/codes.ts';
import { ATTEMPTS_PER_DELIVERY } from '../../../services/store/log/delivery.ts';
import { FEED_KIND } from '../../../services/store/log/log-rows.ts';
import { encodeCells, TALLY_MS, Tallies } from '../../../services/store/log/tally/tallies.ts';
import { METRIC_STEP_MS } from '../../../services/store/metrics.ts';
import { idOf } from '../../../services/store/postgres/client/packed-id.ts';
import type { PostgresDatabase } from '../../../services/store/postgres/client/postgres-database.ts';
import { statementsOf } from '../../../services/store/postgres/client/statements.ts';
import type { Leaf } from '../../../services/store/postgres/leaves/leaf.ts';
import { Leaves } from '../../../services/store/postgres/leaves/leaves.ts';
import { BODY_KIND } from '../../../services/store/postgres/log/bodies.ts';
import type { Statements } from '../../../services/store/sql/statements.ts';

export const MERCHANT = 'a-merchant';
/** Endpoints in the log; the first gets every event, and so half of the deliveries. */
const LOG_ENDPOINTS = 100;
const TALLIED_ENDPOINTS = 10 * LOG_ENDPOINTS;
const ENTITIES = 1000;
/** Events between two of the rarest type. */
const RARE_EVERY = 10_000;
/** Leaves that have a feed: it is deleted long before the log. */
const FEED_LEAVES = 7;
const SAMPLES_PER_LEAF = 30;

export interface LeafSizes {
  readonly leaves: number;
  readonly leafMs: number;
  /** The end of the newest leaf is the first one after this time. */
  readonly until: number;
  /** Each goes to two endpoints; every fourth delivery was retried once. */
  readonly eventsPerLeaf: number;
  /** Endpoints of the merchant, beside those in the log. */
  readonly endpoints: number;
}

export interface FilledLeaves {
  readonly attempts: number;
  /** Oldest first. */
  readonly leaves: readonly Leaf[];
  readonly hotEndpoint: string;
  readonly endpoints: readonly string[];
  readonly deliveries: readonly { readonly deliveryId: string; readonly endpointId: string }[];
  readonly events: readonly string[];
  /** Of an entity with events in every leaf. */
  readonly entityId: string;
  readonly subjectId: string;
  readonly feedHead: number;
}

/**
 * Fills an empty database by SQL alone, leaf by leaf, because the recorder itself would take long. Its statements may
 * take longer than those of a service.
 */
export async function fillLeaves(
  database: PostgresDatabase,
  url: string,
  sizes: LeafSizes,
): Promise<FilledLeaves> {
  const leaves = new Leaves(database, sizes.leafMs);
  const newest = leaves.of(sizes.until);
  const all = Array.from({ length: sizes.leaves }, (_, index) =>
    leaves.of(newest.from - (sizes.leaves - 1 - index) * sizes.leafMs),
  );
  await leaves.ensure(all);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const statements = statementsOf(client);
    await statements.rows('SET synchronous_commit = off');
    await fillEndpoints(statements, sizes, newest.from);
    for (const [index, leaf] of all.entries()) {
      await statements.rows('BEGIN');
      await fillLeaf(statements, leaf, index * sizes.eventsPerLeaf, sizes);
      if (index >= all.length - FEED_LEAVES) await fillFeed(statements, leaf);
      await statements.rows('COMMIT');
    }
    await statements.change('UPDATE log_merchant SET feed_to = (SELECT coalesce(max(seq), 0) FROM feed)');
    await statements.rows(`SELECT setval('log_block', ${4 * sizes.leaves * sizes.eventsPerLeaf})`);
    await statements.rows('VACUUM (ANALYZE)');
    const found = [];
    for (const leaf of all) found.push(await samples(statements, leaf));
    const deliveries = found.flatMap((each) => each.deliveries);
    const events = found.flatMap((each) => each.events);
    return { leaves: all, deliveries, events, ...(await totals(statements)) };
  } finally {
    await client.end();
  }
}

async function fillEndpoints({ change }: Statements, { endpoints }: LeafSizes, at: number): Promise<void> {
  await change('INSERT INTO log_merchant (merchant_id) VALUES ($1)', [MERCHANT]);
  await change(
    `INSERT INTO endpoint (uuid, merchant_id, url, description, status, api_version, secret_key_id, secret_ciphertext,
     secret_hint, legacy, version, created_at, updated_at, activated_at)
     SELECT gen_random_uuid(), $1, 'https://hooks.example.com/' || i, '', CASE WHEN i % 500 = 0 THEN 'auto_disabled'
     ELSE 'active' END, '2.3.8', 'k1', '', '…abcd', 0, 1, $2::bigint + i, $2, $2
     FROM generate_series(1, $3::int) AS i`,
    [MERCHANT, at, LOG_ENDPOINTS + endpoints],
  );
  await change(
    `INSERT INTO log_endpoint (endpoint_id, merchant) SELECT uuid, 1 FROM endpoint ORDER BY seq LIMIT ${LOG_ENDPOINTS}`,
  );
  await change(
    `INSERT INTO audit (at, actor, merchant_id, endpoint_uuid, action, details)
     SELECT $1::bigint + i, '{"kind":"operator"}', $2, (SELECT uuid FROM endpoint ORDER BY seq LIMIT 1), 'endpoint.update',
     '{}' FROM generate_series(1, 5000) AS i`,
    [at, MERCHANT],
  );
}

/** An event has the number 4i; its deliveries 4i + 1, to the hot endpoint, and 4i + 2. */
async function fillLeaf(tx: Statements, leaf: Leaf, first: number, sizes: LeafSizes): Promise<void> {
  const { of } = EVENT_TYPE;
  const rare = of[EVENT_TYPES.at(-1) ?? 'KYC'];
  const step = Math.floor(sizes.leafMs / sizes.eventsPerLeaf);
  await tx.rows(`CREATE TEMP TABLE made ON COMMIT DROP AS SELECT 4 * i::bigint AS seq, ${leaf.from} + (i - ${first}) * ${step}::bigint
    AS created_at, gen_random_uuid() AS event_id, gen_random_uuid() AS hot, gen_random_uuid() AS other,
    2 + (i % ${LOG_ENDPOINTS - 1})::int AS endpoint, decode(md5('entity' || i % ${ENTITIES}), 'hex') AS entity_id,
    decode(md5('subject' || i / 4), 'hex') AS subject_id,
    CASE WHEN i % ${RARE_EVERY} = 0 THEN ${rare} WHEN i % 10 = 0 THEN ${of.KYC} ELSE ${of.fiatToCrypto} END AS type
    FROM generate_series(${first}, ${first + sizes.eventsPerLeaf - 1}) AS i`);
  await tx.rows('ANALYZE made');
  await tx.rows(`INSERT INTO event_${leaf.suffix} SELECT seq, created_at, 1000 * created_at, 1, uuid_send(event_id), entity_id, 1, type, 'SUCCESS',
    created_at, 0, created_at + 5, NULL, '[[1,0,"' || hot || '",2],[' || endpoint || ',0,"' || other || '",2]]',
    NULL, subject_id FROM made`);
  const status = (seq: string) => `CASE WHEN (${seq}) % 101 = 0 THEN ${STATUS.of.exhausted}
    WHEN (${seq}) % 100003 = 0 THEN ${STATUS.of.pending} ELSE ${STATUS.of.delivered} END`;
  for (const [seq, id, endpoint] of [
    ['seq + 1', 'hot', '1'],
    ['seq + 2', 'other', 'endpoint'],
  ] as const)
    await tx.rows(`INSERT INTO delivery_${leaf.suffix} SELECT ${seq}, created_at, 1000 * created_at, uuid_send(${id}), uuid_send(event_id), entity_id,
      created_at, NULL, created_at + 8, 1, ${endpoint}, type, ${API_VERSION.of['2.3.8']}, ${TRIGGER.of.live}, ${status(seq)}, NULL,
      1 + (seq / 4 % 4) / 3, 7, 200, NULL, NULL, 0, 'SUCCESS', subject_id FROM made`);
  await fillOfDeliveries(tx, leaf);
  await fillTallies(tx, leaf, sizes.leafMs);
}

async function fillOfDeliveries({ rows }: Statements, { suffix }: Leaf): Promise<void> {
  const headers = JSON.stringify([
    ['content-type', 'application/json'],
    ['date', 'Sat, 01 Mar 2025 10:15:29 GMT'],
    ['server', 'nginx'],
  ]);
  await rows(`INSERT INTO attempt_${suffix} SELECT seq * ${ATTEMPTS_PER_DELIVERY} + n, created_at, created_at + n, 25.5, NULL,
    CASE WHEN n = attempts_made THEN 200 ELSE 500 END, CASE WHEN n = attempts_made THEN NULL ELSE ${FAILURE_CODE.of.http_5xx} END,
    0, NULL, '${headers}', 'v1,${'A'.repeat(43)}=' FROM delivery_${suffix}, generate_series(1, attempts_made) AS n`);
  const { data, event, response } = BODY_KIND;
  await rows(`INSERT INTO body_${suffix}
    SELECT seq, created_at, ${data}::smallint, 0::smallint, 0::smallint, convert_to('{"amount":"125.50","filler":"' || repeat('x', 300) || '"}', 'UTF8') FROM made
    UNION ALL SELECT seq, created_at, ${event}::smallint, ${API_VERSION.of['2.3.8']}::smallint, 0::smallint, convert_to(repeat('y', 500), 'UTF8') FROM made
    UNION ALL SELECT attempt_id / ${ATTEMPTS_PER_DELIVERY}, created_at, ${response}::smallint,
    (attempt_id % ${ATTEMPTS_PER_DELIVERY})::smallint, 0::smallint, 'ok'::bytea FROM attempt_${suffix}`);
  const failing = `FROM delivery_${suffix} WHERE status > ${STATUS.of.delivered}`;
  await rows(
    `INSERT INTO failing_${suffix} SELECT merchant, endpoint, status, created_at, seq, delivery_id ${failing}`,
  );
  await rows(
    `INSERT INTO missed_${suffix} SELECT endpoint, created_at, event_id, delivery_id, created_at ${failing}`,
  );
}

/**
 * Fills a tally for each endpoint and hour: 20 cells with an attempt each in every five minutes. Most of the endpoints are another
 * merchant's.
 */
async function fillTallies({ rows }: Statements, { suffix, from }: Leaf, leafMs: number): Promise<void> {
  const tallies = new Tallies();
  for (let startedAt = 0; startedAt < TALLY_MS; startedAt += METRIC_STEP_MS)
    for (let cell = 0; cell < 20; cell += 1)
      tallies.count({
        endpoint: 1,
        type: 1,
        startedAt,
        durationMs: 2 ** (cell / 2),
        outcome: 0,
        failureCode: 0,
      });
  const cells = encodeCells(tallies.list[0]?.cells ?? new Map());
  await rows(
    `INSERT INTO tally_${suffix} SELECT endpoint, ${from} + at, $1::bytea
    FROM generate_series(1, ${TALLIED_ENDPOINTS}) AS endpoint, generate_series(0, ${leafMs - TALLY_MS}, ${TALLY_MS}) AS at`,
    [cells],
  );
}

/** The feed of a leaf: every routing, then every attempt. */
async function fillFeed({ rows }: Statements, { suffix }: Leaf): Promise<void> {
  const { routed, attempt } = FEED_KIND;
  await rows(`INSERT INTO feed_${suffix} SELECT 1, (SELECT coalesce(max(seq), 0) FROM feed) + row_number() OVER (), at, kind,
    detail, event_id, delivery_id, ref, ref_at FROM (
      SELECT created_at AS at, ${routed} AS kind, 2 AS detail, event_id, NULL::bytea AS delivery_id, NULL::bigint AS ref,
      created_at AS ref_at FROM event_${suffix}
      UNION ALL SELECT a.created_at, ${attempt}, NULL, NULL, d.delivery_id, a.attempt_id, d.created_at FROM attempt_${suffix} a
      JOIN delivery_${suffix} d ON d.seq = a.attempt_id / ${ATTEMPTS_PER_DELIVERY}
      ORDER BY at
    ) AS entries`);
}

async function samples({ rows }: Statements, { suffix }: Leaf) {
  const deliveries = await rows<{ delivery_id: Buffer; endpoint_id: string }>(
    `SELECT delivery_id, endpoint_id FROM (SELECT * FROM delivery_${suffix} LIMIT ${SAMPLES_PER_LEAF}) AS d
     JOIN log_endpoint ON log_endpoint.seq = d.endpoint`,
  );
  const events = await rows<{ event_id: Buffer }>(
    `SELECT event_id FROM event_${suffix} LIMIT ${SAMPLES_PER_LEAF}`,
  );
  return {
    deliveries: deliveries.map((row) => ({
      deliveryId: idOf(row.delivery_id),
      endpointId: row.endpoint_id,
    })),
    events: events.map(({ event_id }) => idOf(event_id)),
  };
}

async function totals({ rows, first }: Statements) {
  const names = await rows<{ uuid: string }>(`SELECT uuid FROM endpoint ORDER BY seq LIMIT ${LOG_ENDPOINTS}`);
  const endpoints = names.map(({ uuid }) => uuid);
  const count = await first<{ attempts: string; head: string; entity: Buffer; subject: Buffer }>(
    `SELECT (SELECT count(*) FROM attempt) AS attempts, (SELECT max(feed_to) FROM log_merchant) AS head,
     decode(md5('entity1'), 'hex') AS entity, decode(md5('subject1'), 'hex') AS subject`,
  );
  if (!count) throw new Error('the log is empty');
  return {
    attempts: Number(count.attempts),
    endpoints,
    hotEndpoint: endpoints[0] ?? '',
    entityId: idOf(count.entity),
    subjectId: idOf(count.subject),
    feedHead: Number(count.head),
  };
}
