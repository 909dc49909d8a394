import { aboutOf, knownAbout, type Quarantined } from '../../../domain/quarantine.ts';
import { attemptLabel, eventLabel } from '../../../domain/stalls/stall.ts';
import { type DeliveryTask, TASK_CLASSES, type TaskClass } from '../../../domain/task.ts';
import {
  type OutgoingRecord,
  RecordRefused,
  type RecordSender,
  SenderClosed,
  type Told,
} from '../../../kafka-client/producer/record-sender.ts';
import { errorLine } from '../../../messages/error-message.ts';
import type { Clock } from '../../../process/clock.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import { type Activity, NOT_WATCHED } from '../../../watchdog/activity.ts';
import type { PutAside, ReceivedEvent, RouterResult, Settlement, Source } from '../../broker.ts';
import { WorkSource } from '../../work-source.ts';
import { originOf, placeText } from '../quarantine/origin.ts';
import type { QuarantineStore } from '../quarantine/quarantine-store.ts';
import { DirectItem, DirectTasks } from './direct-tasks.ts';
import type { EventsTopic } from './events-topic.ts';
import type { Outgoing } from './settle.ts';
import { startedSource } from './started-source.ts';
import type { TopicItem } from './stream-feed.ts';
import type { TaskStreams } from './task-streams.ts';

const SHELVE_AGAIN_MS = 30_000;

type EventWork = WorkSource<TopicItem<ReceivedEvent>, ReceivedEvent, RouterResult>;
type TaskWork = WorkSource<TopicItem<DeliveryTask>, DeliveryTask, Settlement>;

/** Why an input's results cannot be written. */
type Refusal = Pick<Quarantined, 'reason' | 'detail'>;

/** An input, told once its results are durable. */
type Written = Pick<TopicItem<unknown>, 'record' | 'durable'>;

export interface SourcesDeps {
  readonly eventStream: EventsTopic;
  readonly taskStreams: TaskStreams;
  readonly sender: RecordSender;
  readonly outgoing: Outgoing;
  readonly quarantine: Pick<QuarantineStore, 'put'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly activity?: Activity | undefined;
}

/** Events and tasks for the stations: a handler's results are sent and awaited, then the input is acknowledged. */
export class Sources {
  readonly events: Source<ReceivedEvent, RouterResult>;
  readonly tasks: Readonly<Record<TaskClass, Source<DeliveryTask, Settlement>>>;
  readonly #deps: SourcesDeps;
  readonly #direct: DirectTasks;
  readonly #works: WorkSource<never, never, never>[] = [];

