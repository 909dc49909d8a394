/**
 * The ids that brokers give to topics: a topic that is deleted and created again has another, whatever its offsets are.
 * kafkajs supports only versions of the metadata request without them, so the request is made here.
 */
import type { Kafka } from 'kafkajs';
import type { Clock } from '../../process/clock.ts';
import { type Cluster, clusterOf, type Protocol } from './kafkajs-cluster.ts';
import { SharedQuestions } from './shared-questions.ts';
import { ANSWER_MS_MAX } from './silent-brokers.ts';
import { within } from './within.ts';

const METADATA = 3;
const VERSION = 10;
const NO_ID = Buffer.alloc(16).toString('base64url');

type Ids = ReadonlyMap<string, string>;

/** kafkajs's own type, with the members that other requests do not need. */
type IdCluster = Omit<Cluster, 'findBroker'> & {
  getNodeIds(): readonly string[];
  findBroker(node: { readonly nodeId: string }): Promise<{
    readonly versions?: Readonly<Record<number, { readonly maxVersion: number }>>;
    readonly connectionPool: { send<Answer>(protocol: Protocol<Answer>): Promise<Answer> };
  }>;
};

export class TopicIds {
  readonly #kafka: Kafka;
  readonly #clock: Clock;
  readonly #topics: readonly string[];
  #cluster: Promise<IdCluster> | null = null;
  readonly #questions = new SharedQuestions();
  /** The broker that answered last. */
  #answeredBy = '';
  #isClosed = false;

  constructor(kafka: Kafka, clock: Clock, topics: readonly string[]) {
    this.#kafka = kafka;
    this.#clock = clock;
    this.#topics = topics;
  }

  /**
   * Returns the id as of now or later; null = the brokers have none (older than 2.8), or the topic does not exist.
   */
  async idOf(topic: string): Promise<string | null> {
    const ids = await this.#questions.ask('ids', () => this.#ask());
    return ids.get(topic) ?? null;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#disconnect();
  }

  async #ask(): Promise<Ids> {
    if (this.#isClosed) throw new Error('the broker is closed');
    this.#cluster ??= this.#connect();
    const asked = this.#cluster;
    try {
      return await this.#askAny(await asked);
    } catch (error) {
      // Another request may have connected anew since.
      if (this.#cluster === asked) void this.#disconnect();
      throw error;
    }
  }

  /** Asks one broker after the other until one answers: one that hangs does not hold up the others' partitions. */
  async #askAny(cluster: IdCluster): Promise<Ids> {
    const ask = async (nodeId: string) => {
      const broker = await cluster.findBroker({ nodeId });
      if ((broker.versions?.[METADATA]?.maxVersion ?? 0) < VERSION) return new Map<string, string>();
      return broker.connectionPool.send(protocolOf(this.#topics));
    };
    let failure: unknown = new Error('the cluster names no broker');
    const answeredLast = (nodeId: string) => Number(nodeId === this.#answeredBy);
    for (const nodeId of [...cluster.getNodeIds()].sort(
      (one, other) => answeredLast(other) - answeredLast(one),
    )) {
      try {
        const ids = await within(this.#clock, ANSWER_MS_MAX, ask(nodeId));
        this.#answeredBy = nodeId;
        return ids;
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  async #connect(): Promise<IdCluster> {
    const cluster = clusterOf(this.#kafka) as unknown as IdCluster;
    await cluster.connect();
    await cluster.addMultipleTargetTopics(this.#topics);
    return cluster;
  }

  async #disconnect(): Promise<void> {
    const cluster = this.#cluster;
    this.#cluster = null;
    await cluster?.then((one) => one.disconnect()).catch(() => {});
  }
}

function protocolOf(topics: readonly string[]): Protocol<Ids> {
  return {
    request: {
      apiKey: METADATA,
      apiVersion: VERSION,
      apiName: 'Metadata',
      expectResponse: () => true,
      encode: () => {
        const buf = encodeRequest(topics);
        return Promise.resolve({ buf, buffer: buf });
      },
    },
    response: {
      decode: (bytes) => Promise.resolve(decodeResponse(bytes)),
      parse: (decoded) => Promise.resolve(decoded as Ids),
    },
  };
}

const NO_TAGS = Buffer.from([0]);

/** Metadata Request (Version: 10) => [topic_id name TAGS] may_create cluster_operations topic_operations TAGS */
function encodeRequest(topics: readonly string[]): Buffer {
  const named = topics.flatMap((topic) => {
    const name = Buffer.from(topic);
    return [Buffer.alloc(16), varint(name.length + 1), name, NO_TAGS];
  });
  // The first tags belong to kafkajs's request header, which has none in the versions that it supports.
  return Buffer.concat([NO_TAGS, varint(topics.length + 1), ...named, Buffer.from([0, 0, 0]), NO_TAGS]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let left = value; ; left >>>= 7) {
    if (left < 128) return Buffer.from([...bytes, left]);
    bytes.push((left & 127) | 128);
  }
}

/** Decodes Metadata Response (Version: 10). Topics with an error are omitted. */
function decodeResponse(bytes: Buffer): Ids {
  let at = 0;
  const skip = (count: number) => {
    at += count;
  };
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes.readUInt8(at);
      at += 1;
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  const text = () => {
    const length = Math.max(0, number() - 1);
    at += length;
    return bytes.toString('utf8', at - length, at);
  };
  const each = (item: () => void) => {
    for (let left = number() - 1; left > 0; left -= 1) item();
  };
  const tags = () => {
    for (let left = number(); left > 0; left -= 1) {
      number();
      skip(number());
    }
  };
  tags();
  skip(4);
  each(() => {
    skip(4);
    text();
    skip(4);
    text();
    tags();
  });
  text();
  skip(4);
  const ids = new Map<string, string>();
  each(() => {
    const error = bytes.readInt16BE(at);
    skip(2);
    const name = text();
    const id = bytes.toString('base64url', at, at + 16);
    skip(16 + 1);
    each(() => {
      skip(2 + 4 + 4 + 4);
      for (let list = 0; list < 3; list += 1) each(() => skip(4));
      tags();
    });
    skip(4);
    tags();
    if (error === 0 && id !== NO_ID) ids.set(name, id);
  });
  return ids;
}
