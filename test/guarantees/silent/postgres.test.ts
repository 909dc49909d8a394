/**
 * Guarantee: a primary of PostgreSQL that is frozen (SIGSTOP) keeps its connections and answers nothing. Calls of the API
 * and of the operator's tool end within seconds with an error, and starts with one that names the server; deliveries go
 * on. When it goes on, so does everything by itself, and nothing that was refused was kept.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import type { LocalPostgres } from '../../../scripts/local-postgres/server.ts';
import { eventually } from '../../support/eventually.ts';
import type { KafkaForTests } from '../../support/kafka/address.ts';
import type { FleetProcess } from '../../support/kafka/fleet.ts';
import { describeWithKafka } from '../../support/kafka/suites.ts';
import { describeWithOwnPostgres } from '../../support/postgres/suites.ts';
import { launch, linesOf } from '../../support/service/frozen-service.ts';
import { runTool } from '../../support/service/operator-tool.ts';
import { expectEachOnce } from '../../support/trials/each-once.ts';
import { longestGap, untilDeliveriesGoOn } from '../../support/trials/first-arrivals.ts';
import { RETRY_SCALE, startKafkaProducerTrial } from '../../support/trials/kafka-producer-trial.ts';
import type { Trial } from '../../support/trials/kafka-trial.ts';
import { expectLogEqualsArrivals } from '../../support/trials/log-against-arrivals.ts';
import { publishSteadily } from '../../support/trials/publishing.ts';
import { printWait, waited } from '../../support/trials/waits.ts';

const PUBLISH_PAUSE_MS = 1000;
/** A statement may take 10 s, a connection 2 s; the rest is for a busy machine. */
const ANSWER_MS_MAX = 25_000;
/** Only against waiting for minutes. */
const WAIT_MS_MAX = 120_000;
const BACK_MS_MAX = 60_000;
const ENDED_MS_MAX = 120_000;
const ENDPOINTS = '/merchant/webhook-endpoints';
const REFUSED = { url: 'https://127.0.0.1:8443/refused', description: 'refused' };
const ACCEPTED = { url: 'https://127.0.0.1:8443/accepted', description: 'accepted' };
const NOBODY = '1';

await describeWithKafka('hookrail on Kafka', (kafka) => {
  describeWithOwnPostgres('whose PostgreSQL is frozen', (postgres) => frozen(kafka, postgres));
});

function frozen(kafka: KafkaForTests, postgres: () => LocalPostgres): void {
  let trial: Trial | undefined;
  afterAll(async () => {
    postgres().resume();
    await trial?.abandon();
  }, 60_000);

  it('answers 503 within seconds, delivers on, and goes on with it', { timeout: 400_000 }, async () => {
    const stores = { url: postgres().url(), apis: 1, recorders: 1 };
    trial = await startKafkaProducerTrial('frozen PostgreSQL', kafka, stores);
    const running = trial;
    const { fleet, merchant } = running;
    const publishing = publishSteadily(running, PUBLISH_PAUSE_MS);
    await untilDeliveriesGoOn(running, 10);
    // Its connections are open and in use when it freezes.
    expect((await merchant.request('GET', ENDPOINTS)).status).toBe(200);

    const from = Date.now();
    postgres().pause();
    const unready = [fleet.api, ...fleet.of('recorder')].map((each) =>
      waited(`/readyz of ${each.name} is 503`, () => untilUnready(each)),
    );
    await Promise.all([expectRefusals(running, 'the first'), ...unready]);
    for (const each of fleet.processes) expect(await isAlive(each)).toBe(true);
    await expectRefusals(running, 'a later');
    await expectToolAndStartNameIt(running, `127.0.0.1:${postgres().port}`);
    await untilDeliveriesGoOn(running, 10);
    printWait('the longest time without a first attempt', longestGap(running, from, Date.now()));
    for (const each of [...fleet.of('router'), ...fleet.of('sender')])
      expect((await each.readiness()).status).toBe(200);

    postgres().resume();
    const create = async () => (await merchant.request('POST', ENDPOINTS, ACCEPTED)).status === 201;
    await waited('a change after it went on', () => eventually('a change', create, BACK_MS_MAX));
    await waited('all are ready after that', () =>
      Promise.all(fleet.processes.map((each) => each.untilReady())),
    );
    await publishing.stop();
    await running.untilEnded(ENDED_MS_MAX);
    await waited('the log equals the arrivals after the last', () => expectLogEqualsArrivals(running));
    expectEachOnce(running, RETRY_SCALE);
    const { body } = await merchant.request('GET', ENDPOINTS);
    const urls = JSON.stringify(body);
    expect([urls.includes(ACCEPTED.url), urls.includes(REFUSED.url)]).toEqual([true, false]);
    for (const each of [fleet.api, ...fleet.of('recorder')])
      expectLines(each, `127.0.0.1:${postgres().port}`);
    await running.stop();
  });
}

