import type { Tier } from '../../../services/domain/retry.ts';
import type { Deadline } from '../../../services/process/deadlines.ts';
import type { QueuedTask } from '../../../services/sender/lanes/queued-task.ts';

/** A passage through the lanes that remembers what became of it. */
export class FakeTask implements QueuedTask {
  readonly endpointId: string;
  readonly entityId: string | null;
  place: QueuedTask['place'] = 'new';
  startedAt = 0;
  deadline: Deadline<QueuedTask> | null = null;
  hasReleased = false;
  isProbe = false;
  isDemoted = false;
  readonly isBacklog: boolean;
  parkedFor: Tier | null = null;
  starts = 0;
  hasTurnedSlow = false;
  readonly #onStart: (task: FakeTask) => void;

  constructor(
    endpointId: string,
    entityId: string | null,
    onStart: (task: FakeTask) => void,
    isBacklog = false,
  ) {
    this.endpointId = endpointId;
    this.entityId = entityId;
    this.#onStart = onStart;
    this.isBacklog = isBacklog;
  }

  start(): void {
    this.starts += 1;
    this.#onStart(this);
  }

  turnSlow(): void {
    this.hasTurnedSlow = true;
  }

  park(tier: Tier): void {
    this.parkedFor = tier;
  }
}
