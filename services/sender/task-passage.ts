import type { Settlement, Standing } from '../broker/broker.ts';
import type { Tier } from '../domain/retry.ts';
import type { DeliveryTask } from '../domain/task.ts';
import type { Deadline } from './deadlines.ts';
import type { EndpointLane } from './endpoint-lane.ts';
import type { Lanes, Passage } from './lanes.ts';

/** Makes the attempt when its turn has come, and handles a parked task. */
export interface PassageOwner {
  attempt(passage: TaskPassage): void;
  /** Returns the settlement for the broker. */
  park(passage: TaskPassage, tier: Tier): Settlement;
}

/** A task of the broker on its way through the lanes, with the broker's pending settlement. */
export class TaskPassage implements Passage {
  readonly task: DeliveryTask;
  readonly lanes: Lanes;
  /** Fires when the broker stops handing over tasks. */
  readonly signal: AbortSignal;
  /** Returns whether this process still owns the task and may start the attempt. */
  readonly standing: () => Standing;
  readonly endpointId: string;
  readonly entityId: string | null;
  readonly isBacklog: boolean;
  readonly settle: (settlement: Settlement) => void;
  readonly fail: (error: unknown) => void;
  place: Passage['place'] = 'new';
  startedAt = 0;
  deadline: Deadline<Passage> | null = null;
  lane: EndpointLane | null = null;
  hasReleased = false;
  isProbe = false;
  readonly #owner: PassageOwner;

  constructor(
    on: Pick<TaskPassage, 'task' | 'lanes' | 'signal' | 'standing'>,
    owner: PassageOwner,
    settle: (settlement: Settlement) => void,
    fail: (error: unknown) => void,
  ) {
    this.task = on.task;
    this.lanes = on.lanes;
    this.signal = on.signal;
    this.standing = on.standing;
    this.endpointId = on.task.endpointId;
    // Retries keep no order: they never hold a later event back.
    this.entityId = on.task.attempt === 1 ? on.task.entityId : null;
    this.isBacklog = on.task.hop > 0;
    this.settle = settle;
    this.fail = fail;
    this.#owner = owner;
  }

  start(): void {
    this.#owner.attempt(this);
  }

  park(tier: Tier): void {
    this.settle(this.#owner.park(this, tier));
  }
}
