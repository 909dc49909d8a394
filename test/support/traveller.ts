import type { Tier } from '../../services/domain/retry.ts';
import type { Deadline } from '../../services/process/deadlines.ts';
import type { EndpointLane } from '../../services/sender/lanes/endpoint-lane.ts';
import type { Passage } from '../../services/sender/lanes/lanes.ts';

/** A passage through the lanes that remembers what became of it. */
export class Traveller implements Passage {
  readonly endpointId: string;
  readonly entityId: string | null;
  place: Passage['place'] = 'new';
  startedAt = 0;
  deadline: Deadline<Passage> | null = null;
  lane: EndpointLane | null = null;
  hasReleased = false;
  isProbe = false;
  readonly isBacklog: boolean;
  parkedFor: Tier | null = null;
  starts = 0;
  readonly #onStart: (traveller: Traveller) => void;

  constructor(
    endpointId: string,
    entityId: string | null,
    onStart: (traveller: Traveller) => void,
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

  park(tier: Tier): void {
    this.parkedFor = tier;
  }
}
