/**
 * The connections under kafkajs's producer, without that producer: its way of sending loses records when leaders move
 * (see producer.ts), its encoding takes most of a busy process's time, and its view of the cluster is all or nothing:
 * one partition without a leader makes it reject everything. kafkajs does not export its connections; they are those of
 * the version pinned in package.json, and the producer's tests show whether another version still has them.
 */

import { createRequire } from 'node:module';
import type { Kafka } from 'kafkajs';
import { asError } from '../../messages/error-message.ts';
import type { Clock } from '../../process/clock.ts';
import { internalsOf, type Protocol } from './kafkajs-cluster.ts';
import { within } from './within.ts';

/** The brokers of a cluster. */
export interface Brokers {
  /**
   * Returns the leader of each partition by `topic/partition`; partitions without one are omitted. Skips brokers that
   * do not respond. Rejects when none responds.
   */
  leadersOf(topics: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Sends a request to a broker, over a connection of its own. Rejects when the broker cannot be reached. */
  send<Answer>(nodeId: number, protocol: Protocol<Answer>): Promise<Answer>;
  /** Closes the connection to a broker: requests in progress are rejected at once. */
  drop(nodeId: number): void;
  disconnect(): Promise<void>;
}

interface ProduceAnswer {
  readonly topics: readonly {
    readonly topicName: string;
    readonly partitions: readonly {
      readonly partition: number;
      readonly errorCode: number;
      readonly baseOffset: string;
      readonly logAppendTime: string;
    }[];
  }[];
}

interface MetadataAnswer {
  readonly brokers: readonly Address[];
  readonly topicMetadata: readonly {
    readonly topic: string;
    readonly partitionMetadata: readonly { readonly partitionId: number; readonly leader: number }[];
  }[];
}

interface Address {
  readonly nodeId: number;
  readonly host: string;
  readonly port: number;
}

const require = createRequire(import.meta.url);
const asDecoded = async <Answer>(decoded: object) => decoded as Answer;
const { createErrorFromCode } = require('kafkajs/src/protocol/error') as {
  readonly createErrorFromCode: (code: number) => Error & { readonly type: string };
};
const metadataRequest = require('kafkajs/src/protocol/requests/metadata/v6/request') as (options: {
  readonly topics: readonly string[];
  readonly allowAutoTopicCreation: boolean;
}) => Protocol<MetadataAnswer>['request'];

/** Decodes Metadata, version 6. */
const metadataResponse: Protocol<MetadataAnswer>['response'] = {
  decode: require('kafkajs/src/protocol/requests/metadata/v6/response').decode,
  parse: asDecoded,
};

/** Decodes Produce, version 7. */
export const produceResponse: Protocol<ProduceAnswer>['response'] = {
  decode: require('kafkajs/src/protocol/requests/produce/v7/response').decode,
  parse: asDecoded,
};

/** Returns Kafka's name and text for an error code. */
export function errorOfCode(code: number): { readonly type: string; readonly message: string } {
  return createErrorFromCode(code);
}

/** kafkajs's Broker: two connections to one broker. */
interface Broker {
  isConnected(): boolean;
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  readonly connectionPool: {
    send<Answer>(protocol: Protocol<Answer>): Promise<Answer>;
    readonly pool: readonly { readonly socket?: { destroy(): void } | null }[];
  };
}

interface Internals {
  readonly connectionPoolBuilder: { build(address?: Omit<Address, 'nodeId'>): Promise<unknown> };
  readonly brokerPool: { createBroker(options: object): Broker; readonly rootLogger: unknown };
}

/** Connects to nothing yet; uses the client's addresses, TLS, SASL and time-outs. */
export function brokersOf(kafka: Kafka, clock: Clock): Brokers {
  const internals = internalsOf<Internals>(kafka, 0);
  if (!internals.connectionPoolBuilder?.build || !internals.brokerPool?.createBroker) {
    throw new Error('this version of kafkajs creates its connections differently: use the pinned version');
  }
  return new KafkajsBrokers(internals, clock);
}

/** A broker that does not respond within this is skipped: another one knows as much. */
const ASK_MS_MAX = 2000;
/** Configured addresses that are tried when no broker of the cluster responds. */
const SEEDS_TRIED = 3;

interface Node {
  readonly address: Address;
  readonly broker: Broker;
  /** Rejects requests in progress. */
  readonly underWay: Set<(error: Error) => void>;
}

class KafkajsBrokers implements Brokers {
  readonly #internals: Internals;
  readonly #clock: Clock;
  readonly #nodes = new Map<number, Node>();
  #addresses: readonly Address[] = [];
  /** Metadata requests have a connection of their own: a broker answers the requests of a connection one by one. */
  #asked: Broker | null = null;
  #isClosed = false;

