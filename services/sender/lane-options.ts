/** The policy of design.md, "Isolation". All per sender process. */
export interface LaneOptions {
  /** Attempts in flight to one endpoint at first; one more per success, one less per rejection, half after a failure. */
  readonly windowStart: number;
  readonly windowMax: number;
  /** As far as it grows for an endpoint that answers at once; to `windowMax` for one that takes half of `demoteAfterMs`. */
  readonly windowQuick: number;
  /** Once half of the slow lane is taken, an endpoint with this many slow attempts in flight starts no more: see slowMost. */
  readonly slowPerEndpointMax: number;
  /** Attempts in flight that are not slow (yet), at most: the rate aimed at × the time until demotion. */
  readonly fastSlots: number;
  /** So many of them at first, and while this thread has no time for more. */
  readonly fastSlotsLeast: number;
  readonly slowSlots: number;
  /** An attempt that still waits for its response after this is slow. */
  readonly demoteAfterMs: number;
  /** Tasks waiting for their endpoint's window, over all endpoints. */
  readonly waitingMax: number;
  /** Once half of `waitingMax` is taken, a slow or failing endpoint gets a fair share of it, and no less than this. */
  readonly waitingPerEndpointMin: number;
  /** No more may wait than the endpoint can take in this time. */
  readonly drainMs: number;
  /** A receiver's Retry-After is heeded up to here. */
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
  slowPerEndpointMax: 8,
  fastSlots: 2048,
  fastSlotsLeast: 32,
  slowSlots: 4096,
  demoteAfterMs: 200,
  waitingMax: 8192,
  waitingPerEndpointMin: 4,
  drainMs: 3000,
  retryAfterMsMax: 60_000,
  endpointsMax: 20_000,
  retryScale: 1,
} as const satisfies LaneOptions;

/**
 * With so many slow attempts in flight, an endpoint that does not answer starts no more. Fewer the fuller the slow lane is,
 * down to one: once it is full, slow attempts would keep the fast slots of the others.
 */
export function slowMost({ slowSlots, slowPerEndpointMax }: LaneOptions, slow: number): number {
  const half = slowSlots / 2;
  if (slow < half) return Number.POSITIVE_INFINITY;
  return Math.max(1, Math.ceil(slowPerEndpointMax * ((slowSlots - slow) / half)));
}
