/**
 * Replaces kafkajs's handling of a broker that hangs: it keeps its connections open and answers nothing. kafkajs waits for
 * each response as long as for the slowest kind, keeps the connection, asks the same broker for metadata, leaders and
 * coordinators again, and all fetching waits for that. Here, as in Kafka's own clients:
 *
 * - Each kind of request has a time-out. A broker that exceeds it is silent until it answers anything: this process's
 *   connections to it are closed, so that all that waits for it is tried elsewhere.
 * - Other brokers are asked first. Over a new connection, a silent one must answer a short question before any other.
 * - A group whose coordinator is silent or unreachable looks for the one that has taken over, as the same member.
 *
 * kafkajs does not export these classes; the paths are those of the version pinned in package.json.
 */
import { createRequire } from 'node:module';
import { Late, within } from './within.ts';

/** The time-out of requests that a broker answers at once, milliseconds. */
export const ANSWER_MS_MAX = 5000;
/** The longest time for a new connection's short question to a silent broker, milliseconds. */
const PROBE_MS_MAX = 2000;
/** Kafka's keys of the requests that a broker answers at once. A fetch adds its own waiting time. */
const PROMPT_KEYS: ReadonlySet<number> = new Set([
  ...[1, 2, 3], // Fetch, ListOffsets, Metadata
  ...[9, 10, 12, 13], // OffsetFetch, FindCoordinator, Heartbeat, LeaveGroup
  ...[15, 16, 17, 18], // DescribeGroups, ListGroups, SaslHandshake, ApiVersions
]);
/** A member waits in these until all others of its group have joined, at most the session and some more; milliseconds. */
const GROUP_MS_MAX = 15_000;
const GROUP_KEYS: ReadonlySet<number> = new Set([11, 14]); // JoinGroup, SyncGroup
/** The others wait for replicas: Produce, OffsetCommit, and what changes topics; milliseconds. */
const REPLICATED_MS_MAX = 30_000;

interface BrokerConnection {
  readonly host: string;
  readonly port: number;
  readonly socket?: { destroy(error: Error): void } | null;
}

interface ConnectionClass {
  readonly prototype: {
    connect(): Promise<unknown>;
    disconnect(): Promise<unknown>;
    send(protocol: Sent): Promise<unknown>;
  };
}

interface Sent {
  readonly request: { readonly apiKey: number };
  readonly requestTimeout?: number | null;
}

interface SocketRequestClass {
  readonly prototype: { timeoutRequest(): void; readonly duration: number | null };
}

interface Broker {
  readonly connectionPool: {
    readonly host: string;
    readonly port: number;
    readonly pool: readonly BrokerConnection[];
  };
  isConnected(): boolean;
  apiVersions(): Promise<unknown>;
}

interface BrokerClass {
  readonly prototype: Broker & { connect(): Promise<void> };
}

type Ask<T> = (one: { readonly nodeId: string; readonly broker: Broker }) => Promise<T>;

interface BrokerPoolClass {
  readonly prototype: {
    readonly brokers: Readonly<Record<string, Broker>>;
    getNodeIds(): string[];
    findBroker(node: { readonly nodeId: string }): Promise<Broker>;
    findConnectedBroker(): Promise<Broker>;
    withBroker<T>(ask: Ask<T>): Promise<T | null>;
  };
}

interface ConsumerGroupClass {
  readonly prototype: {
    readonly coordinator: Broker | null;
    heartbeat(options: object): Promise<void>;
  };
}

const require = createRequire(import.meta.url);
const { createErrorFromCode } = require('kafkajs/src/protocol/error') as {
  readonly createErrorFromCode: (code: number) => Error;
};
const { KafkaJSConnectionError } = require('kafkajs/src/errors') as {
  readonly KafkaJSConnectionError: new (message: string, where: { readonly broker: string }) => Error;
};
const shuffle: <T>(all: readonly T[]) => T[] = require('kafkajs/src/utils/shuffle');
const sleep: (ms: number) => Promise<void> = require('kafkajs/src/utils/sleep');
const NOT_COORDINATOR = 16;

/** The errors of a broker that cannot be reached, by name. */
export const UNREACHABLE: readonly string[] = ['KafkaJSConnectionError', 'KafkaJSRequestTimeoutError'];

/** Addresses of the brokers that did not answer the last request. */
const silent = new Set<string>();
/** This process's connections, by the broker's address. */
const connections = new Map<string, Set<BrokerConnection>>();
let isReplaced = false;

const addressOf = ({ host, port }: { readonly host: string; readonly port: number }) => `${host}:${port}`;
const isSilent = (broker: Broker) => silent.has(addressOf(broker.connectionPool));

/** Makes every client of this process treat silent brokers in this way. May be called again. */
export function doNotWaitForSilentBrokers(): void {
  if (isReplaced) return;
  isReplaced = true;
  readBeforeGivingUp(require('kafkajs/src/network/requestQueue/socketRequest'));
  limitRequests(require('kafkajs/src/network/connection'));
  probeSilentOnes(require('kafkajs/src/broker'));
  askOthersFirst(require('kafkajs/src/cluster/brokerPool'));
  leaveSilentCoordinators(require('kafkajs/src/consumer/consumerGroup'));
}

