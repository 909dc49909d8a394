/**
 * Guarantee, on Kafka and PostgreSQL with two apis and two recorders: while PostgreSQL is away deliveries go on as before,
 * the REST API answers 503 with Retry-After, and readiness is false only where PostgreSQL is used. Afterwards the log
 * catches up by itself. The long form: `npm run kill-loop`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import type { LocalPostgres } from '../../../scripts/local-postgres/server.ts';
import { eventually } from '../../support/eventually.ts';
import type { KafkaForTests } from '../../support/kafka/address.ts';
import type { Fleet } from '../../support/kafka/fleet.ts';
import { type Seen, twiceUnready, watchReadiness } from '../../support/kafka/readiness-watch.ts';
import { describeWithKafka } from '../../support/kafka/suites.ts';
import { sizeOf } from '../../support/long-runs.ts';
import { describeWithOwnPostgres } from '../../support/postgres/suites.ts';
import { expectEachOnce } from '../../support/trials/each-once.ts';
import { arrivalDelays, untilDeliveriesGoOn } from '../../support/trials/first-arrivals.ts';
import { RETRY_SCALE, startKafkaProducerTrial } from '../../support/trials/kafka-producer-trial.ts';
import type { Trial } from '../../support/trials/kafka-trial.ts';
import { expectLogEqualsArrivals } from '../../support/trials/log-against-arrivals.ts';
import { ManagementWriter } from '../../support/trials/management-writer.ts';
import { publishSteadily } from '../../support/trials/publishing.ts';

const OUTAGE_MS = sizeOf('KILL_LOOP_POSTGRES_OUTAGE_SECONDS') * 1000;
const PUBLISH_PAUSE_MS = 250;
/** Until the retries of one event overlap with those of the next as they will from then on. */
const SETTLE_MS = 8000;
/** Readiness may be behind the truth for so long. */
const NOTICED_MS_MAX = 5000;
const READY_MS_MAX = 60_000;
const ENDED_MS_MAX = 180_000;
/** Only against standing still: the figures are printed. */
const SLOWER_MAX = 10;
const NOT_SLOW_MS = 2000;
const STORE_AWAY = 'the store cannot be written to';
const ENDPOINTS = '/merchant/webhook-endpoints';

await describeWithKafka('hookrail on Kafka', (kafka) => {
  describeWithOwnPostgres('whose PostgreSQL is away', (postgres) => outage(kafka, postgres));
});

function outage(kafka: KafkaForTests, postgres: () => LocalPostgres): void {
  let trial: Trial | undefined;
  afterAll(() => trial?.abandon(), 60_000);

  it(`goes on delivering for ${OUTAGE_MS / 1000} s, says what it cannot do, and the log catches up`, {
    timeout: 500_000 + 4 * OUTAGE_MS,
  }, async () => {
    trial = await startKafkaProducerTrial('outage of PostgreSQL', kafka, {
      url: postgres().url(),
      apis: 2,
      recorders: 2,
    });
    const { fleet } = trial;
    const users = [...fleet.of('api'), ...fleet.of('recorder')];
    const writer = new ManagementWriter(trial.merchant);
    const watch = watchReadiness(fleet.processes);
    const publishing = publishSteadily(trial, PUBLISH_PAUSE_MS);
    try {
      writer.start();
      await sleep(SETTLE_MS);
      const calmFrom = Date.now();
      await sleep(OUTAGE_MS);

      const awayAt = Date.now();
      await postgres().stop();
      await sleep(OUTAGE_MS / 2);
      await expectRefusals(trial);
      await sleep(OUTAGE_MS / 2);
      await untilDeliveriesGoOn(trial, 1);
      const until = Date.now();
      const tried = writer.refused;
      await postgres().start();
      await Promise.all(users.map((each) => each.untilReady()));
      const readyMs = Date.now() - until;
      const changes = writer.acknowledged;
      await eventually('changes are acknowledged again', () => writer.acknowledged > changes, READY_MS_MAX);
      const changedMs = Date.now() - until;
      await publishing.stop();
      await writer.stop();
      await watch.stop();
      await trial.untilEnded(ENDED_MS_MAX);

      const before = percentiles(arrivalDelays(trial, calmFrom, awayAt));
      const during = percentiles(arrivalDelays(trial, awayAt, until));
      console.log(
        `PostgreSQL away for ${until - awayAt} ms: from publishing to arrival p50 ${during.p50} ms and p99 ` +
          `${during.p99} ms, before ${before.p50} ms and ${before.p99} ms (p99 ${(during.p99 / before.p99).toFixed(2)} ` +
          `times as long); ready ${readyMs} ms after it was back, a change acknowledged after ${changedMs} ms; ` +
          `${trial.owed.length} deliveries, ${writer.acknowledged} changes, ${tried} refused`,
      );
      expectEachOnce(trial, RETRY_SCALE);
      expect(during.p99).toBeLessThan(Math.max(NOT_SLOW_MS, before.p99 * SLOWER_MAX));

      expectReadiness(fleet, watch.seen, { from: awayAt, to: until });
      await expectLogEqualsArrivals(trial);
      await writer.expectKept();
      console.log(`the log equals the arrivals ${Date.now() - until} ms after PostgreSQL was back`);
      await trial.stop();
    } finally {
      await publishing.stop().catch(() => {});
      await watch.stop();
    }
  });
}

/** Expects readiness to have been false while PostgreSQL was away where it is used, and true elsewhere. */
function expectReadiness(
  fleet: Fleet,
  seen: readonly Seen[],
  { from, to }: { readonly from: number; readonly to: number },
): void {
  const away = seen.filter(({ at }) => at >= from && at < to);
  for (const { name } of [...fleet.of('api'), ...fleet.of('recorder')]) {
    const noticed = away.filter((one) => one.name === name && one.at >= from + NOTICED_MS_MAX);
    const told = noticed.map(({ reasons }) => reasons.join());
    expect(told.length, name).toBeGreaterThan(0);
    expect(told.filter((reasons) => !reasons.includes(STORE_AWAY))).toEqual([]);
  }
  for (const { name } of [...fleet.of('router'), ...fleet.of('sender')])
    expect(twiceUnready(away, name)).toEqual([]);
}

/** Expects each api to refuse what needs the store, and to say when to try again. */
async function expectRefusals(trial: Trial): Promise<void> {
  for (const api of trial.fleet.of('api')) {
    const client = trial.merchantOf(api);
    const answers = [
      await client.request('GET', ENDPOINTS),
      await client.request('POST', ENDPOINTS, {
        url: 'https://127.0.0.1:8443/refused',
        description: 'refused',
      }),
      await client.publish([]),
    ];
    for (const { status, headers, body } of answers) {
      expect(status).toBe(503);
      expect(body.code).toBe('temporarily_unavailable');
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
  }
}

function percentiles(delays: readonly number[]): { readonly p50: number; readonly p99: number } {
  const sorted = [...delays].sort((one, other) => one - other);
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}
