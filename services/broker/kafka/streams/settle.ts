import type { JournalEntry } from '../../../domain/journal.ts';
import { parkedTask } from '../../../domain/parking.ts';
import { TIERS, type Tier, tierOfAttempt } from '../../../domain/retry.ts';
import { type DeliveryTask, taskClass } from '../../../domain/task.ts';
import type { BrokerTime } from '../../../kafka-client/client/broker-time.ts';
import {
  type Joining,
  type OutgoingRecord,
  RecordRefused,
  type RecordSender,
} from '../../../kafka-client/producer/record-sender.ts';
import { TRACEPARENT } from '../../../telemetry/trace-context.ts';
import type { ReceivedEvent, RouterResult, Settlement } from '../../broker.ts';
import { JOURNAL_RECORD_MAX, joinJournal, type KafkaRecords } from '../registry/records.ts';
import type { TopicNames } from '../topics/topic-spec.ts';
import { RECORD_BYTES_MAX } from '../topics/topics.ts';
import { taskHeaders } from './task-wire.ts';

/** Joins the journal's records when they are sent. */
const JOURNAL: Joining = { max: JOURNAL_RECORD_MAX, join: joinJournal };

export interface OutgoingDeps {
  readonly records: KafkaRecords;
  readonly topics: TopicNames;
  readonly partitionOf: RecordSender['partitionOf'];
  /** Divides the delays; 1 in production. */
  readonly retryScale: number;
  /** Tasks carry due times of the brokers' clocks: another process's clock may differ from ours. */
  readonly time: Pick<BrokerTime, 'fromClock' | 'toClock'>;
}

interface RoutedOptions {
  readonly received: Pick<ReceivedEvent, 'traceparent'>;
  readonly now: number;
  /** The task that the sender of this process has already. */
  readonly direct: DeliveryTask | undefined;
}

/** Converts the stations' decisions into records. Everything is encoded before anything is sent. */
export class Outgoing {
  readonly #deps: OutgoingDeps;
  #routed = 0;

  constructor(deps: OutgoingDeps) {
    this.#deps = deps;
  }

  /**
   * Returns the records of a routed event: its tasks but for the `direct` one, and its journal entry; none for a repeat.
   * Throws RecordRefused when one of them does not fit its topic: then nothing of the event may be written.
   */
  ofRouted(
    result: Exclude<RouterResult, { kind: 'quarantined' }>,
    { received, now, direct }: RoutedOptions,
  ): OutgoingRecord[] {
    if (result.kind === 'repeated') return [];
    const { tasks, journal } = result;
    const traceparent = tasks[0]?.traceparent ?? received.traceparent;
    const written = direct ? tasks.filter((task) => task !== direct) : tasks;
    // Beside the results of its attempt, so that they are joined.
    const trace = this.journal(journal, traceparent, direct?.endpointId);
    const records = [...written.map((task) => this.task(task, now)), trace];
    for (const { topic, value } of records) {
      if (value === null || value.length <= RECORD_BYTES_MAX) continue;
      throw new RecordRefused(
        `its journal record for ${journal.trace.length} endpoints has ${value.length} bytes; ${topic} accepts ${RECORD_BYTES_MAX}`,
        'too_large',
      );
    }
    return records;
  }

  /** Returns the records of a task's settlement; null when it was given back. */
  ofSettlement(settlement: Settlement, task: DeliveryTask, now: number): OutgoingRecord[] | null {
    switch (settlement.kind) {
      case 'settled': {
        const records = settlement.journal.map((entry) => this.journal(entry, task.traceparent));
        if (settlement.next)
          records.push(this.#taskOn(this.#tier(tierOfAttempt(settlement.next.attempt)), settlement.next));
        if (settlement.dead) {
          const value = this.#deps.records.encode('deadLetter', settlement.dead);
          const { endpointId, deliveryId, traceparent } = task;
          // A crash may write it again: the key identifies copies.
          const place = { topic: this.#deps.topics.dead, orderedBy: endpointId, key: deliveryId };
          records.push(this.#record(place, value, traceparent));
        }
        return records;
      }
      case 'parked': {
        const { retryScale } = this.#deps;
        const entries = settlement.journal ?? [];
        return [
          ...entries.map((entry) => this.journal(entry, task.traceparent)),
          this.#taskOn(this.#tier(settlement.tier), parkedTask(task, settlement, { now, retryScale })),
        ];
      }
      case 'released':
        return null;
    }
  }

  /** Returns a record for a task that was read from a record, on the topic where it belongs. */
  again(task: DeliveryTask, now: number): OutgoingRecord {
    return this.task({ ...task, dueAt: this.#deps.time.toClock(task.dueAt) }, now);
  }

  /** Returns a record for a task: on its class's stream or, when it is due later, on a tier. */
  task(task: DeliveryTask, now: number): OutgoingRecord {
    const { topics } = this.#deps;
    if (task.dueAt <= now) {
      const own = { live: topics.deliver, test: topics.test, replay: topics.replay };
      return this.#taskOn(own[taskClass(task)], task);
    }
    if (task.attempt > 1) return this.#taskOn(this.#tier(tierOfAttempt(task.attempt)), task);
    // The longest tier that ends by then; the shortest raises the due time a little.
    const wait = task.dueAt - now;
    const tier = TIERS.findLast((one) => this.#delayMs(one) <= wait) ?? TIERS[0];
    return this.#taskOn(this.#tier(tier), task);
  }

  /**
   * Returns a record for a journal entry, ordered by its endpoint. A routed event has none: many in a row go to one
   * partition, so that they can be joined. Traced entries are not joined, and carry their trace context.
   */
  journal(
    entry: JournalEntry,
    traceparent: string | undefined,
    orderedBy = entry.kind === 'routed' ? this.#routedKey() : entry.delivery.endpointId,
  ): OutgoingRecord {
    const { records, topics } = this.#deps;
    const value = records.encode('journal', [entry]);
    const place = { topic: topics.journal, orderedBy };
    if (traceparent !== undefined) return this.#record({ ...place, key: orderedBy }, value, traceparent);
    return { ...this.#record({ ...place, key: null }, value, undefined), joins: JOURNAL };
  }

  #routedKey(): string {
    this.#routed += 1;
    return `routed ${Math.floor(this.#routed / JOURNAL.max)}`;
  }

  /** Returns the milliseconds that a tier's records wait. */
  #delayMs(tier: Tier): number {
    return (tier * 1000) / this.#deps.retryScale;
  }

  #tier(tier: Tier): string {
    return this.#deps.topics.retry[tier];
  }

  #taskOn(topic: string, ofClock: DeliveryTask): OutgoingRecord {
    const dueAt = this.#deps.time.fromClock(ofClock.dueAt);
    const task = dueAt === ofClock.dueAt ? ofClock : { ...ofClock, dueAt };
    const value = this.#deps.records.encode('task', task);
    const place = { topic, orderedBy: task.endpointId, key: task.endpointId };
    return { ...this.#record(place, value, undefined), headers: taskHeaders(task) };
  }

  #record(
    {
      topic,
      orderedBy,
      key,
    }: { readonly topic: string; readonly orderedBy: string; readonly key: string | null },
    value: Buffer,
    traceparent: string | undefined,
  ): OutgoingRecord {
    const partition = this.#deps.partitionOf(topic, orderedBy);
    const record = { topic, partition, key: key === null ? null : Buffer.from(key), value };
    return traceparent === undefined ? record : { ...record, headers: { [TRACEPARENT]: traceparent } };
  }
}
