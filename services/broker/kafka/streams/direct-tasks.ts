import type { DeliveryTask } from '../../../domain/task.ts';
import type { OutgoingRecord } from '../../../kafka-client/producer/record-sender.ts';
import type { Clock } from '../../../process/clock.ts';
import type { Ownership, ReceivedEvent, RouterResult, Settlement } from '../../broker.ts';
import type { WorkSource } from '../../work-source.ts';
import { TopicItem } from './stream-feed.ts';
import type { TaskStreams } from './task-streams.ts';

/** Events kept open for their attempts, over all partitions; each counts in what its partition may hold. */
const OPEN_MAX = 1000;
const OPEN_BYTES_MAX = 1024 * 1024;
/** Events wait this long for a sender of this process that takes nothing; then others may take their tasks. */
const WAIT_MS_MAX = 2000;
/** After a task of an endpoint was written to a topic, so are those of the next seconds: none overtakes it. */
const QUIET_MS = 5000;
/**
 * The longest time that the trace of a routing waits for the results of its attempt: the recorder writes a delivery once
 * when it gets both together, and twice otherwise. The event stays open meanwhile, so a crash routes it again.
 */
const TRACE_MS_MAX = 500;

interface Deps {
  readonly clock: Clock;
  readonly live: WorkSource<TopicItem<DeliveryTask>, DeliveryTask, Settlement>;
  readonly taskStreams: Pick<TaskStreams, 'now' | 'mayBeginFirst'>;
  /** Hands over the events that waited. */
  readonly pump: () => void;
  /** Writes the routing trace of a task, and calls its `traceWritten` once the trace is durable. */
  readonly writeTrace: (item: DirectItem, trace: readonly OutgoingRecord[]) => void;
}

interface DirectItemOptions {
  /** The journal's record of the event's routing. */
  readonly trace: readonly OutgoingRecord[];
  readonly taskStreams: Pick<TaskStreams, 'mayBeginFirst'>;
  readonly closed: () => void;
}

/** A task that was not read from a topic: its event's record stays open for it, and for the trace of its routing. */
export class DirectItem extends TopicItem<DeliveryTask> {
  readonly event: TopicItem<ReceivedEvent>;
  readonly handedOverAt: number;
  readonly #options: DirectItemOptions;
  #isTraceDurable = false;
  #isSettlementDurable = false;

  constructor(
    task: DeliveryTask,
    event: TopicItem<ReceivedEvent>,
    handedOverAt: number,
    options: DirectItemOptions,
  ) {
    super(task, event.record, event.reader);
    this.event = event;
    this.handedOverAt = handedOverAt;
    this.#options = options;
    event.keepOpen();
  }

  get trace(): readonly OutgoingRecord[] {
    return this.#options.trace;
  }

  override get ownership(): Ownership {
    const ownership = super.ownership;
    const mayBegin = ownership !== 'owned' || this.#options.taskStreams.mayBeginFirst(this.value.endpointId);
    return mayBegin ? ownership : 'unsure';
  }

