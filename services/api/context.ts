import type { Broker } from '../broker/broker.ts';
import type { EndpointUrlPolicy } from '../domain/endpoint-url.ts';
import type { KeyRing } from '../keys/keyring.ts';
import type { Clock } from '../process/clock.ts';
import type { Random } from '../process/random.ts';
import type { Store } from '../store/store.ts';
import type { Environment } from './auth.ts';
import { ApiError, BrokerUnavailable } from './problem.ts';
import type { Relay } from './relay.ts';

export interface ApiOptions {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** Which URLs an endpoint may have. The sender applies the same policy again at every connection. */
  readonly egress: EndpointUrlPolicy;
  readonly rateLimitPerMinute: number;
  readonly testRateLimitPerMinute: number;
  /** Endpoints a merchant may have. */
  readonly endpointQuota: number;
  /** Deliveries that replays make a second, at most. */
  readonly replayPerSecond: number;
  readonly limits?: Partial<ApiLimits>;
}

export interface ApiLimits {
  readonly bodyBytesMax: number;
  readonly producerBodyBytesMax: number;
  /** Producer requests worked on at a time; each holds its body in memory. */
  readonly producerInFlightMax: number;
  readonly connectionsMax: number;
  /** A request's headers, and the whole request, must have come within these. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** How long update, rotate and delete wait for the broker before they say "committed, pending". */
  readonly publishedWaitMs: number;
  /** How long a test or resend waits until the delivery log has it. */
  readonly recordedWaitMs: number;
  readonly testWaitSecondsMax: number;
  /** How long running requests may go on after stop was called. */
  readonly stopGraceMs: number;
  /** How long after its endpoint's last change a replay begins: every sender knows by then that it is active. */
  readonly replayAfterChangeMs: number;
  /** How long the answer to an Idempotency-Key is kept. */
  readonly answersKeptMs: number;
}

export const API_LIMITS: ApiLimits = {
  bodyBytesMax: 64 * 1024,
  producerBodyBytesMax: 1024 * 1024,
  producerInFlightMax: 64,
  connectionsMax: 4096,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  publishedWaitMs: 3000,
  recordedWaitMs: 1000,
  testWaitSecondsMax: 30,
  stopGraceMs: 5000,
  replayAfterChangeMs: 2000,
  answersKeptMs: 24 * 3600 * 1000,
};

/** What the routes work with. */
export interface ApiContext {
  readonly store: Store;
  readonly broker: Pick<Broker, 'publishEvents' | 'publishTasks'>;
  readonly keyRing: KeyRing;
  readonly clock: Clock;
  readonly random: Random;
  readonly environment: Environment;
  readonly options: ApiOptions;
  readonly limits: ApiLimits;
  readonly relay: Relay;
  /** Fires when the station stops: who waits answers with what there is. */
  readonly stopping: AbortSignal;
}

/** Now, in whole milliseconds: what is stored and shown. */
export function wholeNow(clock: Clock): number {
  return Math.floor(clock.wall());
}

/** Answers when the change is in force everywhere; else 503, and the change stays. */
export async function awaitPublished(context: ApiContext, outboxId: number): Promise<void> {
  if (await context.relay.published(outboxId, context.limits.publishedWaitMs)) return;
  throw new ApiError('change_committed_pending', 'The senders have not been told yet.', {
    headers: { 'Retry-After': '2' },
  });
}

/** Runs a publish; a rejection means that nobody knows whether it was kept. */
export async function published<T>(publishing: Promise<T>): Promise<T> {
  try {
    return await publishing;
  } catch (error) {
    throw new BrokerUnavailable(error instanceof Error ? error.message : String(error));
  }
}
