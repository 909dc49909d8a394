import type { Settlement } from '../broker/broker.ts';
import type { Tier } from '../domain/retry.ts';
import type { DeliveryTask } from '../domain/task.ts';
import type { Deadline } from './deadlines.ts';
import type { EndpointLane } from './endpoint-lane.ts';
import type { Passage } from './lanes.ts';

/** A task of the broker on its way through the lanes, with the broker's wait for its settlement. */
export class TaskPassage implements Passage {
  readonly task: DeliveryTask;
  readonly endpointId: string;
  readonly entityId: string | null;
  readonly settle: (settlement: Settlement) => void;
  place: Passage['place'] = 'new';
  startedAt = 0;
  deadline: Deadline<Passage> | null = null;
  lane: EndpointLane | null = null;
  hasReleased = false;
  readonly #calls: { readonly start: () => void; readonly parked: () => void };

  constructor(
    task: DeliveryTask,
    settle: (settlement: Settlement) => void,
    calls: { readonly start: () => void; readonly parked: () => void },
  ) {
    this.task = task;
    this.endpointId = task.endpointId;
    // Retries keep no order: they never hold a later event back (decisions §2).
    this.entityId = task.attempt === 1 ? task.entityId : null;
    this.settle = settle;
    this.#calls = calls;
  }

  start(): void {
    this.#calls.start();
  }

  park(tier: Tier): void {
    this.#calls.parked();
    this.settle({ kind: 'parked', tier });
  }
}
