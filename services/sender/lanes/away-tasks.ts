import type { QueuedTask } from './queued-task.ts';

/** Tasks remembered over all endpoints. Of more, a later one may go first. */
const TASKS_MAX = 100_000;
/** A task that has not come back this long after it was due comes to another process. */
const OVERDUE_MS = 10_000;

/**
 * First attempts that were parked because their endpoint gets no more requests per second: a later event of the same entity
 * does not overtake them.
 */
export class AwayTasks {
  /** By endpoint, entity and sequence: when each is certainly back. */
  readonly #away = new Map<string, Map<number, number>>();
  #count = 0;

  parked(task: QueuedTask, dueAt: number): void {
    if (task.entityId === null || this.#count >= TASKS_MAX) return;
    const key = keyOf(task);
    const away = this.#away.get(key) ?? new Map<number, number>();
    if (away.size === 0) this.#away.set(key, away);
    if (!away.has(task.sequence)) this.#count += 1;
    away.set(task.sequence, dueAt + OVERDUE_MS);
  }

  /** A task has come back. */
  cameBack(task: QueuedTask): void {
    if (this.#count === 0 || task.entityId === null) return;
    const key = keyOf(task);
    this.#forget(key, task.sequence);
  }

  /** Returns whether an earlier first attempt of the same entity is parked. */
  isAhead(task: QueuedTask, now: number): boolean {
    if (this.#count === 0 || task.entityId === null) return false;
    const key = keyOf(task);
    for (const [sequence, until] of this.#away.get(key) ?? []) {
      if (now >= until) this.#forget(key, sequence);
      else if (sequence < task.sequence) return true;
    }
    return false;
  }

  #forget(key: string, sequence: number): void {
    const away = this.#away.get(key);
    if (!away?.delete(sequence)) return;
    this.#count -= 1;
    if (away.size === 0) this.#away.delete(key);
  }
}

function keyOf({ endpointId, entityId }: QueuedTask): string {
  return `${endpointId} ${entityId}`;
}