/** A process that was late itself first reads what has arrived meanwhile. */
function readBeforeGivingUp({ prototype }: SocketRequestClass): void {
  const { timeoutRequest } = prototype;
  prototype.timeoutRequest = function () {
    setImmediate(() => {
      // It has a duration once it is completed or rejected.
      if (this.duration === null) timeoutRequest.call(this);
    });
  };
}

function limitRequests({ prototype }: ConnectionClass): void {
  const { connect, disconnect, send } = prototype;
  prototype.connect = async function (this: BrokerConnection) {
    const result = await connect.call(this);
    const address = addressOf(this);
    const known = connections.get(address) ?? new Set();
    connections.set(address, known.add(this));
    return result;
  };
  prototype.disconnect = async function (this: BrokerConnection) {
    const address = addressOf(this);
    connections.get(address)?.delete(this);
    // kafkajs waits for the responses to requests in progress.
    if (silent.has(address)) this.socket?.destroy(new Error('the broker does not answer'));
    return await disconnect.call(this);
  };
  prototype.send = async function (this: BrokerConnection, protocol) {
    const { apiKey } = protocol.request;
    try {
      const answer = await send.call(this, PROMPT_KEYS.has(apiKey) ? protocol : withTimeout(protocol));
      silent.delete(addressOf(this));
      return answer;
    } catch (error) {
      if (error instanceof Error && error.name === 'KafkaJSRequestTimeoutError') fallSilent(addressOf(this));
      throw error;
    }
  };
}

/** kafkajs takes the longer one of this and the client's time-out. */
function withTimeout(protocol: Sent): Sent {
  const usual = GROUP_KEYS.has(protocol.request.apiKey) ? GROUP_MS_MAX : REPLICATED_MS_MAX;
  return { ...protocol, requestTimeout: Math.max(protocol.requestTimeout ?? 0, usual) };
}

function fallSilent(address: string): void {
  silent.add(address);
  const error = new Error('the broker does not answer');
  for (const connection of connections.get(address) ?? []) connection.socket?.destroy(error);
  connections.delete(address);
}

/** Without an answer, the broker counts as one that cannot be reached: kafkajs then tries another one. */
function probeSilentOnes({ prototype }: BrokerClass): void {
  const { connect } = prototype;
  prototype.connect = async function () {
    const address = addressOf(this.connectionPool);
    try {
      await connect.call(this);
      if (silent.has(address)) await within({ sleep }, PROBE_MS_MAX, this.apiVersions());
    } catch (error) {
      const isLate = error instanceof Error && error.name === 'KafkaJSRequestTimeoutError';
      if (!isLate && !(error instanceof Late)) throw error;
      fallSilent(address);
      throw new KafkaJSConnectionError(`the broker at ${address} does not answer`, { broker: address });
    }
  };
}

function askOthersFirst({ prototype }: BrokerPoolClass): void {
  const { findConnectedBroker, withBroker } = prototype;
  /** In any order, with those that answer first, and among these the connected ones. */
  const ordered = (brokers: Readonly<Record<string, Broker>>) =>
    shuffle(Object.entries(brokers))
      .map(([nodeId, broker]) => ({ nodeId, broker, rank: rankOf(broker) }))
      .sort((one, other) => one.rank - other.rank);
  prototype.findConnectedBroker = async function () {
    for (const { nodeId, broker } of ordered(this.brokers)) {
      if (isSilent(broker)) break;
      const found = await this.findBroker({ nodeId }).catch(() => null);
      if (found) return found;
    }
    return await findConnectedBroker.call(this);
  };
  prototype.withBroker = async function <T>(ask: Ask<T>): Promise<T | null> {
    if (this.getNodeIds().length === 0) return (await withBroker.call(this, ask)) as null;
    for (const { nodeId } of ordered(this.brokers)) {
      try {
        return await ask({ nodeId, broker: await this.findBroker({ nodeId }) });
      } catch {
        // The next one knows as much.
      }
    }
    return null;
  };
}

function rankOf(broker: Broker): number {
  if (isSilent(broker)) return 2;
  return broker.isConnected() ? 0 : 1;
}

function leaveSilentCoordinators({ prototype }: ConsumerGroupClass): void {
  const { heartbeat } = prototype;
  prototype.heartbeat = async function (options) {
    // The member joins again with its id, at the broker that is the coordinator by then.
    if (this.coordinator && isSilent(this.coordinator)) throw createErrorFromCode(NOT_COORDINATOR);
    try {
      await heartbeat.call(this, options);
    } catch (error) {
      if (error instanceof Error && UNREACHABLE.includes(error.name))
        throw createErrorFromCode(NOT_COORDINATOR);
      throw error;
    }
  };
}
