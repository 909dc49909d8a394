import type { DomainEvent } from '../../../domain/event.ts';
import type { OutgoingRecord, RecordSender } from '../../../kafka-client/producer/record-sender.ts';
import type { Clock } from '../../../process/clock.ts';
import { TRACEPARENT } from '../../../telemetry/trace-context.ts';
import type { PublishedEvent, PublishedTask, PublishOptions } from '../../broker.ts';
import type { KafkaRecords } from '../registry/records.ts';
import { publishedByHeader } from './published-by.ts';
import { refusedHeader } from './refused.ts';
import type { Outgoing } from './settle.ts';

/** After this time a publish rejects with "outcome unknown". */
const PUBLISH_MS_MAX = 30_000;
const EVENTS_PER_CALL_MAX = 500;

export interface PublisherDeps {
  readonly sender: Pick<RecordSender, 'send' | 'partitionOf'>;
  readonly outgoing: Outgoing;
  readonly records: KafkaRecords;
  readonly clock: Clock;
  readonly eventsTopic: string;
}

/** Publishes records that do not come from a station's handler. */
export class Publisher {
  readonly #deps: PublisherDeps;

  constructor(deps: PublisherDeps) {
    this.#deps = deps;
  }

  /** Returns `accepted` also for a repeated event: only the router recognises it, and drops it. */
  async publishEvents(
    events: readonly DomainEvent[],
    { traceparent, refusals, isDry }: PublishOptions = {},
  ): Promise<PublishedEvent[]> {
    if (events.length > EVENTS_PER_CALL_MAX) {
      throw new RangeError(
        `${events.length} events in one call: at most ${EVENTS_PER_CALL_MAX} are accepted`,
      );
    }
    // Routers recognise repeats, when they read them.
    if (isDry) return events.map(() => 'accepted');
    const { records, sender, eventsTopic: topic } = this.#deps;
    const traced = traceparent === undefined ? undefined : { [TRACEPARENT]: traceparent };
    const outgoing = events.map((event) => {
      const refusal = refusals?.get(event);
      const { publishedBy } = event;
      const headers = {
        ...traced,
        ...(refusal && refusedHeader(refusal)),
        ...(publishedBy && publishedByHeader(publishedBy)),
      };
      return {
        topic,
        partition: sender.partitionOf(topic, event.entityId),
        key: Buffer.from(event.entityId),
        value: records.encodeEvent(event),
        headers,
      };
    });
    await this.#sendAll(outgoing);
    return events.map(() => 'accepted');
  }

  async publishTasks(tasks: readonly PublishedTask[]): Promise<void> {
    const { clock, outgoing } = this.#deps;
    const now = clock.now();
    await this.#sendAll(
      tasks.flatMap(({ task, journal }) => [
        ...journal.map((entry) => outgoing.journal(entry, task.traceparent)),
        outgoing.task(task, now),
      ]),
    );
  }

  async #sendAll(records: readonly OutgoingRecord[]): Promise<void> {
    await Promise.all(records.map((record) => this.#deps.sender.send(record, PUBLISH_MS_MAX)));
  }
}
