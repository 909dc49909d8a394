/**
 * Guarantee, on Kafka: a deployment goes from one build to another, and back, process by process, with both at work
 * together and tasks of one waiting to be made by the other: nothing is lost or early. Sent twice is at most what
 * senders had in flight, or had settled just before, when a sender of the other build joined them.
 * `UPGRADE_FROM=<commit> npm run upgrade`; without that it is the commit before this one. Skipped, with the reason,
 * where the data formats of the two differ: before 0.1.0 a build refuses those of another.
 */
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { deliveryId } from '../../../services/domain/ids.ts';
import { eventually } from '../../support/eventually.ts';
import type { KafkaForTests } from '../../support/kafka/address.ts';
import { kafkaEnvironment } from '../../support/kafka/environment.ts';
import { type FleetRole, ROLES } from '../../support/kafka/fleet.ts';
import { describeWithKafka, freshPrefix } from '../../support/kafka/suites.ts';
import { type Exchange, judge, type RepeatWindow } from '../../support/models/delivery-checker.ts';
import { startLoggingReceiver } from '../../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../../support/records/events.ts';
import {
  type Build,
  earlierBuild,
  haveSameFormats,
  PRESENT_BUILD,
  storeOf,
} from '../../support/service/earlier-build.ts';
import { MerchantClient } from '../../support/service/merchant-client.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../../support/service/system.ts';

/** The retries wait 0.15 s, 3.3 s and 37 s. */
const RETRY_SCALE = 20;
/** Of what is published before the change: its last attempt is due when the other build has taken over. */
const LAST_ATTEMPT = 4;
/** Of what is published during it. */
const QUICK_ATTEMPT = 3;
const BATCH = 5;
const PUBLISH_PAUSE_MS = 250;
/** How long both builds work together. */
const TOGETHER_MS = 4000;
const READY_MS_MAX = 90_000;
const DELIVERED_MS_MAX = 120_000;
const IN_FORCE_MS = 1500;
const TRIAL_MS_MAX = 480_000;

const from = process.env.UPGRADE_FROM;

/** `3 × 7, 5 × 1`: how often each number is among them. */
function countsOf(numbers: readonly number[]): string {
  const counts = new Map<number, number>();
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  return [...counts].map(([number, count]) => `${count} × ${number}`).join(', ');
}

/** One deployment on Kafka: a process per role, each of which a process of another build may replace. */
class Deployment {
  readonly exchanges: Exchange[] = [];
  readonly owed: string[] = [];
  readonly #setup: ServiceSetup;
  readonly #environment: Record<string, string>;
  readonly #running = new Map<FleetRole, Service>();
  readonly #all: Service[] = [];
  readonly #merchant: MerchantClient;
  #endpoints: readonly string[] = [];
  #published = 0;

  constructor(setup: ServiceSetup, environment: Record<string, string>) {
    this.#setup = setup;
    this.#environment = environment;
    this.#merchant = new MerchantClient(setup, () => this.#of('api'));
  }

  async start(build: Build): Promise<void> {
    for (const role of ['api', 'router', 'sender'] as const) await this.#begin(role, build);
  }

