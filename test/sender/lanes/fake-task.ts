import type { Tier } from '../../../services/domain/retry.ts';
import type { ParkedReason } from '../../../services/domain/task.ts';
import { Blame } from '../../../services/sender/blame/blame.ts';
import type { QueuedTask } from '../../../services/sender/lanes/queued-task.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const BLAME = new Blame(new SimulatedClock());

/** A passage through the lanes that remembers what became of it. */
export class FakeTask implements QueuedTask {
  readonly endpointId: string;
  readonly entityId: string | null;
  place: QueuedTask['place'] = 'new';
  readonly time: QueuedTask['time'] = BLAME.timeOf<QueuedTask>(this);
  hasReleased = false;
  isProbe = false;
  readonly isBacklog: boolean;
  readonly sequence: number;
  parkedFor: Tier | null = null;
  parkedBecause: ParkedReason | null = null;
  starts = 0;
  onPark: (tier: Tier) => void = () => {};
  readonly #onStart: (task: FakeTask) => void;

  constructor(
    endpointId: string,
    entityId: string | null,
    onStart: (task: FakeTask) => void,
    isBacklog = false,
    sequence = 1,
  ) {
    this.endpointId = endpointId;
    this.entityId = entityId;
    this.#onStart = onStart;
    this.isBacklog = isBacklog;
    this.sequence = sequence;
  }

  start(): void {
    this.starts += 1;
    this.#onStart(this);
  }

  get startedAt(): number {
    return this.time.startedAt;
  }

  get hasTurnedSlow(): boolean {
    return this.time.isDemoted;
  }

  park(tier: Tier, reason: ParkedReason): void {
    this.parkedFor = tier;
    this.parkedBecause = reason;
    this.onPark(tier);
  }
}
