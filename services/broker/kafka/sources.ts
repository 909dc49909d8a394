import type { Quarantined } from '../../domain/quarantine.ts';
import { type DeliveryTask, TASK_CLASSES, type TaskClass } from '../../domain/task.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { ReceivedEvent, RouterResult, Settlement, Source } from '../broker.ts';
import { WorkSource } from '../work-source.ts';
import type { EventStream } from './event-stream.ts';
import type { QuarantineShelf } from './quarantine/quarantine-shelf.ts';
import type { OutgoingRecord, RecordSender } from './record-sender.ts';
import { type Outgoing, TooLarge } from './settle.ts';
import { startedSource } from './started-source.ts';
import type { TopicItem } from './stream-feed.ts';
import type { TaskStreams } from './task-streams.ts';

type Routing = Extract<RouterResult, { kind: 'routed' }>;

export interface SourcesDeps {
  readonly eventStream: EventStream;
  readonly taskStreams: TaskStreams;
  readonly sender: RecordSender;
  readonly outgoing: Outgoing;
  readonly quarantine: Pick<QuarantineShelf, 'put'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Events and tasks as stations consume them: what a handler returns is sent, awaited, and then its input acknowledged. */
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

  /** Of inputs whose handler keeps throwing; `since` is Infinity when there are none. */
  get stuck(): readonly { readonly count: number; readonly since: number }[] {
    return this.#works.map((work) => work.stuck);
  }

  /** Ends what runs, makes it durable and leaves the groups. */
  async stop(deadlineMs: number): Promise<void> {
    const { eventStream, taskStreams } = this.#deps;
    await Promise.all(this.#works.map((work) => work.stop(deadlineMs)));
    const leaving = TASK_CLASSES.map((taskClass) => taskStreams.stop(taskClass, deadlineMs));
    await Promise.all([eventStream.stop(deadlineMs), ...leaving]);
  }

  /** Nothing that runs is kept from here on; what waits out a pause does not keep the process. */
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
        whenDone(this.#sendRouted(result, item.value), item);
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
        whenDone(this.#sendAll(records), item);
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

  #sendRouted(result: RouterResult, received: ReceivedEvent): Promise<void> {
    const { outgoing, quarantine, clock } = this.#deps;
    if (result.kind === 'quarantined') return quarantine.put(result.record);
    try {
      return this.#sendAll(outgoing.ofRouted(result, received, clock.now()));
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error;
      return quarantine.put(this.#refused(received, result, error.message));
    }
  }

  /** The event of a result that cannot be written down. */
  #refused(received: ReceivedEvent, result: Routing, detail: string): Quarantined {
    const { clock, log } = this.#deps;
    const { bytes, origin } = received;
    const { eventId, merchantId } = result.journal.event;
    log.error({ eventId, merchantId, detail }, 'an event cannot be routed; it is kept in the quarantine');
    const record = { reason: 'too_large', detail, at: clock.now(), eventId, merchantId, bytes } as const;
    return origin === undefined ? record : { ...record, origin };
  }

  async #sendAll(outgoing: readonly OutgoingRecord[]): Promise<void> {
    await Promise.all(outgoing.map((record) => this.#deps.sender.send(record)));
  }
}

/** The producer tries until it is done; it rejects only when this engine closes, and the input comes again then. */
function whenDone(sent: Promise<unknown>, item: TopicItem<unknown>): void {
  sent.then(
    () => item.durable(),
    () => {},
  );
}
