/**
 * A fleet on a Kafka of its own, with receivers that keep their own log and a producer that publishes at a pace: what
 * the guarantees are tried on. Per event three endpoints: one always answers 200, one at random, one always 500.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalKafka } from '../../scripts/local-kafka/cluster.ts';
import { openKafkaBroker } from '../../services/broker/kafka/open-kafka.ts';
import type { EventType } from '../../services/domain/event.ts';
import { deliveryId } from '../../services/domain/ids.ts';
import type { Chance } from '../../services/domain/samples/chance.ts';
import { systemClock } from '../../services/runtime/clock.ts';
import { readConfig } from '../../services/runtime/config.ts';
import { createLogger } from '../../services/runtime/logger.ts';
import { systemRandom } from '../../services/runtime/random.ts';
import type { Exchange } from './delivery-checker.ts';
import { jsonEventOf } from './events.ts';
import { eventually } from './eventually.ts';
import { freshPrefix } from './kafka.ts';
import { Fleet } from './kafka-fleet.ts';
import { type LoggingReceiver, startLoggingReceiver } from './logging-receiver.ts';
import { MerchantClient } from './merchant-client.ts';
import { type Premises, preparePremises } from './system.ts';

/** Each type has endpoints of its own: records of one endpoint share a partition, and work is to be spread. */
const TYPES: readonly (readonly [EventType, string])[] = [
  ['fiatToCrypto', 'SUCCESS'],
  ['cryptoToFiat', 'SUCCESS'],
  ['KYC', 'FULL_USER'],
  ['AML', 'AML_CHECKS_COMPLETED'],
];
const MANNERS = ['good', 'moody', 'bad'] as const;
/** Fewer than in production: starts are cheap, and every process still has work of every kind. */
const PARTITIONS =
  'deliver=6,retry.3s=4,retry.66s=4,retry.731s=2,retry.4098s=2,retry.15627s=2,retry.46658s=2,' +
  'test=1,replay=1,journal=4,dead=2,quarantine=1';
const BATCH = 10;
const ACKNOWLEDGED_MS_MAX = 180_000;
const ASKED_AT_A_TIME = 8;
const KEEP_LOGS_MS = 10_000;

export interface TrialOptions {
  readonly cluster: LocalKafka;
  readonly chance: Chance;
  readonly routers: number;
  readonly senders: number;
  /** How long a receiver takes to answer, milliseconds. */
  readonly answerMs: readonly [least: number, most: number];
  /** Of each type's endpoints. */
  readonly manners?: readonly (typeof MANNERS)[number][];
  /** Of every process, besides what makes it one of this fleet. */
  readonly environment: Readonly<Record<string, string>>;
}

/** As the delivery log tells it over REST. */
export interface RecordedAttempt {
  readonly number: number;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly response_status: number | null;
  readonly failure_code: string | null;
}

interface Owed {
  readonly id: string;
  /** When its event was acknowledged, milliseconds since the epoch. */
  readonly acknowledgedAt: number;
  readonly endpointId: string;
}

export class Trial {
  readonly topicPrefix = freshPrefix();
  readonly fleet: Fleet;
  readonly exchanges: Exchange[] = [];
  readonly merchant: MerchantClient;
  /** Deliveries of acknowledged events. */
  readonly owed: Owed[] = [];
  readonly #options: TrialOptions;
  readonly #premises: Premises;
  #receiver: LoggingReceiver | null = null;
  #endpoints: string[][] = [];
  #published = 0;
  #ended = new Set<string>();
  #looked = 0;
  readonly #keeping = setInterval(() => this.#keepLogs(), KEEP_LOGS_MS).unref();

  static async start(options: TrialOptions): Promise<Trial> {
    const environment = {
      HOOKRAIL_KAFKA_PARTITIONS: PARTITIONS,
      HOOKRAIL_LOG_LEVEL: process.env.KILL_LOOP_LOG_LEVEL ?? 'info',
      ...options.environment,
    };
    const trial = new Trial(options, await preparePremises(environment));
    try {
      await trial.#start();
      return trial;
    } catch (error) {
      await trial.abandon();
      throw error;
    }
  }

