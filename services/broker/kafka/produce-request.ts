import type { Cluster, Protocol } from './kafkajs-cluster.ts';
import { produceResponse } from './kafkajs-cluster.ts';
import { type BatchedRecord, type MeasuredBatch, measureBatch, writeBatch } from './record-batch.ts';
import type { OutgoingRecord } from './record-sender.ts';

const PRODUCE = 0;
const VERSION = 7;
const ALL_REPLICAS = -1;
/** The broker waits this long for its replicas, milliseconds. */
const ACK_MS = 30_000;

/** Where a record came to lie, if the answer says so. */
export interface Place {
  readonly offset: number;
  /** LogAppendTime; −1 where the topic has the sender's time. */
  readonly appendedAt: number;
}

/** Records of one request, by where they go; joined ones share a place. */
interface Group {
  readonly partition: number;
  readonly records: BatchedRecord[];
  /** Of each record of ours: the place in `records`. */
  readonly indexes: number[];
  /** The last record, while others may join it. */
  open: { readonly value: Buffer[]; bytes: number; count: number } | null;
}

/** So many bytes have a joined record at most. */
const JOINED_BYTES_MAX = 128 * 1024;

/**
 * Sends records to the broker that leads their partitions, in one request, and answers each one's place, in order.
 * Rejects when the broker cannot be reached, refuses a partition, or leaves one out of its answer: everything is to be
 * sent again then.
 */
export async function produce(
  cluster: Cluster,
  leader: number,
  records: readonly OutgoingRecord[],
  timestamp: number,
): Promise<Place[]> {
  const topics = grouped(records);
  const broker = await cluster.findBroker({ nodeId: leader });
  const answer = await broker.connectionPool.send(protocolOf(topics, timestamp));
  const places = new Map<string, Map<number, Place>>();
  for (const { topicName, partitions } of answer.topics) {
    const ofTopic = new Map<number, Place>();
    for (const { partition, baseOffset, logAppendTime } of partitions) {
      ofTopic.set(partition, { offset: Number(baseOffset), appendedAt: Number(logAppendTime) });
    }
    places.set(topicName, ofTopic);
  }
  const taken = new Map<Group, number>();
  return records.map(({ topic, partition }) => {
    const base = places.get(topic)?.get(partition);
    const group = topics.get(topic)?.get(partition);
    if (!base || !group) throw new Error(`the answer leaves out partition ${partition} of ${topic}`);
    const nth = taken.get(group) ?? 0;
    taken.set(group, nth + 1);
    return { offset: base.offset + (group.indexes[nth] ?? 0), appendedAt: base.appendedAt };
  });
}

type Topics = ReadonlyMap<string, ReadonlyMap<number, Group>>;

function grouped(records: readonly OutgoingRecord[]): Topics {
  const topics = new Map<string, Map<number, Group>>();
  for (const record of records) {
    let partitions = topics.get(record.topic);
    if (!partitions) {
      partitions = new Map();
      topics.set(record.topic, partitions);
    }
    let group = partitions.get(record.partition);
    if (!group) {
      group = { partition: record.partition, records: [], indexes: [], open: null };
      partitions.set(record.partition, group);
    }
    add(group, record);
  }
  return topics;
}

function add(group: Group, { key, value, headers, joins }: OutgoingRecord): void {
  const { open } = group;
  if (open && joins && value && open.count < joins.max && open.bytes + value.length <= JOINED_BYTES_MAX) {
    joins.join(open.value, value);
    open.bytes += value.length;
    open.count += 1;
  } else {
    const parts = value === null ? null : [value];
    group.records.push({ key, value: parts, headers });
    group.open = parts && value && joins ? { value: parts, bytes: value.length, count: 1 } : null;
  }
  group.indexes.push(group.records.length - 1);
}

function protocolOf(
  topics: Topics,
  timestamp: number,
): Protocol<Awaited<ReturnType<typeof produceResponse.parse>>> {
  return {
    request: {
      apiKey: PRODUCE,
      apiVersion: VERSION,
      apiName: 'Produce',
      expectResponse: () => true,
      encode: () => {
        const buf = encode(topics, timestamp);
        return Promise.resolve({ buf, buffer: buf });
      },
    },
    response: produceResponse,
  };
}

/** Produce Request (Version: 7) => transactional_id acks timeout_ms [topic [partition records]] */
function encode(topics: Topics, timestamp: number): Buffer {
  const measured = new Map<Group, MeasuredBatch>();
  let bytes = 2 + 2 + 4 + 4;
  for (const [topic, partitions] of topics) {
    bytes += 2 + Buffer.byteLength(topic) + 4;
    for (const group of partitions.values()) {
      const batch = measureBatch(group.records);
      measured.set(group, batch);
      bytes += 4 + 4 + batch.bytes;
    }
  }
  const into = Buffer.allocUnsafe(bytes);
  let end = into.writeInt16BE(-1, 0);
  end = into.writeInt16BE(ALL_REPLICAS, end);
  end = into.writeInt32BE(ACK_MS, end);
  end = into.writeInt32BE(topics.size, end);
  for (const [topic, partitions] of topics) {
    end = into.writeInt16BE(Buffer.byteLength(topic), end);
    end += into.write(topic, end);
    end = into.writeInt32BE(partitions.size, end);
    for (const group of partitions.values()) {
      const batch = measured.get(group) as MeasuredBatch;
      end = into.writeInt32BE(group.partition, end);
      end = into.writeInt32BE(batch.bytes, end);
      end = writeBatch(batch, timestamp, into, end);
    }
  }
  return into;
}
