import type { QueuedTask } from './queued-task.ts';

/** While new tasks wait as well, one of this many started tasks is one that was parked before. */
const BACKLOG_TURN = 4;

/**
 * The tasks that wait for one endpoint. New ones go before those that were parked, so that nothing new is late while a
 * backlog drains; the backlog has its share. First attempts of one entity leave one after the other.
 */
export class TaskQueue {
  /** Tasks that may start as soon as there is room: at most one first attempt per entity. */
  readonly #fresh: QueuedTask[] = [];
  readonly #backlog: QueuedTask[] = [];
  /** Entities with a first attempt in flight, and the tasks that follow it; null = none follows. */
  readonly #entities = new Map<string, QueuedTask[] | null>();
  #following = 0;
  #turn = 0;

  get size(): number {
    return this.#fresh.length + this.#backlog.length + this.#following;
  }

  /** Whether a task could start. */
  get hasNext(): boolean {
    return this.#fresh.length > 0 || this.#backlog.length > 0;
  }

  /** Returns whether no earlier first attempt of the entity is in flight; otherwise the task follows that one. */
  claimEntity(task: QueuedTask): boolean {
    if (task.entityId === null) return true;
    const followers = this.#entities.get(task.entityId);
    if (followers === undefined) {
      this.#entities.set(task.entityId, null);
      return true;
    }
    if (followers) followers.push(task);
    else this.#entities.set(task.entityId, [task]);
    this.#following += 1;
    return false;
  }

  /** Lets the entity's next first attempt start. A second call for the same task changes nothing. */
  releaseEntity(task: QueuedTask): void {
    if (task.entityId === null || task.hasReleased) return;
    task.hasReleased = true;
    const next = this.#entities.get(task.entityId)?.shift();
    if (!next) {
      this.#entities.delete(task.entityId);
      return;
    }
    this.#following -= 1;
    this.push(next);
  }

  push(task: QueuedTask): void {
    (task.isBacklog ? this.#backlog : this.#fresh).push(task);
  }

  /** Takes the task that starts next. */
  next(): QueuedTask | undefined {
    this.#turn = (this.#turn + 1) % BACKLOG_TURN;
    const first = this.#turn === 0 ? this.#backlog : this.#fresh;
    return first.shift() ?? this.#fresh.shift() ?? this.#backlog.shift();
  }

  /**
   * Removes and returns the task with which to probe an endpoint that does not answer: a retry that is due by its
   * schedule if there is one, so that waiting tasks keep their first attempt.
   */
  nextProbe(): QueuedTask | undefined {
    const retry = this.#fresh.findIndex(({ entityId }) => entityId === null);
    if (retry >= 0) return this.#fresh.splice(retry, 1)[0];
    return this.#backlog.shift() ?? this.#fresh.shift();
  }

  /**
   * Removes and returns a task that finds no room here: one that was parked before, or else the newest; with
   * `keepsNewest` the oldest.
   */
  takeSurplus(keepsNewest: boolean): QueuedTask | null {
    const parkedBefore = this.#backlog.pop();
    if (parkedBefore) return this.#left(parkedBefore);
    const oldest = keepsNewest ? this.#fresh.shift() : undefined;
    if (oldest) return this.#left(oldest);
    return this.#lastFollower() ?? this.#left(this.#fresh.pop());
  }

  /**
   * Removes what waits beyond `most`, and returns it in its order: what was to start last, and behind all others of its
   * entity, so that none of them overtakes it.
   */
  takeOver(most: number): QueuedTask[] {
    const last: QueuedTask[] = [];
    while (this.size > most) {
      const task = this.#lastFollower() ?? this.#left(this.#backlog.pop() ?? this.#fresh.pop());
      if (!task) break;
      last.push(task);
    }
    return last.sort((one, other) => one.sequence - other.sequence);
  }

  #left(task: QueuedTask | undefined): QueuedTask | null {
    if (!task) return null;
    this.releaseEntity(task);
    return task;
  }

  #lastFollower(): QueuedTask | null {
    if (this.#following === 0) return null;
    for (const followers of this.#entities.values()) {
      const last = followers?.pop();
      if (!last) continue;
      this.#following -= 1;
      return last;
    }
    return null;
  }
}