  constructor(deps: SourcesDeps) {
    this.#deps = deps;
    const { eventStream, taskStreams, clock } = deps;
    const live = this.#taskWork('live', () => this.#direct.progressed());
    const events = this.#eventWork();
    const pump = () => events.pump();
    this.#direct = new DirectTasks({
      clock,
      live,
      taskStreams,
      pump,
      writeTrace: (item, trace) => this.#writeTrace(item, trace),
    });
    this.events = startedSource(events, eventStream, clock);
    const source = (taskClass: TaskClass, work = this.#taskWork(taskClass)) =>
      startedSource(work, this.#reading(taskClass), clock);
    this.tasks = { live: source('live', live), test: source('test'), replay: source('replay') };
  }

  /** Everything that hands inputs to a handler. */
  get all(): readonly Pick<WorkSource<never, never, never>, 'stuck'>[] {
    return this.#works;
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

  #eventWork(): EventWork {
    const { eventStream, clock, log } = this.#deps;
    const work: EventWork = new WorkSource<TopicItem<ReceivedEvent>, ReceivedEvent, RouterResult>({
      name: 'events',
      feeds: [eventStream.feed],
      input: ({ value }) => value,
      settle: (result, item) => {
        this.#writeRouted(result, item);
        return true;
      },
      mayHandOver: () => this.#direct.mayRoute(),
      clock,
      log,
    });
    this.#works.push(work as never);
    return work;
  }

  #taskWork(taskClass: TaskClass, progressed?: () => void): TaskWork {
    const { taskStreams, clock, log } = this.#deps;
    const work: TaskWork = new WorkSource<TopicItem<DeliveryTask>, DeliveryTask, Settlement>({
      name: taskClass,
      feeds: [taskStreams.now[taskClass], taskStreams.delayed[taskClass]],
      input: ({ value }) => value,
      settle: (settlement, item) => {
        const records = this.#labelled(attemptLabel(item.value), () => this.#settled(settlement, item));
        if (records === null) return false;
        if (item instanceof DirectItem) this.#direct.writeTrace(item);
        const told = this.#told(item, (why) => this.#unusableTask(item, why));
        const aside = this.#aside(settlement, item);
        if (aside) this.#putAside(aside, told, () => this.#write(records, told));
        else this.#write(records, told);
        return true;
      },
      mayHandOver: () => taskStreams.mayBegin(taskClass),
      ...(progressed ? { progressed } : {}),
      clock,
      log,
    });
    this.#works.push(work as never);
    return work;
  }

  #reading(taskClass: TaskClass) {
    const { taskStreams } = this.#deps;
    return {
      start: () => taskStreams.start(taskClass),
      stop: (deadlineMs: number) => taskStreams.stop(taskClass, deadlineMs),
    };
  }

  #writeRouted(result: RouterResult, item: TopicItem<ReceivedEvent>): void {
    const { outgoing, clock } = this.#deps;
    const told = this.#told(item, (why) => this.#unusableEvent(item, why));
    if (result.kind === 'quarantined') {
      this.#putAside(result.record, told, () => item.durable());
      return;
    }
    const direct = this.#direct.taskOf(result);
    const write = () => outgoing.ofRouted(result, { received: item.value, now: clock.now(), direct });
    const { decoded } = item.value;
    try {
      const records = decoded.ok ? this.#labelled(eventLabel(decoded.event), write) : write();
      if (direct) this.#direct.handOver(direct, item, records);
      else this.#write(records, told);
    } catch (error) {
      told.failed(error as Error);
    }
  }

  #writeTrace(item: DirectItem, trace: readonly OutgoingRecord[]): void {
    const { event, record } = item;
    const written = { record, durable: () => item.traceWritten() };
    this.#write(
      trace,
      this.#told(written, (why) => this.#unusableEvent(event, why)),
    );
  }

  /** Returns the records of a task's settlement; null when it was given back. */
  #settled(settlement: Settlement, item: TopicItem<DeliveryTask>): readonly OutgoingRecord[] | null {
    const { outgoing, clock } = this.#deps;
    const records = outgoing.ofSettlement(settlement, item.value, clock.now());
    if ((records !== null && !asideOf(settlement)) || !(item instanceof DirectItem)) return records;
    // No topic has it: it is written to one, for the next sender.
    if (item.ownership !== 'lost') return [outgoing.task(item.value, clock.now())];
    item.lost();
    return null;
  }

  /** Returns the quarantine's record of a task. One that no topic has is put aside when it is read from a topic. */
  #aside(settlement: Settlement, item: TopicItem<DeliveryTask>): Quarantined | undefined {
    const aside = asideOf(settlement);
    if (!aside || item instanceof DirectItem) return undefined;
    const { endpointId, deliveryId } = item.value;
    return { ...this.#unusableTask(item, aside), ...aside, endpointId, deliveryId };
  }

  #putAside(record: Quarantined, told: Told, then: () => void): void {
    this.#deps.quarantine.put(record).then(then, told.failed);
  }

  #labelled<Result>(label: string, work: () => Result): Result {
    return (this.#deps.activity ?? NOT_WATCHED).within(label, work);
  }

  #write(records: readonly OutgoingRecord[], told: Told): void {
    this.#deps.sender.write(records, told);
  }

  /**
   * Acknowledges the input once its results are durable. When brokers refuse them permanently, the input goes to
   * quarantine and is then acknowledged. When the engine closes, the input is not acknowledged: it is delivered again.
   */
  #told(item: Written, quarantined: (why: Refusal) => Quarantined): Told {
    return {
      durable: () => item.durable(),
      failed: (error) => {
        if (!(error instanceof SenderClosed)) void this.#quarantine(item, quarantined(taskRefusal(error)));
      },
    };
  }

  /** Never rejects; ends when the record is quarantined, or the engine closes. */
  async #quarantine(item: Written, record: Quarantined): Promise<void> {
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
      ...(value.decoded.ok ? aboutOf(value.decoded.event) : knownAbout(value.decoded)),
      bytes,
      // With its place among the events, for when it is put back.
      origin: value.origin ?? originOf(record),
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
      ...aboutOf(value),
      bytes,
      origin: originOf(record),
    };
  }
}

function asideOf(settlement: Settlement): PutAside | undefined {
  return settlement.kind === 'settled' ? settlement.aside : undefined;
}

function taskRefusal(error: unknown): Refusal {
  const reason = error instanceof RecordRefused ? error.reason : 'write_refused';
  return { reason, detail: errorLine(error) };
}
