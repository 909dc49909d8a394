/**
 * A fleet on a Kafka of its own, with receivers that keep their own log and a producer that publishes at a pace: what
 * the guarantees are tried on. Every event goes to one endpoint per manner: see receivers.ts.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalKafka } from '../../../scripts/local-kafka/cluster.ts';
import { eventToJson } from '../../../services/codec/events.ts';
import type { DomainEvent, EventType } from '../../../services/domain/event.ts';
import { deliveryId } from '../../../services/domain/ids.ts';
import type { Chance } from '../../../services/samples/chance.ts';
import { eventually } from '../eventually.ts';
import { Fleet } from '../kafka/fleet.ts';
import { freshPrefix } from '../kafka/suites.ts';
import type { Exchange } from '../models/delivery-checker.ts';
import { ForeignProducer } from '../producers/foreign-producer.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../receivers/logging-receiver.ts';
import { eventOf } from '../records/events.ts';
import { MerchantClient } from '../service/merchant-client.ts';
import { prepareSetup, type ServiceSetup } from '../service/system.ts';
import { deadLetterIds } from './dead-letters.ts';
import { EndedDeliveries } from './ended-deliveries.ts';
import { answering, type ReceiverBehaviour } from './receivers.ts';
import { placesOf, whereItWaits } from './where-it-waits.ts';

/** Each type has endpoints of its own: records of one endpoint share a partition, and work is to be spread. */
const TYPES: readonly (readonly [EventType, string])[] = [
  ['fiatToCrypto', 'SUCCESS'],
  ['cryptoToFiat', 'SUCCESS'],
  ['KYC', 'FULL_USER'],
  ['AML', 'AML_CHECKS_COMPLETED'],
];
const DEFAULT_MANNERS: readonly ReceiverBehaviour[] = ['good', 'moody', 'bad'];
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
  readonly manners?: readonly ReceiverBehaviour[];
  /** Events are written to Kafka by a transactional producer that is not hookrail's, instead of over REST. */
  readonly hasForeignProducer?: boolean;
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
  readonly eventId: string;
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
  readonly #setup: ServiceSetup;
  #receiver: LoggingReceiver | null = null;
  #foreign: ForeignProducer | null = null;
  #endpoints: string[][] = [];
  #published = 0;
  readonly #ended = new EndedDeliveries(
    () => this.exchanges,
    () => this.deadLetters(),
  );
  readonly #keeping = setInterval(() => this.#keepLogs(), KEEP_LOGS_MS).unref();

  static async start(options: TrialOptions): Promise<Trial> {
    const environment = {
      HOOKRAIL_KAFKA_PARTITIONS: PARTITIONS,
      HOOKRAIL_LOG_LEVEL: process.env.KILL_LOOP_LOG_LEVEL ?? 'info',
      ...options.environment,
    };
    const trial = new Trial(options, await prepareSetup(environment));
    try {
      await trial.#start();
      return trial;
    } catch (error) {
      await trial.abandon();
      throw error;
    }
  }

  private constructor(options: TrialOptions, setup: ServiceSetup) {
    this.#options = options;
    this.#setup = setup;
    const { brokers, registryUrl } = options.cluster;
    this.fleet = new Fleet({ setup, brokers, registryUrl, topicPrefix: this.topicPrefix });
    this.merchant = new MerchantClient(setup, () => this.fleet.api.service);
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
      return eventOf(this.#setup.merchantId, `${this.topicPrefix}${number}`, { type, subType });
    });
    await eventually('a batch is acknowledged', () => this.#isTaken(events), ACKNOWLEDGED_MS_MAX);
    const acknowledgedAt = Date.now();
    for (const [index, { eventId }] of events.entries()) {
      const endpoints = this.#endpoints[(this.#published + index) % TYPES.length] ?? [];
      this.owed.push(
        ...endpoints.map((endpointId) => ({
          id: deliveryId(eventId, endpointId),
          eventId,
          endpointId,
          acknowledgedAt,
        })),
      );
    }
    this.#published += count;
  }

  async #isTaken(events: readonly DomainEvent[]): Promise<boolean> {
    try {
      if (!this.#foreign) return (await this.merchant.publish(events.map(eventToJson))).status === 202;
      await this.#foreign.publish(events);
      return true;
    } catch {
      return false;
    }
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

  /** Resolves when every owed delivery has ended. */
  async untilEnded(withinMs: number): Promise<void> {
    const ended = async () => {
      await this.#ended.look();
      return this.owed.every(({ id }) => this.#ended.has(id));
    };
    await eventually('every delivery has ended', ended, withinMs).catch(async (error: unknown) => {
      const left = this.owed.filter(({ id }) => !this.#ended.has(id));
      const stories = await Promise.all(
        left
          .slice(0, 5)
          .map(async (one) => `acknowledged at ${one.acknowledgedAt}: ${await this.story(one)}`),
      );
      const { cluster } = this.#options;
      const places = await placesOf(new Set(left.map(({ eventId }) => eventId)), cluster, this.#eventsTopic);
      const waits = [...places, await whereItWaits(this.fleet.processes)].join('\n');
      throw new Error(
        `${error}; ${left.length} have not, among them\n${stories.join('\n')}\nprocesses:\n${waits}`,
      );
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

  /** Returns the delivery ids of all dead letters, as they lie stored. */
  deadLetters(): Promise<string[]> {
    return deadLetterIds(this.fleet.environment);
  }

  /** Ends everything in order; rejects when a process does not exit 0. */
  async stop(): Promise<void> {
    await this.#foreign?.close();
    await this.fleet.stop();
    await this.#receiver?.close();
  }

  /** Kills what still runs. */
  async abandon(): Promise<void> {
    clearInterval(this.#keeping);
    this.#keepLogs();
    await this.#foreign?.close();
    await this.fleet.kill();
    await this.#receiver?.close();
  }

  get #eventsTopic(): string {
    return `${this.topicPrefix}payments.events`;
  }

  async #start(): Promise<void> {
    const { cluster, routers, senders, manners = DEFAULT_MANNERS } = this.#options;
    this.#receiver = await startLoggingReceiver(
      this.#setup.receiverCert,
      answering(this.#options, this.exchanges),
    );
    await this.fleet.start(routers, senders);
    if (this.#options.hasForeignProducer) this.#foreign = new ForeignProducer(cluster, this.#eventsTopic);
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
