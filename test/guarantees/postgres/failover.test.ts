/**
 * Guarantee, on Kafka and PostgreSQL with two apis and two recorders: a failover under load stops no delivery, and
 * management is back soon. With a synchronous standby no acknowledged change is lost, although the former primary comes
 * back and accepts writes. With an asynchronous one only that is lost which docs/operate/postgres.md names, and the log is
 * recorded again from the journal.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterEach, expect, it } from 'vitest';
import type { LocalPostgres } from '../../../scripts/local-postgres/server.ts';
import { type ServerPair, startServerPair, urlOf } from '../../store/postgres/failover/server-pair.ts';
import { eventually } from '../../support/eventually.ts';
import type { KafkaForTests } from '../../support/kafka/address.ts';
import { describeWithKafka } from '../../support/kafka/suites.ts';
import { describeWherePostgresStarts } from '../../support/postgres/suites.ts';
import { expectEachOnce } from '../../support/trials/each-once.ts';
import { longestGap, untilDeliveriesGoOn } from '../../support/trials/first-arrivals.ts';
import { RETRY_SCALE, startKafkaProducerTrial } from '../../support/trials/kafka-producer-trial.ts';
import type { Trial } from '../../support/trials/kafka-trial.ts';
import { expectLogEqualsArrivals } from '../../support/trials/log-against-arrivals.ts';
import { ManagementWriter } from '../../support/trials/management-writer.ts';
import { publishSteadily } from '../../support/trials/publishing.ts';
import { readDelivery } from '../../support/trials/recorded-delivery.ts';

const TIMEOUT_MS = 400_000;
const PUBLISH_PAUSE_MS = 250;
const ENDED_MS_MAX = 120_000;
/** Deliveries that must arrive at each stage before the next begins. */
const ARRIVALS = 40;
const CHANGES = 10;
/** Changes wait for their publication, which takes long on a busy machine. */
const CHANGED_MS_MAX = 90_000;
/** Only against hanging; the figures are printed. */
const GAP_MS_MAX = 15_000;
const BACK_MS_MAX = 20_000;
const ENDPOINTS = '/merchant/webhook-endpoints';
const UNUSED_TYPE = 'KYB';

await describeWithKafka('hookrail on Kafka, whose PostgreSQL fails over', (kafka) => {
  describeWherePostgresStarts('under load', () => failovers(kafka));
});

