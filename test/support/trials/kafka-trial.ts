/**
 * A fleet on its own Kafka, with receivers that keep their own log and a steady producer: the guarantees are tested on
 * it. Every event goes to one endpoint for each receiver behaviour; see receivers.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { eventToJson } from '../../../services/codec/events.ts';
import type { DomainEvent, EventType } from '../../../services/domain/event.ts';
import { deliveryId } from '../../../services/domain/ids.ts';
import type { Chance } from '../../../services/samples/chance.ts';
import { eventually } from '../eventually.ts';
import type { KafkaForTests } from '../kafka/address.ts';
import { Fleet, type FleetProcess, type StoreProcesses } from '../kafka/fleet.ts';
import { freshPrefix } from '../kafka/suites.ts';
import type { Exchange } from '../models/delivery-checker.ts';
import { prepareSetupOnPostgres } from '../postgres/prepare-setup.ts';
import { ForeignProducer } from '../producers/foreign-producer.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../receivers/logging-receiver.ts';
import { eventOf } from '../records/events.ts';
import { MerchantClient } from '../service/merchant-client.ts';
import { prepareSetup, type ServiceSetup } from '../service/system.ts';
import { deadLetterIds } from './dead-letters.ts';
import { EndedDeliveries } from './ended-deliveries.ts';
import { keepLogs } from './keep-logs.ts';
import { answering, type ReceiverBehaviour } from './receivers.ts';
import { type RecordedAttempt, type RecordedDelivery, readDelivery } from './recorded-delivery.ts';
import { recordPositions, unfinishedWork } from './unfinished-work.ts';

/** Each type has its own endpoints, to spread the work: records of one endpoint share a partition. */
const TYPES: readonly (readonly [EventType, string])[] = [
  ['fiatToCrypto', 'SUCCESS'],
  ['cryptoToFiat', 'SUCCESS'],
  ['KYC', 'FULL_USER'],
  ['AML', 'AML_CHECKS_COMPLETED'],
];
const DEFAULT_MANNERS: readonly ReceiverBehaviour[] = ['good', 'moody', 'bad'];
/** Fewer than in production: starts are cheaper, and every process still gets work of every kind. */
const PARTITIONS =
  'deliver=6,retry.3s=4,retry.66s=4,retry.731s=2,retry.4098s=2,retry.15627s=2,retry.46658s=2,' +
  'test=1,replay=1,journal=4,dead=2,quarantine=1';
const BATCH = 10;
const ACKNOWLEDGED_MS_MAX = 180_000;
const CONCURRENT_READS = 8;
/** Events accepted this long after an endpoint was created are owed to it (README, "What is promised"). */
const KNOWN_MS = 1000;
const KEEP_LOGS_MS = 10_000;

