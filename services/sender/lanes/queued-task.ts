import type { Tier } from '../../domain/retry.ts';
import type { ParkedReason } from '../../domain/task.ts';
import type { AttemptTime } from '../blame/blame.ts';

/**
 * One task on its way through the lanes. Only the lanes write the fields that are not readonly.
 *
 *     new ──► fast ──► over          a slot was free; it settled within `demoteAfterMs`
 *      │       └─────► slow ─► over  no response by then: it continues in the slow lane
 *      └► waiting ──► fast | slow    its turn came
 *             └─────► over           parked, or given back when the sender stops
 */
export interface QueuedTask {
  readonly endpointId: string;
  /** First attempts of one entity leave one after the other; null for retries, which keep no order. */
  readonly entityId: string | null;
  /** Rises with the order of the entity's events. */
  readonly sequence: number;
  /** It was parked before: new tasks go first. */
  readonly isBacklog: boolean;
  /** Called once when a slot is there. */
  start(): void;
  /** Called instead of `start` when the task must come again later. */
  park(tier: Tier, reason: ParkedReason): void;
  /** Whose time passes in its attempt. */
  readonly time: AttemptTime<QueuedTask>;
  place: 'new' | 'waiting' | 'fast' | 'slow' | 'over';
  /** Whether its entity's next first attempt was released. */
  hasReleased: boolean;
  /** It was started as a probe of an endpoint that does not answer. */
  isProbe: boolean;
}

/**
 * `rejected`: the receiver answered, but not with a 2xx. `busy`: it answered that it has too much to do (429, 503).
 * `failure`: it did not answer.
 */
export type AttemptEnding = 'success' | 'rejected' | 'busy' | 'failure' | 'uncounted';