/** Expects a read, a change and a publication to be refused in time, all asked at once. */
async function expectRefusals({ merchant }: Trial, which: string): Promise<void> {
  const answers = await Promise.all([
    waited(`${which} read of the API`, () => merchant.request('GET', ENDPOINTS)),
    waited(`${which} change over the API`, () => merchant.request('POST', ENDPOINTS, REFUSED)),
    waited(`${which} publication over REST`, () => merchant.publish([])),
  ]);
  for (const { ms, result } of answers) {
    expect([result.status, result.body.code]).toEqual([503, 'temporarily_unavailable']);
    expect(Number(result.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(ms).toBeLessThan(ANSWER_MS_MAX);
  }
}

/** Expects the operator's tool and a process that starts to give up in time, and to say what to look at. */
async function expectToolAndStartNameIt({ fleet }: Trial, address: string): Promise<void> {
  const about = new RegExp(`PostgreSQL at ${address} is unavailable: .*HOOKRAIL_POSTGRES_URL`);
  const alone = { ...fleet.environment, HOOKRAIL_OPS_PORT: NOBODY };
  const tool = await waited('the operator’s tool', () => runTool(alone, 'merchants', 'list'));
  expect(tool.result.code).toBe(1);
  expect(tool.result.err).toMatch(about);
  expect(tool.ms).toBeLessThan(WAIT_MS_MAX);
  const dataDir = `${fleet.environment.HOOKRAIL_DATA_DIR}/another`;
  const environment = { ...fleet.environment, HOOKRAIL_ROLES: 'recorder', HOOKRAIL_DATA_DIR: dataDir };
  const another = launch(environment);
  const start = await waited('a process that starts', () =>
    Promise.race([another.ended, sleep(WAIT_MS_MAX, null, { ref: false })]),
  );
  await another.kill('SIGKILL');
  expect(start.result).toMatchObject({ code: 1 });
  expect(another.output.join('\n')).toMatch(about);
}

async function untilUnready(each: FleetProcess): Promise<void> {
  const isUnready = async () => {
    const { status, reasons } = await each.readiness();
    return status === 503 && reasons.includes('the store cannot be written to');
  };
  await eventually(`${each.name} is not ready`, isUnready, WAIT_MS_MAX);
}

async function isAlive({ service }: FleetProcess): Promise<boolean> {
  return (await fetch(`${service.operationsUrl}/livez`)).ok;
}

/** Expects the log to say once that the server cannot be reached, with its address, and once that it answers again. */
function expectLines({ service }: FleetProcess, address: string): void {
  const lost = linesOf(service, 'store_unreachable');
  expect(lost.map(({ msg }) => msg)).toEqual([
    `PostgreSQL at ${address} cannot be reached: check the server and HOOKRAIL_POSTGRES_URL`,
  ]);
  expect(linesOf(service, 'store_reachable')).toHaveLength(1);
}
