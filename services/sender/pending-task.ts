import type { Ownership, Settlement } from '../broker/broker.ts';
import type { Tier } from '../domain/retry.ts';
import type { DeliveryTask, ParkedReason } from '../domain/task.ts';
import type { AttemptTime, Blame } from './blame/blame.ts';
import type { DeliverResult, DeliveryOwner } from './deliver.ts';
import type { Answer, Pace } from './http/pace.ts';
import type { Lanes } from './lanes/lanes.ts';
import type { QueuedTask } from './lanes/queued-task.ts';

/** Makes the attempt when its turn has come, and handles a parked task. */
export interface PendingTaskOwner {
  readonly blame: Blame;
  attempt(pending: PendingTask): void;
  made(pending: PendingTask, result: DeliverResult): void;
  failed(pending: PendingTask, error: unknown): void;
  /** The receiver has answered; the attempt ends when the rest of its response is read. */
  answered(pending: PendingTask, answer: Answer): void;
  /** Returns the settlement for the broker. */
  park(pending: PendingTask, tier: Tier, reason: ParkedReason): Settlement;
}

/** A task of the broker on its way through the lanes, with the broker's pending settlement. */
export class PendingTask implements QueuedTask, Pace, DeliveryOwner {
  readonly task: DeliveryTask;
  readonly lanes: Lanes;
  /** Fires when the broker stops handing over tasks. */
  readonly signal: AbortSignal;
  /** Returns whether this process still owns the task and may start the attempt. */
  readonly ownership: () => Ownership;
  readonly endpointId: string;
  readonly entityId: string | null;
  readonly sequence: number;
  readonly isBacklog: boolean;
  readonly settle: (settlement: Settlement) => void;
  readonly fail: (error: unknown) => void;
  readonly time: AttemptTime<QueuedTask>;
  place: QueuedTask['place'] = 'new';
  hasReleased = false;
  isProbe = false;
  readonly #owner: PendingTaskOwner;

  constructor(
    on: Pick<PendingTask, 'task' | 'lanes' | 'signal' | 'ownership'>,
    owner: PendingTaskOwner,
    settle: (settlement: Settlement) => void,
    fail: (error: unknown) => void,
  ) {
    this.task = on.task;
    this.lanes = on.lanes;
    this.signal = on.signal;
    this.ownership = on.ownership;
    this.endpointId = on.task.endpointId;
    // Retries keep no order: they never hold a later event back.
    this.entityId = on.task.attempt === 1 ? on.task.entityId : null;
    this.sequence = on.task.sequence;
    this.isBacklog = on.task.hop > 0;
    this.settle = settle;
    this.fail = fail;
    this.time = owner.blame.timeOf<QueuedTask>(this);
    this.#owner = owner;
  }

  get isSlow(): boolean {
    return this.lanes.startsSlow(this);
  }

  answered(answer: Answer): void {
    this.#owner.answered(this, answer);
  }

  start(): void {
    this.#owner.attempt(this);
  }

  made(result: DeliverResult): void {
    this.#owner.made(this, result);
  }

  failed(error: unknown): void {
    this.#owner.failed(this, error);
  }

  park(tier: Tier, reason: ParkedReason): void {
    this.settle(this.#owner.park(this, tier, reason));
  }
}
