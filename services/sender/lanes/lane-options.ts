import type { BlameLimits } from '../blame/blame.ts';

/** The limits that keep one endpoint from slowing another. All per sender process. */
export interface LaneOptions extends BlameLimits {
  /**
   * The initial limit of attempts in flight to one endpoint: one more per success or quick rejection, one less per slow
   * rejection, back to this by quick answers of 429 and 503, half after a failure.
   */
  readonly windowStart: number;
  readonly windowMax: number;
  /**
   * Its maximum for an endpoint that answers at once; it rises to `windowMax` for one that takes half of
   * `demoteAfterMs`.
   */
  readonly windowQuick: number;
  /** The interval of further attempts to an endpoint whose attempts hang, to notice its recovery. */
  readonly probeEveryMs: number;
  /** The most of those in flight beside the window: as many as start before the first ones time out. */
  readonly probesMax: number;
  /**
   * Once half of the slow lane is taken, an endpoint with this many slow attempts in flight starts no more: see
   * slowMost.
   */
  readonly slowPerEndpointMax: number;
  /** The most slow attempts in flight when one starts. */
  readonly slowSlots: number;
  /** The most slow attempts in flight in all: those that turn slow in flight may exceed `slowSlots` up to here. */
  readonly slowSlotsMost: number;
  /** Tasks waiting for their endpoint's window, over all endpoints. */
  readonly waitingMax: number;
  /** Tasks waiting for one endpoint that fails or does not answer. */
  readonly waitingFailingMax: number;
  /** Once half of `waitingMax` is taken, an endpoint gets a fair share of it, and no less than this. */
  readonly waitingPerEndpointMin: number;
  /** No more tasks may wait for an endpoint than it can take in this time. */
  readonly drainMs: number;
  /** The length of the shortest tier: parked tasks come up after it, or after the next one. */
  readonly parkedSoonMs: number;
  /** Tasks of one endpoint parked on the shortest tier, per `parkedSoonMs`, while it does not answer. */
  readonly parkedSoonPerEndpoint: number;
  /** The same over all endpoints. */
  readonly parkedSoonMax: number;
  /** A longer Retry-After of a receiver is cut to this. */
  readonly retryAfterMsMax: number;
  /** Endpoints whose window is remembered while nothing is in flight. */
  readonly endpointsMax: number;
  /** Divides the tiers' delays; 1 in production. */
  readonly retryScale: number;
}

export const LANE_OPTIONS = {
  windowStart: 4,
  windowMax: 128,
  windowQuick: 32,
  probeEveryMs: 500,
  probesMax: 20,
  slowPerEndpointMax: 8,
  fastSlots: 2048,
  fastSlotsLeast: 32,
  slowSlots: 4096,
  slowSlotsMost: 6144,
  demoteAfterMs: 200,
  waitingMax: 8192,
  waitingFailingMax: 64,
  waitingPerEndpointMin: 4,
  drainMs: 3000,
  parkedSoonMs: 3000,
  parkedSoonPerEndpoint: 100,
  parkedSoonMax: 1000,
  retryAfterMsMax: 60_000,
  endpointsMax: 20_000,
  retryScale: 1,
  darkEveryMs: 4,
  opened: () => 0,
} as const satisfies LaneOptions;

/** Above this share of the slow lane, each endpoint may have fewer slow attempts the fuller it is. */
const FULL_FROM = 0.5;
/** The same for an endpoint whose slow attempts succeed. */
const FULL_FROM_ANSWERING = 0.75;

/**
 * Returns how many slow attempts one endpoint may have in flight before it starts no more: any number while there is
 * plenty of room, and fewer the fuller the slow lane is, down to one.
 */
export function slowMost(
  { slowSlots, slowPerEndpointMax }: LaneOptions,
  slow: number,
  isAnswering: boolean,
): number {
  const from = slowSlots * (isAnswering ? FULL_FROM_ANSWERING : FULL_FROM);
  if (slow < from) return Number.POSITIVE_INFINITY;
  return Math.max(1, Math.ceil(slowPerEndpointMax * ((slowSlots - slow) / (slowSlots - from))));
}
