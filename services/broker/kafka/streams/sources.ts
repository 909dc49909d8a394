import type { Quarantined } from '../../../domain/quarantine.ts';
import { type DeliveryTask, TASK_CLASSES, type TaskClass } from '../../../domain/task.ts';
import { errorLine } from '../../../messages/error-message.ts';
import type { Clock } from '../../../process/clock.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import type { ReceivedEvent, RouterResult, Settlement, Source } from '../../broker.ts';
import { WorkSource } from '../../work-source.ts';
import {
  type OutgoingRecord,
  RecordRefused,
  type RecordSender,
  SenderClosed,
} from '../producer/record-sender.ts';
import { originOf, placeText } from '../quarantine/origin.ts';
import type { QuarantineStore } from '../quarantine/quarantine-store.ts';
import type { EventStream } from './event-stream.ts';
import type { Outgoing } from './settle.ts';
import { startedSource } from './started-source.ts';
import type { TopicItem } from './stream-feed.ts';
import type { TaskStreams } from './task-streams.ts';

const SHELVE_AGAIN_MS = 30_000;

/** Why an input's results cannot be written. */
type Refusal = Pick<Quarantined, 'reason' | 'detail'>;

export interface SourcesDeps {
  readonly eventStream: EventStream;
  readonly taskStreams: TaskStreams;
  readonly sender: RecordSender;
  readonly outgoing: Outgoing;
  readonly quarantine: Pick<QuarantineStore, 'put'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Events and tasks for the stations: a handler's results are sent and awaited, then the input is acknowledged. */
export class Sources {
  readonly events: Source<ReceivedEvent, RouterResult>;
  readonly tasks: Readonly<Record<TaskClass, Source<DeliveryTask, Settlement>>>;
  readonly #deps: SourcesDeps;
  readonly #works: WorkSource<never, never, never>[] = [];

  constructor(deps: SourcesDeps) {
    this.#deps = deps;
    this.events = this.#eventSource();
    const source = (taskClass: TaskClass) => this.#taskSource(taskClass);
    this.tasks = { live: source('live'), test: source('test'), replay: source('replay') };
  }

  /** Inputs whose handler keeps throwing; `since` is Infinity when there are none. */
  get stuck(): readonly { readonly count: number; readonly since: number }[] {
    return this.#works.map((work) => work.stuck);
  }

  /** Ends running handlers, makes their results durable and leaves the groups. */
  async stop(deadlineMs: number): Promise<void> {
    const { eventStream, taskStreams } = this.#deps;
    await Promise.all(this.#works.map((work) => work.stop(deadlineMs)));
    const leaving = TASK_CLASSES.map((taskClass) => taskStreams.stop(taskClass, deadlineMs));
    await Promise.all([eventStream.stop(deadlineMs), ...leaving]);
  }

  /** Drops the results of running handlers; work that waits out a pause does not keep the process alive. */
  async abandon(): Promise<void> {
    for (const work of this.#works) void work.stop(0);
    await Promise.all([this.#deps.eventStream.abandon(), this.#deps.taskStreams.abandon()]);
  }

  #eventSource(): Source<ReceivedEvent, RouterResult> {
    const { eventStream, clock, log } = this.#deps;
    const work = new WorkSource<TopicItem<ReceivedEvent>, ReceivedEvent, RouterResult>({
      name: 'events',
      feeds: [eventStream.feed],
      input: ({ value }) => value,
      settle: (result, item) => {
        const quarantined = (why: Refusal) => this.#unusableEvent(item, why);
        this.#whenDone(this.#sendRouted(result, item.value), item, quarantined);
        return true;
      },
      clock,
      log,
    });
    this.#works.push(work as never);
    return startedSource(work, eventStream, clock);
  }

  #taskSource(taskClass: TaskClass): Source<DeliveryTask, Settlement> {
    const { taskStreams, outgoing, clock, log } = this.#deps;
    const work = new WorkSource<TopicItem<DeliveryTask>, DeliveryTask, Settlement>({
      name: taskClass,
      feeds: [taskStreams.now[taskClass], taskStreams.delayed[taskClass]],
      input: ({ value }) => value,
      settle: (settlement, item) => {
        const records = outgoing.ofSettlement(settlement, item.value, clock.now());
        if (records === null) return false;
        const quarantined = (why: Refusal) => this.#unusableTask(item, why);
        this.#whenDone(this.#sendAll(records), item, quarantined);
        return true;
      },
      mayHandOver: () => taskStreams.mayBegin(taskClass),
      clock,
      log,
    });
    this.#works.push(work as never);
    const reading = {
      start: () => taskStreams.start(taskClass),
      stop: (deadlineMs: number) => taskStreams.stop(taskClass, deadlineMs),
    };
    return startedSource(work, reading, clock);
  }

  async #sendRouted(result: RouterResult, received: ReceivedEvent): Promise<void> {
    const { outgoing, quarantine, clock } = this.#deps;
    if (result.kind === 'quarantined') return quarantine.put(result.record);
    return this.#sendAll(outgoing.ofRouted(result, received, clock.now()));
  }

  async #sendAll(outgoing: readonly OutgoingRecord[]): Promise<void> {
    await Promise.all(outgoing.map((record) => this.#deps.sender.send(record)));
  }

  /**
   * Acknowledges the input once its results are durable. When brokers refuse them permanently, the input goes to
   * quarantine and is then acknowledged. When the engine closes, the input is not acknowledged: it is delivered again.
   */
  #whenDone(
    sent: Promise<unknown>,
    item: TopicItem<unknown>,
    quarantined: (why: Refusal) => Quarantined,
  ): void {
    sent.then(
      () => item.durable(),
      (error: unknown) => {
        if (!(error instanceof SenderClosed)) void this.#quarantine(item, quarantined(refusalOf(error)));
      },
    );
  }

  /** Never rejects; ends when the record is quarantined, or the engine closes. */
  async #quarantine(item: TopicItem<unknown>, record: Quarantined): Promise<void> {
    const { quarantine, clock, log } = this.#deps;
    const place = placeText(originOf(item.record));
    log.error(
      { place, detail: record.detail },
      'the output of a record cannot be written; putting the record into quarantine',
    );
    for (;;) {
      try {
        await quarantine.put(record);
        return item.durable();
      } catch (error) {
        if (error instanceof SenderClosed) return;
        log.error({ place, detail: errorLine(error) }, 'a record cannot be put into quarantine; retrying');
        await clock.sleep(SHELVE_AGAIN_MS);
      }
    }
  }

  #unusableEvent({ value, record }: TopicItem<ReceivedEvent>, why: Refusal): Quarantined {
    const { eventId = null, merchantId = null } = value.decoded.ok ? value.decoded.event : value.decoded;
    const { bytes } = value;
    return {
      ...why,
      at: this.#deps.clock.now(),
      eventId,
      merchantId,
      bytes,
      origin: originOf(record),
    };
  }

  #unusableTask({ value, record }: TopicItem<DeliveryTask>, why: Refusal): Quarantined {
    const { eventId, merchantId } = value;
    const bytes = record.value ?? Buffer.alloc(0);
    return {
      ...why,
      at: this.#deps.clock.now(),
      eventId,
      merchantId,
      bytes,
      origin: originOf(record),
    };
  }
}

function refusalOf(error: unknown): Refusal {
  const reason = error instanceof RecordRefused ? error.reason : 'write_refused';
  return { reason, detail: errorLine(error) };
}