export interface TrialOptions {
  readonly cluster: KafkaForTests;
  readonly chance: Chance;
  readonly routers: number;
  readonly senders: number;
  /** How long a receiver takes to respond, milliseconds. */
  readonly answerMs: readonly [least: number, most: number];
  /** The behaviours of each type's endpoints. */
  readonly manners?: readonly ReceiverBehaviour[];
  /** Whether a transactional producer that is not hookrail's writes the events to Kafka. Default: events come over REST. */
  readonly hasForeignProducer?: boolean;
  /** The store on PostgreSQL, and how many processes use it; default: one process on SQLite. */
  readonly postgres?: StoreProcesses & { readonly url: string };
  /** Added to the fleet's environment, for every process. */
  readonly environment: Readonly<Record<string, string>>;
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
  #begun = 0;
  #published = 0;
  readonly #ended = new EndedDeliveries(
    () => this.exchanges,
    () => this.deadLetters(),
  );
  readonly #keeping = setInterval(() => keepLogs(this.fleet, this.exchanges), KEEP_LOGS_MS).unref();

  static async start(options: TrialOptions): Promise<Trial> {
    const environment = {
      HOOKRAIL_KAFKA_PARTITIONS: PARTITIONS,
      HOOKRAIL_LOG_LEVEL: process.env.KILL_LOOP_LOG_LEVEL ?? 'info',
      // A long trial creates as many as it can.
      HOOKRAIL_ENDPOINT_QUOTA: '1000000',
      ...options.environment,
    };
    const { postgres } = options;
    const setup = postgres
      ? await prepareSetupOnPostgres(postgres.url, environment)
      : await prepareSetup(environment);
    const trial = new Trial(options, setup);
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
    this.merchant = new MerchantClient(setup, () => this.fleet.anyApi.service);
  }

  /** Returns the merchant as a client of this api alone. */
  merchantOf(api: FleetProcess): MerchantClient {
    return new MerchantClient(this.#setup, () => api.service);
  }

  get inFlight(): number {
    return this.#receiver?.inFlight() ?? 0;
  }

  /** Events acknowledged so far. */
  get published(): number {
    return this.#published;
  }

  /** Publishes a batch and retries until it is acknowledged, as an at-least-once producer must. Several may be under way. */
  async publish(count = BATCH): Promise<void> {
    const first = this.#begun;
    this.#begun += count;
    const events = Array.from({ length: count }, (_, index) => {
      const number = first + index;
      const [type, subType] = TYPES[number % TYPES.length] ?? ['fiatToCrypto', 'SUCCESS'];
      return eventOf(this.#setup.merchantId, `${this.topicPrefix}${number}`, { type, subType });
    });
    let refusal = 'none';
    const isAcknowledged = async () => {
      refusal = (await this.#refusalOf(events)) ?? '';
      return refusal === '';
    };
    await eventually('a batch is acknowledged', isAcknowledged, ACKNOWLEDGED_MS_MAX).catch((error: Error) => {
      throw new Error(`${error.message}; the last answer: ${refusal}`);
    });
    const acknowledgedAt = Date.now();
    for (const [index, { eventId }] of events.entries()) {
      const endpoints = this.#endpoints[(first + index) % TYPES.length] ?? [];
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

  /** Returns why events were not taken; null when they are acknowledged. */
  async #refusalOf(events: readonly DomainEvent[]): Promise<string | null> {
    try {
      if (this.#foreign) await this.#foreign.publish(events);
      else {
        const { status, body } = await this.merchant.publish(events.map(eventToJson));
        if (status !== 202) return `${status} ${JSON.stringify(body)}`;
      }
      return null;
    } catch (error) {
      return `${error} ${(error as Error).cause ?? ''}`;
    }
  }

  /** Resolves when every owed delivery has ended. */
  async untilEnded(withinMs: number): Promise<void> {
    const ended = async () => {
      await this.#ended.update();
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
      const ids = new Set(left.map(({ eventId }) => eventId));
      const positions = await recordPositions(ids, cluster, this.#eventsTopic);
      const work = [...positions, await unfinishedWork(this.fleet.processes)].join('\n');
      throw new Error(
        `${error}; ${left.length} have not ended, among them\n${stories.join('\n')}\nprocesses:\n${work}`,
      );
    });
  }

  /** Returns all records of a delivery: in the receivers' log, the delivery log and the processes' output. */
  async story({ id, endpointId }: Pick<Owed, 'id' | 'endpointId'>): Promise<string> {
    const seen = this.exchanges.filter((exchange) => exchange.deliveryId === id);
    const detail = await readDelivery(this.merchant, { id, endpointId }).catch((error: unknown) => error);
    return [
      `${id} at the receivers: ${seen.map(({ attempt, status, at }) => `${attempt}→${status} at ${at}`).join(' ')}`,
      `in the delivery log: ${JSON.stringify(detail)?.slice(0, 600)}`,
      ...this.fleet.processes.flatMap(({ name, output }) =>
        output.filter((line) => line.includes(id)).map((line) => `${name}: ${line}`),
      ),
    ].join('\n');
  }

  /** Returns the attempts of each delivery from the delivery log, over REST, once it is recorded as exhausted. */
  async recordedAttempts(ids: ReadonlySet<string>): Promise<Map<string, readonly RecordedAttempt[]>> {
    const recorded = new Map<string, readonly RecordedAttempt[]>();
    const wanted = this.owed.filter(({ id }) => ids.has(id));
    await this.eachDelivery(
      (id, read) =>
        eventually(`the delivery log has all attempts of ${id}`, async () => {
          const detail = await read();
          recorded.set(id, detail?.attempts ?? []);
          return detail?.status === 'exhausted';
        }),
      wanted,
    );
    return recorded;
  }

  /** Calls back for every owed delivery, a few at a time; `read` reads it from the delivery log, null when it is not there. */
  async eachDelivery(
    visit: (id: string, read: () => Promise<RecordedDelivery | null>) => Promise<unknown>,
    owed: readonly Owed[] = this.owed,
  ): Promise<void> {
    const left = [...owed];
    const next = async () => {
      for (let one = left.pop(); one; one = left.pop()) {
        const delivery = one;
        await visit(one.id, () => readDelivery(this.merchant, delivery).catch(() => null));
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT_READS }, next));
  }

  /** Returns the delivery ids of all stored dead letters. */
  deadLetters(): Promise<string[]> {
    return deadLetterIds(this.fleet.environment);
  }

  /** Stops everything in order; rejects when a process does not exit with 0. */
  async stop(): Promise<void> {
    await this.#foreign?.close();
    await this.fleet.stop();
    await this.#receiver?.close();
  }

  /** Kills all processes that still run. */
  async abandon(): Promise<void> {
    clearInterval(this.#keeping);
    keepLogs(this.fleet, this.exchanges);
    await this.#foreign?.close();
    await this.fleet.kill();
    await this.#receiver?.close();
  }

  get #eventsTopic(): string {
    return `${this.topicPrefix}payments.events`;
  }

  async #start(): Promise<void> {
    const { cluster, routers, senders, manners = DEFAULT_MANNERS, postgres } = this.#options;
    this.#receiver = await startLoggingReceiver(
      this.#setup.receiverCert,
      answering(this.#options, this.exchanges),
    );
    await this.fleet.start(routers, senders, postgres);
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
    await sleep(KNOWN_MS);
  }
}
