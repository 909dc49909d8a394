/**
 * Guarantee: when every sender is gone, the other processes tell how long first attempts have waited; the alert fires
 * within 100 s and ends when senders are back, whatever a router that restarts meanwhile knows.
 *
 * Shortened: an outage of 40 s is recorded and evaluated as one of 100 s, in every time and value.
 * HOOKRAIL_TEST_OUTAGE_SECONDS=100 runs it at its own pace.
 */
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../../support/eventually.ts';
import { kafkaEnvironment } from '../../../support/kafka/environment.ts';
import { Fleet, type FleetProcess } from '../../../support/kafka/fleet.ts';
import { describeWithKafka, freshPrefix } from '../../../support/kafka/suites.ts';
import { checkAlert, hasPromtool } from '../../../support/promtool.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../../../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../../../support/records/events.ts';
import { inForce } from '../../../support/service/in-force.ts';
import { MerchantClient } from '../../../support/service/merchant-client.ts';
import { prepareSetup, type ServiceSetup } from '../../../support/service/system.ts';

const ALERT = 'HookrailTasksOverdue';
const METRIC = 'hookrail_oldest_overdue_seconds';
const OUTAGE_SECONDS = Number(process.env.HOOKRAIL_TEST_OUTAGE_SECONDS ?? 40);
/** How often Prometheus scrapes, and evaluates the rules. */
const INTERVAL_SECONDS = 15;
/** How much shorter everything is. */
const SCALE = 100 / OUTAGE_SECONDS;
const SCRAPES_OF_OUTAGE = Math.floor(100 / INTERVAL_SECONDS);

/** Returns the age that a process reports, seconds; null = it does not run, or does not know. */
async function ageAt(process: FleetProcess): Promise<number | null> {
  if (!process.isRunning) return null;
  const text = await (await fetch(`${process.service.operationsUrl}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${METRIC} `));
  return line === undefined ? null : Number(line.split(' ')[1]);
}

/** Scrapes all processes of a fleet as Prometheus would. */
class Scraper {
  readonly #fleet: Fleet;
  readonly #values = new Map<FleetProcess, (number | null)[]>();
  /** The number of scrapes so far. */
  count = 0;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  async scrape(times: number): Promise<void> {
    for (let done = 0; done < times; done += 1) {
      await sleep((INTERVAL_SECONDS * 1000) / SCALE);
      for (const process of this.#fleet.processes) {
        const values = this.#values.get(process) ?? [];
        this.#values.set(process, values);
        values.push(await ageAt(process));
      }
      this.count += 1;
    }
  }

  newestOf(process: FleetProcess): number | null | undefined {
    return this.#values.get(process)?.at(-1);
  }

  get series() {
    return [...this.#values].map(([{ name }, values]) => ({
      name: `${METRIC}{job="hookrail",instance="${name}"}`,
      values: values.map((value) => (value === null ? null : value * SCALE)),
    }));
  }
}

await describeWithKafka('first attempts that no sender reads', (kafka) => {
  const topicPrefix = freshPrefix();
  let setup: ServiceSetup;
  let receiver: LoggingReceiver;
  let fleet: Fleet;
  let merchant: MerchantClient;

  beforeAll(async () => {
    setup = await prepareSetup();
    receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
    const environment = kafkaEnvironment(kafka, topicPrefix);
    fleet = new Fleet({ setup, ...kafka, topicPrefix, environment });
    await fleet.start(1, 2);
    merchant = new MerchantClient(setup, () => fleet.api.service);
    await merchant.createEndpoint(`${receiver.url}/hook`);
    await inForce();
  }, 120_000);

  afterAll(async () => {
    await fleet?.kill();
    await receiver?.close();
    rmSync(setup.dataDir, { recursive: true, force: true });
  });

  const publish = async (seed: string) => {
    const event = jsonEventOf(setup.merchantId, seed);
    expect((await merchant.publish([event])).status).toBe(202);
    return event.header.eventId;
  };
  const arrived = (eventId: string) =>
    eventually(`${eventId} arrives`, () => receiver.arrivals.some((one) => one.eventId === eventId), 60_000);

  it('raise the alert, and end it when senders are back', { timeout: 300_000 }, async ({ skip }) => {
    if (!hasPromtool('The alert of tasks that nobody reads is not checked')) return skip();
    const scraper = new Scraper(fleet);
    const [router] = fleet.of('router');
    if (!router) throw new Error('this fleet has no router');
    await arrived(await publish('before'));
    await scraper.scrape(2);
    const killed = scraper.count - 1;

    await Promise.all(fleet.of('sender').map((sender) => sender.end('SIGKILL')));
    const eventId = await publish('meanwhile');
    await scraper.scrape(3);
    expect(scraper.newestOf(router)).toBeGreaterThan(0);
    await router.end('SIGKILL');
    await router.start();
    await scraper.scrape(SCRAPES_OF_OUTAGE - 3);
    const firing = scraper.count - 1;
    expect(scraper.newestOf(fleet.api)).toBeGreaterThan(OUTAGE_SECONDS / 2);

    await Promise.all(fleet.of('sender').map((sender) => sender.start()));
    await arrived(eventId);
    await scraper.scrape(4);
    for (const process of fleet.processes)
      expect([process.name, scraper.newestOf(process)]).toEqual([process.name, 0]);
    const expected = [
      [killed, false],
      [firing, true],
      [scraper.count - 1, false],
    ] as const;
    checkAlert(ALERT, INTERVAL_SECONDS, scraper.series, new Map(expected));
  });
});
