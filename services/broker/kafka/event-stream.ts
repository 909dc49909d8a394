import type { Clock } from '../../runtime/clock.ts';
import { readTraceparent, TRACEPARENT } from '../../runtime/trace-context.ts';
import type { ReceivedEvent } from '../broker.ts';
import type { ReadRecord } from './partition.ts';
import { originOf } from './quarantine/origin.ts';
import type { KafkaRecords } from './records.ts';
import { StreamFeed } from './stream-feed.ts';
import type { OpenTopic } from './task-streams.ts';
import type { TopicConsumer } from './topic-consumer.ts';

const WAIT_MS = 100;
const HELD_MAX = 2000;
const HELD_BYTES_MAX = 1024 * 1024;

interface Deps {
  readonly records: KafkaRecords;
  readonly clock: Clock;
  readonly topic: string;
  readonly open: OpenTopic;
  readonly closing: AbortSignal;
}

/** The platform's events as a feed. What cannot be decoded is an input too: the router quarantines it. */
export class EventStream {
  readonly feed: StreamFeed<ReceivedEvent>;
  readonly #deps: Deps;
  #consumer: TopicConsumer | null = null;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.feed = new StreamFeed<ReceivedEvent>({
      ...deps,
      reader: () => this.#consumer,
      decode: (record) => this.#received(record),
    });
  }

  async start(): Promise<void> {
    const consumer = this.#deps.open(this.#deps.topic, {
      maxWaitMs: WAIT_MS,
      heldMax: HELD_MAX,
      heldBytesMax: HELD_BYTES_MAX,
      take: (record) => this.feed.add(record),
      changed: () => this.feed.prune(),
    });
    this.#consumer = consumer;
    await consumer.start();
  }

  async stop(deadlineMs: number): Promise<void> {
    const consumer = this.#consumer;
    await consumer?.stop(deadlineMs);
    if (this.#consumer === consumer) this.#consumer = null;
  }

  async abandon(): Promise<void> {
    await this.#consumer?.abandon();
  }

  #received(record: ReadRecord): ReceivedEvent {
    const { value, timestamp, headers } = record;
    const bytes = value ?? Buffer.alloc(0);
    const traceparent = readTraceparent(headers[TRACEPARENT]);
    return {
      bytes,
      // A producer's clock may be ahead of ours; nothing was accepted in the future.
      acceptedAt: Math.min(timestamp, this.#deps.clock.wall()),
      decoded: this.#deps.records.decodeEvent(bytes),
      // Asked for by the few that go to quarantine.
      get origin() {
        return originOf(record);
      },
      ...(traceparent === undefined ? {} : { traceparent }),
    };
  }
}