function failovers(kafka: KafkaForTests): void {
  let servers: ServerPair;
  let trial: Trial;
  afterEach(async () => {
    await trial?.abandon();
    await servers?.dispose();
  }, 60_000);

  async function start(): Promise<void> {
    servers = await startServerPair();
    trial = await startKafkaProducerTrial('failover of PostgreSQL', kafka, {
      url: urlOf(servers.primary, servers.standby),
      apis: 2,
      recorders: 2,
    });
  }

  /** Promotes the standby. Resolves with what it took until every api acknowledges changes, milliseconds. */
  async function promote(probes: readonly string[]): Promise<{ at: number; backMs: readonly number[] }> {
    await servers.standby.promote();
    const at = Date.now();
    const apis = trial.fleet.of('api');
    const backMs = apis.map(async (api, index) => {
      const path = `${ENDPOINTS}/${probes[index]}`;
      const isChanged = async () => {
        const change = { description: randomUUID() };
        const answer = await trial.merchantOf(api).request('PATCH', path, change);
        return answer.status === 200;
      };
      await eventually(`${api.name} acknowledges changes`, isChanged, BACK_MS_MAX);
      return Date.now() - at;
    });
    return { at, backMs: await Promise.all(backMs) };
  }

  /** Creates an endpoint for each api, to be changed there. */
  const createProbes = () => Promise.all(trial.fleet.of('api').map(async () => (await createUnused()).uuid));
  const createUnused = (more: object = {}) =>
    trial.merchant.createEndpoint(`https://127.0.0.1:8443/unused/${randomUUID()}`, {
      subscribed_events: [UNUSED_TYPE],
      ...more,
    });

  it('to a synchronous standby keeps every acknowledged change, while the former primary accepts writes again', {
    timeout: TIMEOUT_MS,
  }, async () => {
    await start();
    const { primary } = servers;
    // What would write to it without being asked to.
    await alter(primary, 'SET autovacuum = off');
    await alter(primary, `SET synchronous_standby_names = '*'`);
    const probes = await createProbes();
    const writer = new ManagementWriter(trial.merchant);
    writer.start();
    const publishing = publishSteadily(trial, PUBLISH_PAUSE_MS);
    await eventually('changes are acknowledged', () => writer.acknowledged >= CHANGES, CHANGED_MS_MAX);
    await untilDeliveriesGoOn(trial, ARRIVALS);

    const killedAt = Date.now();
    await primary.kill();
    await untilDeliveriesGoOn(trial, ARRIVALS);
    const promoted = await promote(probes);

    await primary.start();
    await alter(primary, 'RESET synchronous_standby_names');
    const revivedAt = Date.now();
    await query(primary, 'CREATE TABLE accepts_writes ()');
    const next = await nextTransaction(primary);
    // They have seen no timeline when they start.
    const [api, recorder] = [trial.fleet.of('api')[0], trial.fleet.of('recorder')[0]];
    for (const each of [api, recorder]) await each?.end('SIGKILL');
    for (const each of [api, recorder]) await each?.start();
    const changes = writer.acknowledged;
    await eventually('changes go on', () => writer.acknowledged >= changes + CHANGES, CHANGED_MS_MAX);
    await untilDeliveriesGoOn(trial, ARRIVALS);
    await publishing.stop();
    await writer.stop();
    await trial.untilEnded(ENDED_MS_MAX);
    const gap = longestGap(trial, killedAt, revivedAt);
    console.log(
      `failover, synchronous: the standby was promoted ${promoted.at - killedAt} ms after the primary was killed, ` +
        `apis acknowledged changes ${promoted.backMs.join(' and ')} ms after that; longest time without a first ` +
        `attempt ${gap} ms; ${trial.owed.length} deliveries, ${writer.acknowledged} changes, ${writer.refused} requests repeated`,
    );
    // No sender was hit: nothing may be sent twice.
    expectEachOnce(trial, RETRY_SCALE);
    await expectLogEqualsArrivals(trial);
    await writer.expectKept();
    expect(await nextTransaction(primary), 'nothing was written to the former primary').toBe(next);
    expect(gap).toBeLessThan(GAP_MS_MAX);
    await trial.stop();
  });

  it('to an asynchronous standby loses only what the guide names, and the log is recorded again', {
    timeout: TIMEOUT_MS,
  }, async () => {
    await start();
    const { merchant, fleet } = trial;
    const probes = await createProbes();
    const writer = new ManagementWriter(merchant);
    writer.start();
    await eventually('changes are acknowledged', () => writer.acknowledged >= CHANGES, CHANGED_MS_MAX);
    await writer.stop();
    const [changed, disabled, deleted] = [
      await createUnused({ description: 'kept' }),
      await createUnused({ description: 'kept' }),
      await createUnused(),
    ];
    const publishing = publishSteadily(trial, PUBLISH_PAUSE_MS);
    await untilDeliveriesGoOn(trial, ARRIVALS);
    await untilReplayed(servers);

    const cutAt = Date.now();
    await servers.standby.stop();
    const newUrl = `https://127.0.0.1:8443/changed/${randomUUID()}`;
    const made = await createUnused({ description: 'lost' });
    const path = ({ uuid }: { uuid: string }) => `${ENDPOINTS}/${uuid}`;
    const expectStatus = async (status: number, method: string, of: { uuid: string }, body?: object) => {
      const answer = await merchant.request(method, path(of), body);
      expect(answer.status).toBe(status);
      return answer.body;
    };
    await expectStatus(200, 'PATCH', changed, { url: newUrl, description: 'lost' });
    await expectStatus(200, 'PATCH', disabled, { status: 'disabled', description: 'lost' });
    await expectStatus(204, 'DELETE', deleted);
    await untilRecordedSince(cutAt);
    const killedAt = Date.now();
    await servers.primary.kill();
    await servers.standby.start();
    const promoted = await promote(probes);
    await untilDeliveriesGoOn(trial, ARRIVALS);

    expect(await expectStatus(200, 'GET', made)).toMatchObject({
      ...{ url: made.url, subscribed_events: [UNUSED_TYPE], status: 'active', description: '' },
    });
    expect(await expectStatus(200, 'GET', changed)).toMatchObject({ url: newUrl, description: 'kept' });
    expect(await expectStatus(200, 'GET', disabled)).toMatchObject({
      ...{ status: 'disabled', description: 'kept' },
    });
    await expectStatus(404, 'GET', deleted);
    await writer.expectKept();
    await publishing.stop();
    await trial.untilEnded(ENDED_MS_MAX);
    const gap = longestGap(trial, killedAt, promoted.at + Math.max(...promoted.backMs));
    console.log(
      `failover, asynchronous: ${promoted.at - killedAt} ms until the standby was promoted, apis acknowledged ` +
        `changes ${promoted.backMs.join(' and ')} ms after that; longest time without a first attempt ${gap} ms`,
    );
    expectEachOnce(trial, RETRY_SCALE);
    await expectLogEqualsArrivals(trial);
    const lines = fleet.of('recorder').flatMap(({ output }) => output);
    expect(lines.filter((line) => line.includes('the log was set back')).length).toBeGreaterThan(0);
    expect(gap).toBeLessThan(GAP_MS_MAX);
    await trial.stop();
  });

  /** Resolves when the log has a delivery of an event that was acknowledged since then. */
  async function untilRecordedSince(from: number): Promise<void> {
    await eventually('a later delivery is recorded', async () => {
      const later = trial.owed.find(({ acknowledgedAt }) => acknowledgedAt > from);
      const found = later && (await readDelivery(trial.merchant, later));
      return (found?.attempts.length ?? 0) > 0;
    });
  }
}

async function query(server: LocalPostgres, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: server.url() });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Changes a setting for this server alone, and for its next starts. */
async function alter(server: LocalPostgres, change: string): Promise<void> {
  await query(server, `ALTER SYSTEM ${change}`);
  await query(server, 'SELECT pg_reload_conf()');
}

/** Returns the number that the next transaction which writes will have. */
async function nextTransaction(server: LocalPostgres): Promise<unknown> {
  const [row] = await query(server, 'SELECT pg_snapshot_xmax(pg_current_snapshot()) AS next');
  return row?.next;
}

/** Resolves when the standby has everything that the primary has now. */
async function untilReplayed({ primary, standby }: ServerPair): Promise<void> {
  const [row] = await query(primary, 'SELECT pg_current_wal_lsn() AS lsn');
  const isThere = async () => {
    const [found] = await query(standby, `SELECT pg_last_wal_replay_lsn() >= '${row?.lsn}' AS is_there`);
    return found?.is_there;
  };
  await eventually('the standby has caught up', isThere);
}