  /** The trace is durable. */
  traceWritten(): void {
    this.#isTraceDurable = true;
    if (this.#isSettlementDurable) super.durable();
  }

  override durable(): void {
    this.#isSettlementDurable = true;
    if (this.#isTraceDurable) super.durable();
  }

  override completed(): void {
    this.#options.closed();
    this.event.completed();
  }

  /** Its partition was lost: whoever has it now routes the event again. */
  lost(): void {
    this.#options.closed();
  }
}

/**
 * First attempts without a topic of their own. Where router and sender share a process, the event's record stands for
 * the task's: the sender gets the task at once, and the event is acknowledged when its trace and the attempt's results are
 * durable. A crash routes the event again, and repeats no more than the request in flight.
 *
 * That needs an event with a single task, which would otherwise repeat what its other endpoints got, and an endpoint
 * that answers, because a slow one would keep the event's partition open. All other tasks are written to a topic.
 */
export class DirectTasks {
  readonly #deps: Deps;
  /** Until when tasks of an endpoint go by the topic, the earliest first. */
  readonly #quiet = new Map<string, number>();
  #open = 0;
  #openBytes = 0;
  /** Since when events have waited for the sender, which has had no room in all this time. */
  #waitingSince: number | null = null;
  #cancelWait = () => {};
  /** Tasks whose trace is not written yet, the earliest first. */
  readonly #untraced = new Set<DirectItem>();
  #isLooking = false;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Returns whether events may be routed now: false while the sender of this process is full. They wait in their own
   * topic as long as the sender takes some of them.
   */
  mayRoute(): boolean {
    const { clock, live, pump } = this.#deps;
    if (!live.isConsumed || !this.#isFull) return true;
    const now = clock.now();
    if (this.#waitingSince === null) {
      this.#waitingSince = now;
      this.#cancelWait = clock.at(now + WAIT_MS_MAX, pump);
    }
    return now - this.#waitingSince >= WAIT_MS_MAX;
  }

  /** The sender has made progress: it may have room for the events that wait. */
  progressed(): void {
    if (this.#waitingSince === null || this.#isFull) return;
    this.#waitingSince = null;
    this.#cancelWait();
    this.#deps.pump();
  }

  /** Returns the task that goes to the sender of this process; undefined when the result's tasks go by the topic. */
  taskOf(result: RouterResult): DeliveryTask | undefined {
    if (result.kind !== 'routed') return undefined;
    const [task, ...others] = result.tasks;
    if (task && others.length === 0 && this.#mayGo(task)) return task;
    for (const { endpointId } of result.tasks) this.#byTopic(endpointId);
    return undefined;
  }

  /** Hands the task to the sender. The event is done when the task is, and its trace is written. */
  handOver(task: DeliveryTask, event: TopicItem<ReceivedEvent>, trace: readonly OutgoingRecord[]): void {
    const { clock, live, taskStreams } = this.#deps;
    const { bytes } = event.record;
    this.#open += 1;
    this.#openBytes += bytes;
    const closed = () => {
      this.#open -= 1;
      this.#openBytes -= bytes;
      this.#untraced.delete(item);
    };
    const item: DirectItem = new DirectItem(task, event, clock.now(), { trace, taskStreams, closed });
    this.#untraced.add(item);
    this.#lookLater(TRACE_MS_MAX);
    live.handOver(item);
    // For the router it is over: what is open from here on has limits of its own.
    event.durable();
  }

  /** Writes the task's trace, unless it was written. */
  writeTrace(item: DirectItem): void {
    if (this.#untraced.delete(item)) this.#deps.writeTrace(item, item.trace);
  }

  /** Looks after this time for traces that have waited their longest, writes them, and looks again when the next one is due. */
  #lookLater(waitMs: number): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { clock } = this.#deps;
    clock.at(clock.now() + waitMs, () => {
      this.#isLooking = false;
      const now = clock.now();
      for (const item of this.#untraced) {
        const left = item.handedOverAt + TRACE_MS_MAX - now;
        if (left > 0) return this.#lookLater(left);
        this.writeTrace(item);
      }
    });
  }

  get #isFull(): boolean {
    return this.#deps.live.isFull || this.#open >= OPEN_MAX || this.#openBytes >= OPEN_BYTES_MAX;
  }

  #mayGo(task: DeliveryTask): boolean {
    const { clock, live, taskStreams } = this.#deps;
    if (this.#isFull) return false;
    if ((this.#quiet.get(task.endpointId) ?? 0) > clock.now()) return false;
    // Tasks that wait on the topic go first.
    if (taskStreams.now.live.oldest !== undefined) return false;
    return live.mayTake(task) && taskStreams.mayBeginFirst(task.endpointId);
  }

  #byTopic(endpointId: string): void {
    const now = this.#deps.clock.now();
    this.#quiet.delete(endpointId);
    this.#quiet.set(endpointId, now + QUIET_MS);
    for (const [id, until] of this.#quiet) {
      if (until > now) break;
      this.#quiet.delete(id);
    }
  }
}