  async listen(url: string, paths: readonly string[]): Promise<void> {
    const endpoints: string[] = [];
    for (const path of paths) endpoints.push((await this.#merchant.createEndpoint(`${url}/${path}`)).uuid);
    this.#endpoints = endpoints;
    await sleep(IN_FORCE_MS);
  }

  /** Routers and senders: the new one joins before the old one leaves. The store has room for one api only. */
  async replace(role: FleetRole, build: Build): Promise<RepeatWindow> {
    const from = Date.now();
    const old = this.#of(role);
    if (role === 'api') expect(await old.end('SIGTERM')).toBe(0);
    await this.#begin(role, build);
    if (role !== 'api') {
      await sleep(TOGETHER_MS);
      expect([role, await old.end('SIGTERM')]).toEqual([role, 0]);
    }
    return { from, to: Date.now() };
  }

  async publish(): Promise<void> {
    const events = Array.from({ length: BATCH }, (_, i) =>
      jsonEventOf(this.#setup.merchantId, `${this.#environment.HOOKRAIL_TOPIC_PREFIX}${this.#published + i}`),
    );
    this.#published += BATCH;
    // The same events again until they are acknowledged, as at-least-once asks of a producer.
    const isTaken = async () => (await this.#merchant.publish(events).catch(() => null))?.status === 202;
    await eventually('a batch is acknowledged', isTaken, READY_MS_MAX);
    for (const { header } of events) {
      this.owed.push(...this.#endpoints.map((endpoint) => deliveryId(header.eventId, endpoint)));
    }
  }

  /** Publishes batch after batch until the work is done. */
  async publishWhile(work: () => Promise<void>): Promise<void> {
    let isOver = false;
    const publishing = (async () => {
      for (; !isOver; await sleep(PUBLISH_PAUSE_MS)) await this.publish();
    })();
    try {
      await work();
    } finally {
      isOver = true;
      await publishing;
    }
  }

  async untilDelivered(): Promise<void> {
    const left = () => {
      const delivered = new Set(
        this.exchanges.filter((one) => one.status === 200).map((one) => one.deliveryId),
      );
      return this.owed.filter((id) => !delivered.has(id));
    };
    await eventually('all events are delivered', () => left().length === 0, DELIVERED_MS_MAX).catch(
      (error: unknown) => {
        const said = this.#all.flatMap(({ output }) => output.filter((line) => /"level":[456]/.test(line)));
        const attempts = left().map(
          (id) => this.exchanges.filter(({ deliveryId }) => deliveryId === id).length,
        );
        throw new Error(
          `${error}: ${attempts.length} of ${this.owed.length} are not; attempts that they had: ${countsOf(attempts)}\n` +
            said.slice(-20).join('\n'),
        );
      },
    );
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<(number | null)[]> {
    return Promise.all([...this.#running.values()].map((service) => service.end(signal)));
  }

  async kill(): Promise<void> {
    await Promise.all(this.#all.map((service) => service.end('SIGKILL')));
  }

  #of(role: FleetRole): Service {
    const service = this.#running.get(role);
    if (!service) throw new Error(`no ${role} runs`);
    return service;
  }

  async #begin(role: FleetRole, build: Build): Promise<void> {
    const environment = { ...this.#environment, HOOKRAIL_ROLES: ROLES[role] };
    const service = await startService(environment, ['env', '-C', build.folder]);
    this.#all.push(service);
    this.#running.set(role, service);
    const ready = async () =>
      (await fetch(`${service.operationsUrl}/readyz`).catch(() => null))?.status === 200;
    await eventually(`the ${role} of ${build.name} is ready`, ready, READY_MS_MAX);
  }
}

const suite = (kafka: KafkaForTests, earlier: Build) => {
  it.each([
    ['an upgrade', earlier, PRESENT_BUILD],
    ['a roll-back', PRESENT_BUILD, earlier],
  ])(
    '%s, process by process, loses nothing and repeats no more than a join may',
    { timeout: TRIAL_MS_MAX },
    async (title, old, next) => {
      const setup = await prepareSetup({}, tmpdir(), await storeOf(old));
      const topicPrefix = freshPrefix();
      const deployment = new Deployment(setup, {
        ...setup.environment,
        ...kafkaEnvironment(kafka, topicPrefix),
        HOOKRAIL_KEYRING: join(setup.dataDir, 'keyring.json'),
        HOOKRAIL_RETRY_SCALE: `${RETRY_SCALE}`,
      });
      const receiver = await startLoggingReceiver(setup.receiverCert, ({ path, deliveryId, attempt, at }) => {
        const needed = { '/good': 1, '/quick': QUICK_ATTEMPT }[path] ?? LAST_ATTEMPT;
        const status = attempt >= needed ? 200 : 500;
        deployment.exchanges.push({ deliveryId, attempt, at, answeredAt: Date.now(), status });
        return status;
      });
      try {
        await deployment.start(old);
        await deployment.listen(receiver.url, ['good', 'quick', 'waiting']);
        for (let batch = 0; batch < 10; batch += 1) await deployment.publish();
        const waiting = deployment.owed.length;
        // Only another sender moves what senders have in hand.
        const windows: RepeatWindow[] = [];
        await deployment.publishWhile(async () => {
          windows.push(await deployment.replace('sender', next));
          await deployment.replace('router', next);
          await deployment.replace('api', next);
        });
        await deployment.untilDelivered();
        expect(await deployment.end('SIGTERM')).toEqual([0, 0, 0]);
        const { owed, exchanges } = deployment;
        const verdict = judge(owed, exchanges, windows, { retryScale: RETRY_SCALE });
        console.log(
          `${title} from ${old.name} to ${next.name}: ${owed.length} deliveries (${waiting} published before), ` +
            `${verdict.requests} requests, ${verdict.lost.length} lost, ${verdict.early.length} early, ${verdict.repeats} repeated`,
        );
        expect(verdict.lost).toEqual([]);
        expect(verdict.early).toEqual([]);
        expect(verdict.strange).toEqual([]);
        expect(verdict.unexplained).toEqual([]);
      } finally {
        await deployment.kill();
        await receiver.close();
        rmSync(setup.dataDir, { recursive: true, force: true });
      }
    },
  );
};

const earlier = from === undefined ? undefined : earlierBuild(from);
afterAll(() => earlier && rmSync(join(earlier.folder, '..'), { recursive: true, force: true }));
const cannot =
  earlier === undefined
    ? 'needs npm run upgrade'
    : haveSameFormats(earlier, PRESENT_BUILD)
      ? undefined
      : `is not possible: ${earlier.name} has other data formats, which a build refuses before 0.1.0`;
if (earlier && cannot === undefined)
  await describeWithKafka('the upgrade from build to build:', (kafka) => suite(kafka, earlier));
else
  describe.skip(`the upgrade from build to build ${cannot}`, () =>
    suite({ brokers: [], registryUrl: '' }, PRESENT_BUILD));
