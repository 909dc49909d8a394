import { type DomainEvent, EVENT_RECORD_BYTES_MAX, withData } from '../../../domain/event.ts';
import { aboutOf } from '../../../domain/quarantine.ts';
import type { Culprits } from '../../../domain/stalls/stall.ts';
import type { ReadRecord } from '../../../kafka-client/consumer/partition.ts';
import type { TopicConsumer } from '../../../kafka-client/consumer/topic-consumer.ts';
import { limitRecordSize } from '../../../kafka-client/fetch/fetch-answers.ts';
import type { Clock } from '../../../process/clock.ts';
import { readTraceparent, TRACEPARENT } from '../../../telemetry/trace-context.ts';
import { type Activity, NOT_WATCHED } from '../../../watchdog/activity.ts';
import type { ReceivedEvent } from '../../broker.ts';
import { originOf, placeText } from '../quarantine/origin.ts';
import type { KafkaRecords } from '../registry/records.ts';
import { RepeatedEvents, type SeenEventsOptions } from '../seen/repeated-events.ts';
import { keptSequence, requeuedAs, sequenceHeader } from '../seen/requeued.ts';
import { publishedByIn } from './published-by.ts';
import { refusalIn } from './refused.ts';
import { Sequences } from './sequences.ts';
import { StreamFeed } from './stream-feed.ts';
import type { OpenTopic } from './task-streams.ts';

const WAIT_MS = 100;
const HELD_MAX = 2000;
const HELD_BYTES_MAX = 1024 * 1024;

interface Deps {
  readonly records: KafkaRecords;
  readonly clock: Clock;
  readonly topic: string;
  readonly open: OpenTopic;
  readonly seen: SeenEventsOptions;
  /** Returns the time of the brokers' clocks, milliseconds. */
  readonly brokersNow: () => number;
  readonly closing: AbortSignal;
  readonly activity?: Activity | undefined;
  readonly culprits?: Culprits | undefined;
}

/** The platform's events as a feed. A record that cannot be decoded is input too: the router quarantines it. */
export class EventsTopic {
  readonly feed: StreamFeed<ReceivedEvent>;
  readonly #deps: Deps;
  readonly #seen: RepeatedEvents;
  readonly #sequences: Sequences;
  #consumer: TopicConsumer | null = null;

  constructor(deps: Deps) {
    this.#deps = deps;
    limitRecordSize(deps.topic, EVENT_RECORD_BYTES_MAX);
    this.#seen = new RepeatedEvents(deps.seen);
    this.#sequences = new Sequences(deps.brokersNow);
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
      takesDone: true,
      assigned: (partition) => {
        this.#seen.assigned(partition);
        this.#sequences.assigned(partition);
      },
      changed: () => {
        this.#prune();
        this.feed.prune();
      },
    });
    this.#consumer = consumer;
    await consumer.start();
  }

  async stop(deadlineMs: number): Promise<void> {
    const consumer = this.#consumer;
    await consumer?.stop(deadlineMs);
    this.#prune();
    if (this.#consumer === consumer) this.#consumer = null;
  }

  async abandon(): Promise<void> {
    await this.#consumer?.abandon();
    this.#prune();
  }

  #prune(): void {
    this.#seen.prune();
    this.#sequences.prune();
  }

  /** Returns undefined for a record that is only read to remember its event id. */
  #received(record: ReadRecord): ReceivedEvent | undefined {
    const { value, timestamp, headers } = record;
    const bytes = value ?? Buffer.alloc(0);
    // A producer's clock may be ahead of ours; nothing was accepted in the future.
    const acceptedAt = Math.min(timestamp, this.#deps.clock.wall());
    const decoded = this.#decoded(record, bytes);
    const own = this.#sequences.of(record);
    const verdict = decoded.ok ? this.#check(record, acceptedAt, decoded.event) : 'first';
    if (record.isDone) {
      this.#consumer?.done(record);
      return undefined;
    }
    const traceparent = readTraceparent(headers[TRACEPARENT]);
    // An operator who puts an event back wants it judged anew.
    const refusal = requeuedAs(headers) === undefined ? refusalIn(headers) : undefined;
    const publishedBy = publishedByIn(headers);
    const sequence = keptSequence(headers, own);
    return {
      bytes,
      acceptedAt,
      decoded: completed(verdict === 'conflict' && decoded.ok ? conflicting(decoded.event) : decoded, {
        publishedBy,
        sequence,
      }),
      ...(verdict === 'repeat' ? { isRepeat: true } : {}),
      // Computed on demand: only the few quarantined events need it.
      get origin() {
        return originOf({ ...record, headers: { ...headers, ...sequenceHeader(sequence) } });
      },
      ...(refusal === undefined ? {} : { refusal }),
      ...(traceparent === undefined ? {} : { traceparent }),
    };
  }

  /** A record that stops processes is not decoded again. */
  #decoded({ partition, offset }: ReadRecord, bytes: Buffer): ReceivedEvent['decoded'] {
    const { activity = NOT_WATCHED, clock, culprits, records } = this.#deps;
    const place = () => placeText({ topic: partition.topic, partition: partition.id, offset });
    const detail = culprits?.ofRecord(place, clock.wall());
    if (detail) return { ok: false, reason: 'event_stalled', detail };
    return activity.within(`record record=${place()}`, () => records.decodeEvent(bytes));
  }

  #check({ partition, offset, headers }: ReadRecord, at: number, event: DomainEvent) {
    return this.#seen.check(partition, offset, at, event, requeuedAs(headers));
  }
}

function completed(
  decoded: ReceivedEvent['decoded'],
  { publishedBy, sequence }: { readonly publishedBy: string; readonly sequence: number },
): ReceivedEvent['decoded'] {
  if (!decoded.ok) return { ...decoded, publishedBy };
  return { ok: true, event: withData(decoded.event, decoded.event.data, publishedBy, sequence) };
}

function conflicting(event: DomainEvent): ReceivedEvent['decoded'] {
  const { eventId, merchantId } = event;
  const detail =
    'an event with this id and different content came before; that one was routed, this one was not';
  return { ok: false, reason: 'event_id_conflict', detail, eventId, merchantId, ...aboutOf(event) };
}