  private constructor(options: TrialOptions, premises: Premises) {
    this.#options = options;
    this.#premises = premises;
    const { brokers, registryUrl } = options.cluster;
    this.fleet = new Fleet({ premises, brokers, registryUrl, topicPrefix: this.topicPrefix });
    this.merchant = new MerchantClient(premises, () => this.fleet.api.service);
  }

  get inFlight(): number {
    return this.#receiver?.inFlight() ?? 0;
  }

  /** Events acknowledged so far. */
  get published(): number {
    return this.#published;
  }

  /** Publishes a batch and keeps trying until it is acknowledged, as at-least-once asks of a producer. */
  async publish(count = BATCH): Promise<void> {
    const events = Array.from({ length: count }, (_, index) => {
      const number = this.#published + index;
      const [type, subType] = TYPES[number % TYPES.length] ?? ['fiatToCrypto', 'SUCCESS'];
      return jsonEventOf(this.#premises.merchantId, `${this.topicPrefix}${number}`, { type, subType });
    });
    const isTaken = async () => (await this.merchant.publish(events).catch(() => null))?.status === 202;
    await eventually('a batch is acknowledged', isTaken, ACKNOWLEDGED_MS_MAX);
    const acknowledgedAt = Date.now();
    for (const [index, { header }] of events.entries()) {
      const endpoints = this.#endpoints[(this.#published + index) % TYPES.length] ?? [];
      this.owed.push(
        ...endpoints.map((endpointId) => ({
          id: deliveryId(header.eventId, endpointId),
          endpointId,
          acknowledgedAt,
        })),
      );
    }
    this.#published += count;
  }

  /** Publishes batch after batch until it is told to stop; that resolves when the last is acknowledged. */
  publishSteadily(pauseMs: number): { stop(): Promise<void> } {
    let isOver = false;
    const publishing = (async () => {
      while (!isOver) {
        await this.publish();
        await sleep(pauseMs);
      }
    })();
    const stop = () => {
      isOver = true;
      return publishing;
    };
    // A failure is told to whoever stops it.
    publishing.catch(() => {});
    return { stop };
  }

  /** Resolves when every owed delivery had a 2xx or its last attempt, by the receivers' log. */
  async untilEnded(withinMs: number): Promise<void> {
    const ended = () => {
      for (; this.#looked < this.exchanges.length; this.#looked += 1) {
        const exchange = this.exchanges[this.#looked];
        if (exchange && (exchange.status === 200 || exchange.attempt === 7))
          this.#ended.add(exchange.deliveryId);
      }
      return this.owed.every(({ id }) => this.#ended.has(id));
    };
    await eventually('every delivery ended', ended, withinMs).catch(async (error: unknown) => {
      const left = this.owed.filter(({ id }) => !this.#ended.has(id));
      const stories = await Promise.all(left.slice(0, 5).map((one) => this.story(one)));
      throw new Error(`${error}; ${left.length} have not, among them\n${stories.join('\n')}`);
    });
  }

  /** What receivers, delivery log and processes know of a delivery. */
  async story({ id, endpointId }: Pick<Owed, 'id' | 'endpointId'>): Promise<string> {
    const seen = this.exchanges.filter((exchange) => exchange.deliveryId === id);
    const detail = await this.#detailOf({ id, endpointId }).catch((error: unknown) => error);
    return [
      `${id} at the receivers: ${seen.map(({ attempt, status, at }) => `${attempt}→${status} at ${at}`).join(' ')}`,
      `in the delivery log: ${JSON.stringify(detail)?.slice(0, 600)}`,
      ...this.fleet.processes.flatMap(({ name, output }) =>
        output.filter((line) => line.includes(id)).map((line) => `${name}: ${line}`),
      ),
    ].join('\n');
  }

  /** The attempts that the delivery log has of each of these, over REST, once it has the last */
  async recordedAttempts(ids: ReadonlySet<string>): Promise<Map<string, RecordedAttempt[]>> {
    const wanted = this.owed.filter(({ id }) => ids.has(id));
    const recorded = new Map<string, RecordedAttempt[]>();
    const ask = async () => {
      for (let one = wanted.pop(); one; one = wanted.pop()) {
        const asked = one;
        await eventually(`the delivery log has all of ${one.id}`, async () => {
          const detail = await this.#detailOf(asked);
          recorded.set(asked.id, detail?.attempts ?? []);
          return detail?.status === 'exhausted';
        });
      }
    };
    await Promise.all(Array.from({ length: ASKED_AT_A_TIME }, ask));
    return recorded;
  }

  /** Delivery ids of all dead letters, as they lie on the shelf. */
  async deadLetters(): Promise<string[]> {
    const config = readConfig(this.fleet.environment);
    if (!config.kafka) throw new Error('the fleet runs on Kafka');
    const broker = await openKafkaBroker({
      kafka: config.kafka,
      environment: 'sandbox',
      retryScale: config.sender.retryScale,
      clientId: 'trial',
      publishesDirectory: false,
      clock: systemClock(),
      random: systemRandom,
      log: createLogger('silent'),
    });
    try {
      const ids: string[] = [];
      for (let after: string | undefined; ; ) {
        const page = await broker.deadLetters.list({
          limit: 10_000,
          ...(after === undefined ? {} : { after }),
        });
        ids.push(...page.map(({ record }) => record.task.deliveryId));
        after = page.at(-1)?.position;
        if (after === undefined) return ids;
      }
    } finally {
      await broker.close();
    }
  }

  /** Ends everything in order; rejects when a process does not exit 0. */
  async stop(): Promise<void> {
    await this.fleet.stop();
    await this.#receiver?.close();
  }

  /** Kills what still runs. */
  async abandon(): Promise<void> {
    clearInterval(this.#keeping);
    this.#keepLogs();
    await this.fleet.kill();
    await this.#receiver?.close();
  }

  async #start(): Promise<void> {
    const { routers, senders, chance, answerMs, manners = MANNERS } = this.#options;
    this.#receiver = await startLoggingReceiver(this.#premises.receiverCert, async (request) => {
      // An answer takes a moment, so that a kill finds requests in flight.
      await sleep(chance.between(...answerMs));
      const manner = request.path.split('/')[1];
      const isGood = manner === 'good' || (manner === 'moody' && chance.below(2) === 0);
      const { deliveryId, attempt, at } = request;
      const status = isGood ? 200 : 500;
      this.exchanges.push({ deliveryId, attempt, at, answeredAt: Date.now(), status });
      return status;
    });
    await this.fleet.start(routers, senders);
    const { url } = this.#receiver;
    this.#endpoints = await Promise.all(
      TYPES.map(([type]) =>
        Promise.all(
          manners.map(async (manner, index) => {
            const filter = { subscribed_events: [type] };
            return (await this.merchant.createEndpoint(`${url}/${manner}/${type}/${index}`, filter)).uuid;
          }),
        ),
      ),
    );
  }

  /** For whoever looks into a failure: the processes' output and the receivers' log, in KILL_LOOP_LOG_DIR if that is set. */
  #keepLogs(): void {
    const folder = process.env.KILL_LOOP_LOG_DIR;
    if (!folder) return;
    mkdirSync(folder, { recursive: true });
    for (const { name, output } of this.fleet.processes) {
      writeFileSync(join(folder, `${name}.log`), output.join('\n'));
    }
    writeFileSync(join(folder, 'exchanges.json'), JSON.stringify(this.exchanges));
  }

  async #detailOf({ id, endpointId }: Pick<Owed, 'id' | 'endpointId'>) {
    const answer = await this.merchant.request(
      'GET',
      `/merchant/webhook-endpoints/${endpointId}/deliveries/${id}`,
    );
    return answer.status === 200 ? answer.body : null;
  }
}