  constructor(internals: Internals, clock: Clock) {
    this.#internals = internals;
    this.#clock = clock;
  }

  async leadersOf(topics: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const request = metadataRequest({ topics, allowAutoTopicCreation: false });
    const protocol = { request, response: metadataResponse };
    const seeds = new Array(SEEDS_TRIED).fill(undefined);
    let failure = new Error('no broker answers');
    // First over the existing connection, then to every known broker, then to the configured ones.
    for (const address of [null, ...this.#addresses, ...seeds]) {
      if (address === null && !this.#asked) continue;
      if (this.#isClosed) break;
      const broker = address === null ? (this.#asked as Broker) : await this.#brokerAt(address);
      try {
        const answer = await within(this.#clock, ASK_MS_MAX, ask(broker, protocol));
        if (this.#asked !== broker) disconnect(this.#asked);
        this.#asked = broker;
        return this.#learn(answer);
      } catch (error) {
        failure = asError(error);
        disconnect(broker);
        if (this.#asked === broker) this.#asked = null;
      }
    }
    throw failure;
  }

  async send<Answer>(nodeId: number, protocol: Protocol<Answer>): Promise<Answer> {
    const node = await this.#node(nodeId);
    return await new Promise<Answer>((resolve, reject) => {
      node.underWay.add(reject);
      ask(node.broker, protocol)
        .then(resolve, reject)
        .finally(() => node.underWay.delete(reject));
    });
  }

  drop(nodeId: number): void {
    const node = this.#nodes.get(nodeId);
    if (!node) return;
    this.#nodes.delete(nodeId);
    for (const reject of node.underWay) reject(new Error(`the connection to broker ${nodeId} was dropped`));
    disconnect(node.broker);
  }

  async disconnect(): Promise<void> {
    this.#isClosed = true;
    for (const nodeId of [...this.#nodes.keys()]) this.drop(nodeId);
    disconnect(this.#asked);
  }

  #learn({ brokers, topicMetadata }: MetadataAnswer): ReadonlyMap<string, number> {
    this.#addresses = brokers;
    for (const [nodeId, { address }] of this.#nodes) {
      const now = brokers.find((broker) => broker.nodeId === nodeId);
      if (now && (now.host !== address.host || now.port !== address.port)) this.drop(nodeId);
    }
    const leaders = new Map<string, number>();
    for (const { topic, partitionMetadata } of topicMetadata) {
      for (const { partitionId, leader } of partitionMetadata) {
        if (leader >= 0) leaders.set(`${topic}/${partitionId}`, leader);
      }
    }
    return leaders;
  }

  async #node(nodeId: number): Promise<Node> {
    const known = this.#nodes.get(nodeId);
    if (known) return known;
    const address = this.#addresses.find((one) => one.nodeId === nodeId);
    if (!address) throw new Error(`the cluster has no broker ${nodeId} now`);
    const node = { address, broker: await this.#brokerAt(address), underWay: new Set<never>() };
    if (this.#isClosed) throw new Error('the broker is closed');
    this.#nodes.set(nodeId, node);
    return node;
  }

  async #brokerAt(address: Address | undefined): Promise<Broker> {
    const { connectionPoolBuilder, brokerPool } = this.#internals;
    const connectionPool = await connectionPoolBuilder.build(address);
    const nodeId = address?.nodeId ?? null;
    return brokerPool.createBroker({ connectionPool, logger: brokerPool.rootLogger, nodeId });
  }
}

async function ask<Answer>(broker: Broker, protocol: Protocol<Answer>): Promise<Answer> {
  if (!broker.isConnected()) await broker.connect();
  return await broker.connectionPool.send(protocol);
}

/** Disconnects at once; kafkajs's own way waits for requests in progress. */
function disconnect(broker: Broker | null): void {
  if (!broker) return;
  for (const { socket } of broker.connectionPool.pool) socket?.destroy();
  void broker.disconnect().catch(() => {});
}
