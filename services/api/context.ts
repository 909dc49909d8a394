import type { Response } from 'express';
import type { Broker } from '../broker/broker.ts';
import type { ConsoleBrand } from '../config/console-brand.ts';
import type { SourceAddress } from '../config/well-known/source-addresses.ts';
import type { SecurityTxt } from '../config/well-known/well-known-config.ts';
import type { CheckUrl } from '../domain/checks/endpoint-check.ts';
import type { Directory } from '../domain/directory.ts';
import type { EndpointUrlPolicy } from '../domain/endpoint-url.ts';
import type { HealthPolicy } from '../domain/health.ts';
import type { KeyRing } from '../keys/keyring.ts';
import { messageOf } from '../messages/error-message.ts';
import type { Clock } from '../process/clock.ts';
import type { Random } from '../process/random.ts';
import type { Actor } from '../store/change.ts';
import type { AddedAuditEntry } from '../store/maintenance.ts';
import { type Store, StoreUnavailable } from '../store/store.ts';
import type { ClientAddress } from './access/client-address.ts';
import type { FailedKeys } from './access/failed-keys.ts';
import type { Environment } from './auth.ts';
import { ApiError, BrokerUnavailable } from './problem.ts';

export interface ApiOptions {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** Names of a sandbox in requests from its own machine. */
  readonly names: readonly string[];
  /** The URLs that an endpoint may have. The sender applies the same policy again at every connection. */
  readonly egress: EndpointUrlPolicy;
  readonly rateLimitPerMinute: number;
  /** Pages of the event feed. */
  readonly feedRateLimitPerMinute: number;
  readonly testRateLimitPerMinute: number;
  /** The most endpoints of a merchant. */
  readonly endpointQuota: number;
  /** The most open streams of a key. */
  readonly streamsPerKey: number;
  /** Addresses and CIDRs of the proxies before the API. */
  readonly trustedProxies: readonly string[];
  /** The requests without a valid key that a client address may send in a minute. */
  readonly failedKeysPerMinute: number;
  /** The address of the console in links; empty: the name by which the platform asks for one. */
  readonly consoleUrl: string;
  /** The origins whose pages may embed the console. */
  readonly consoleFrameAncestors: readonly string[];
  /** When a failing endpoint is disabled, as the console says it. */
  readonly autoDisable: HealthPolicy;
  readonly consoleBrand: ConsoleBrand;
  /** The addresses from which webhooks are sent; none where they are not fixed. */
  readonly sources: readonly SourceAddress[];
  /** Null where the operator has not said where to report security problems. */
  readonly securityTxt: SecurityTxt | null;
  readonly limits?: Partial<ApiLimits>;
}

export interface ApiLimits {
  readonly bodyBytesMax: number;
  readonly producerBodyBytesMax: number;
  /** Producer requests handled at a time; each holds its body in memory. */
  readonly producerInFlightMax: number;
  readonly connectionsMax: number;
  /** The time within which a request's headers, and the whole request, must arrive. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /**
   * The longest wait of update, rotate and delete for the broker; then they respond that the change is committed but
   * pending.
   */
  readonly publishedWaitMs: number;
  /** The longest wait of a test or resend until the delivery log has the delivery. */
  readonly recordedWaitMs: number;
  readonly testWaitSecondsMax: number;
  /** The most open streams of this process. */
  readonly streamsMax: number;
  /** A stream on which nothing happens is sent a comment after this long, so that its connection stays. */
  readonly streamHeartbeatMs: number;
  /** The longest that a stream waits for a reader that takes nothing. */
  readonly streamStallMs: number;
  /** The time that running requests get after stop was called. */
  readonly stopGraceMs: number;
  /** The time that the response to an Idempotency-Key is kept. */
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
  streamsMax: 1024,
  streamHeartbeatMs: 15_000,
  streamStallMs: 10_000,
  stopGraceMs: 5000,
  answersKeptMs: 24 * 3600 * 1000,
};

export type ApiBroker = Pick<Broker, 'publishEvents' | 'publishTasks' | 'quarantine'> & {
  readonly stalls: Pick<Broker['stalls'], 'append'>;
  readonly deadLetters: Pick<Broker['deadLetters'], 'list'>;
};

/** The dependencies of the routes. */
export interface ApiContext {
  readonly store: Store;
  readonly broker: ApiBroker;
  /** Follows the stream that routers follow. */
  readonly directory: Pick<Directory, 'merchant' | 'endpointsOf'>;
  readonly keyRing: KeyRing;
  /** Checks a URL as senders would reach it. */
  readonly checkUrl: CheckUrl;
  readonly clock: Clock;
  readonly random: Random;
  readonly environment: Environment;
  readonly options: ApiOptions;
  readonly limits: ApiLimits;
  readonly clientAddress: ClientAddress;
  readonly failedKeys: FailedKeys;
  /** Whether an address is that of a proxy before the API, which stands for many clients. */
  readonly isProxy: (address: string) => boolean;
  /** Publishes directory changes. `published` resolves true once a change is on the stream, false after `timeoutMs`. */
  readonly relay: { published(outboxId: number, timeoutMs: number): Promise<boolean> };
  /** Fires when the station stops: waiting requests then respond with what they have. */
  readonly stopping: AbortSignal;
}

/** Returns the time in whole milliseconds, as it is stored and shown. */
export function wholeNow(clock: Clock): number {
  return Math.floor(clock.wall());
}

/** Returns the system's time in whole milliseconds: a sandbox's clock may be ahead, and people are not. */
export function systemNow(clock: Pick<Clock, 'wall' | 'system'>): number {
  return Math.floor(clock.system(clock.wall()));
}

/** Resolves when the change is in force everywhere; otherwise throws a 503, and the change stays. */
export async function awaitPublished(context: ApiContext, outboxId: number): Promise<void> {
  if (await context.relay.published(outboxId, context.limits.publishedWaitMs)) return;
  throw new ApiError('change_committed_pending', 'The senders have not received the change yet.', {
    headers: { 'Retry-After': '2' },
  });
}

/** Returns the author of what the request changes: its key, with the person for whom it asks, or its session of the console. */
export function actorOf({ locals }: Response): Actor {
  const requestId = String(locals.requestId);
  if (locals.portal) return { ...locals.portal, requestId };
  const named = locals.person === undefined ? {} : { person: String(locals.person) };
  return { kind: 'api_key', keyId: String(locals.keyId), ...named, requestId };
}

/** Adds an entry for what a merchant's key is about to have done on its endpoint, and the store does not record by itself. */
export function auditRequest(
  { store, clock }: Pick<ApiContext, 'store' | 'clock'>,
  response: Response,
  entry: Pick<AddedAuditEntry, 'merchantId' | 'endpointId' | 'action' | 'details'>,
): Promise<void> {
  return store.audit.add({ ...entry, at: clock.wall(), actor: actorOf(response) });
}

/** Awaits a publish; a rejection means that the outcome is unknown. */
export async function published<T>(publishing: Promise<T>): Promise<T> {
  try {
    return await publishing;
  } catch (error) {
    throw new BrokerUnavailable(messageOf(error));
  }
}

/** Awaits what the broker is asked for. An invalid position, and a store that cannot answer, stay what they are. */
export async function asked<T>(asking: Promise<T>): Promise<T> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof RangeError || error instanceof StoreUnavailable) throw error;
    throw new BrokerUnavailable(messageOf(error));
  }
}
