import type { ParkedReason, TaskClass } from '../../domain/task.ts';
import type { Clock } from '../../process/clock.ts';
import { AwayTasks } from './away-tasks.ts';
import type { EndpointState } from './endpoint-state.ts';
import { Paces } from './paces.ts';
import type { QueuedTask } from './queued-task.ts';

/** Of which tasks lanes are, and how they get at those that are parked. */
export interface LanesOf {
  /** Brings back at most this many parked tasks of an endpoint now, and resolves with their number; null = cannot. */
  readonly wake?: ((endpointId: string, most: number) => Promise<number>) | null;
  /** Of all lanes of the sender; absent: no endpoint has a limit. */
  readonly paces?: Paces;
  /** Absent: live ones. */
  readonly taskClass?: TaskClass;
}

/** The limits of endpoints' own, as the lanes of one class keep them. */
export class Pacing {
  readonly #paces: Paces;
  readonly #taskClass: TaskClass;
  readonly #turn: (endpoint: EndpointState) => void;
  readonly #away = new AwayTasks();

  /** `turn`: starts an attempt to an endpoint if one waits. */
  constructor(
    clock: Clock,
    { paces = new Paces(clock, new Map()), taskClass = 'live' }: LanesOf,
    turn: (endpoint: EndpointState) => void,
  ) {
    this.#paces = paces;
    this.#taskClass = taskClass;
    this.#turn = turn;
  }

  /** Gives no more turns, to no lanes of the sender. */
  stop(): void {
    this.#paces.stop();
  }

  /** Returns whether an endpoint has no limit of its own. */
  isFree(endpointId: string): boolean {
    return this.#paces.of(endpointId) === null;
  }

  /** Notes the limit that an endpoint has now. */
  look(endpoint: EndpointState): void {
    endpoint.pace = this.#paces.of(endpoint.id);
  }

  /** Returns whether an attempt may start now; otherwise the endpoint gets its turn as soon as one may. */
  mayStart(endpoint: EndpointState, now: number): boolean {
    this.look(endpoint);
    if (!endpoint.pace) return true;
    return endpoint.pace.mayStart(this.#taskClass, () => this.#turn(endpoint), now);
  }

  /** Notes a task that arrives. Returns whether it must wait for an earlier first attempt of its entity, which is parked. */
  mustFollow(endpoint: EndpointState, task: QueuedTask, now: number): boolean {
    this.look(endpoint);
    this.#away.cameBack(task);
    return this.#away.isAhead(task, now);
  }

  /** Notes a task that is parked for a time, and returns why. */
  parked(
    endpoint: EndpointState,
    task: QueuedTask,
    { now, ms }: { readonly now: number; readonly ms: number },
  ): ParkedReason {
    if (endpoint.pace === null) return 'endpoint_full';
    this.#away.parked(task, now + ms);
    return endpoint.isLimitedHere(now) ? 'rate_limited_here' : 'endpoint_full';
  }
}
