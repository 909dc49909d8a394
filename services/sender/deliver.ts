import type { KeyObject } from 'node:crypto';
import type { PutAside, Settlement } from '../broker/broker.ts';
import type { FailureCode } from '../domain/attempt.ts';
import type { Directory } from '../domain/directory.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import type { Attempted, DeadLetter, DeliveryHead } from '../domain/journal.ts';
import { type CancelReason, cancelReason, decide } from '../domain/outcome.ts';
import { parkTask } from '../domain/parking.ts';
import { ATTEMPTS_MAX, type Tier, tierLasting } from '../domain/retry.ts';
import { attemptLabel, type Culprits, keepLabel } from '../domain/stalls/stall.ts';
import type { DeliveryTask, ParkedReason, SignedWith } from '../domain/task.ts';
import type { Clock } from '../process/clock.ts';
import { type Activity, NOT_WATCHED } from '../watchdog/activity.ts';
import type { Pace, Posted, Transport } from './http/transport.ts';
import type { NetworkWatch } from './network-watch.ts';
import type { OwnFaults } from './own-faults.ts';
import { buildRequest, type OpenedEndpoint } from './request.ts';

/** Tasks waiting for an operator are tried again every minute this many times, then every twelve minutes. */
const HOPS_SOON = 10;
/** The shortest delay before a task that failed through our own fault is retried. */
const AGAIN_SECONDS = 3;

export interface DeliverDeps {
  readonly directory: Directory;
  /** Returns the endpoint with its secret opened, or null when it cannot be opened (the opener logs the reason). */
  readonly open: (endpoint: Endpoint, signedWith?: SignedWith) => OpenedEndpoint | null;
  /** Returns the platform's key that signs at a time, by the system's clock; absent: there is none at any time. */
  readonly platformKey?: (at: number) => KeyObject | null;
  readonly transport: Transport;
  readonly network: NetworkWatch;
  /** Logs why attempts wait through our own fault; absent: nothing is logged. */
  readonly ownFaults?: OwnFaults;
  readonly clock: Clock;
  /** Divides the retry delays; 1 in production. */
  readonly retryScale: number;
  /** Knows what stops processes; absent: nothing is known to. */
  readonly culprits?: Culprits | undefined;
  /** Tells the watchdog what this process is busy with; absent: there is none. */
  readonly activity?: Activity | undefined;
}

/** The result of a task: what must become durable, and what the lanes, metrics and log need. */
export type DeliverResult =
  | {
      readonly kind: 'attempted';
      readonly settlement: Settlement;
      readonly attempted: Attempted;
      readonly posted: Posted;
      /** The delay between its due time and its start; 0 for a task due at once. */
      readonly lateMs: number;
      /** Scheme, host and port that it was sent to. */
      readonly origin: string;
    }
  | { readonly kind: 'cancelled'; readonly settlement: Settlement; readonly reason: CancelReason }
  | {
      readonly kind: 'parked';
      readonly settlement: Settlement;
      readonly why: ParkedReason;
      readonly tier: Tier;
    }
  | { readonly kind: 'aside'; readonly settlement: Settlement; readonly aside: PutAside }
  | { readonly kind: 'interrupted'; readonly settlement: Settlement };

/** Told once, in a later turn, what came of a task. A promise would cost every attempt four. */
export interface DeliveryOwner {
  made(result: DeliverResult): void;
  /** A fault of ours: nothing is known of the attempt. */
  failed(error: unknown): void;
}

/** Delivers one task: look up → open → build → send → classify → decide → settle. Never throws. */
export function deliver(task: DeliveryTask, deps: DeliverDeps, owner: DeliveryOwner, pace?: Pace): void {
  const { activity = NOT_WATCHED } = deps;
  const label = attemptLabel(task);
  const tell = (find: () => DeliverResult) => {
    keepLabel(task, label);
    activity.within(label, () => {
      let result: DeliverResult;
      try {
        result = find();
      } catch (error) {
        owner.failed(error);
        return;
      }
      owner.made(result);
    });
  };
  try {
    const ended = (begun: Begun, posted: Posted) => tell(() => end(task, deps, begun, posted));
    const instead = activity.within(label, () => begin(task, deps, label, ended, pace));
    if (instead) queueMicrotask(() => tell(() => instead));
  } catch (error) {
    queueMicrotask(() => owner.failed(error));
  }
}

/** An attempt that is in flight. */
interface Begun {
  readonly endpoint: Endpoint;
  readonly opened: OpenedEndpoint;
  readonly startedAt: number;
  readonly sentAt: number;
  readonly signature: string;
}

/** Starts the attempt, or returns why none is made. */
function begin(
  task: DeliveryTask,
  deps: DeliverDeps,
  label: string,
  ended: (begun: Begun, posted: Posted) => void,
  pace?: Pace,
): DeliverResult | null {
  const { clock, directory, transport } = deps;

  // A record that was changed by others decides nothing: neither where to send, nor that there is nothing to send.
  if (directory.isHeld(task.merchantId, task.endpointId))
    return parked(task, heldTier(task), 'secret_not_openable', deps);
  // The endpoint as it is now: it may have been disabled, deleted, moved or rotated while the task waited.
  const endpoint = directory.endpoint(task.endpointId);
  const reason = whyCancelled(task, endpoint);
  if (!endpoint || reason) return cancelled(task, reason ?? 'endpoint_deleted', clock.wall());
  if (directory.merchant(task.merchantId)?.state === 'paused')
    return parked(task, heldTier(task), 'merchant_paused', deps);

  const stalls = deps.culprits?.ofTask(task, clock.wall());
  if (stalls) return aside(task, stalls, clock.wall());

  const opened = deps.open(endpoint, task.signedWith);
  if (!opened) return parked(task, heldTier(task), 'secret_not_openable', deps);

  const startedAt = clock.now();
  const sentAt = clock.wall(startedAt);
  const at = clock.system(sentAt);
  const platformKey = endpoint.publicKeySignature ? (deps.platformKey?.(at) ?? null) : undefined;
  // Without it, receivers that rely on it would refuse the request, and all its attempts.
  if (platformKey === null) return parked(task, heldTier(task), 'signing_key_missing', deps);
  const { request, signature } = buildRequest(task, opened, at, label, platformKey);
  const begun = { endpoint, opened, startedAt, sentAt, signature };
  transport.post(request, pace, (posted) => ended(begun, posted));
  return null;
}

/** Decides what follows an attempt. */
function end(task: DeliveryTask, deps: DeliverDeps, begun: Begun, posted: Posted): DeliverResult {
  const { clock } = deps;
  const { endpoint, opened, startedAt, sentAt, signature } = begun;
  const { exchange, endedAt } = posted;

  if (exchange.kind === 'interrupted') return { kind: 'interrupted', settlement: { kind: 'released' } };
  const to = { endpointId: endpoint.uuid, origin: opened.origin };
  const isNetwork = !posted.ownFault && deps.network.isOurFault(posted.sign, to, task.hop, endedAt);
  const heldBy = isNetwork ? 'network_down' : posted.ownFault;
  if (heldBy) {
    deps.ownFaults?.note(heldBy, exchange.kind === 'failed' ? exchange.detail : '', opened.origin);
    return parked(task, tierLasting(AGAIN_SECONDS, deps.retryScale), heldBy, deps);
  }

  const outcome = decide(task, exchange, endedAt, deps.retryScale);
  const isFailed = exchange.kind === 'failed';
  const attempted: Attempted = {
    kind: 'attempted',
    delivery: headOf(task),
    endpointVersion: endpoint.version,
    startedAt: sentAt,
    durationMs: endedAt - startedAt,
    outcome: outcome.kind === 'retry' ? { ...outcome, dueAt: clock.wall(outcome.dueAt) } : outcome,
    failureCode: isFailed ? exchange.failureCode : null,
    failureDetail: isFailed ? exchange.detail : exchange.fault,
    response: exchange.response,
    signature,
  };
  const { origin } = opened;
  const lateMs = task.dueAt === 0 ? 0 : startedAt - task.dueAt;
  const dueAt = outcome.kind === 'retry' ? outcome.dueAt : 0;
  const settlement = settle(task, attempted, { dueAt, endedAt: clock.wall(endedAt) });
  return { kind: 'attempted', settlement, attempted, posted, lateMs, origin };
}

/** Tests reach disabled endpoints too, so that a merchant can test before enabling. */
function whyCancelled(task: DeliveryTask, endpoint: Endpoint | undefined): CancelReason | null {
  if (!endpoint || endpoint.merchantId !== task.merchantId) return 'endpoint_deleted';
  if (task.signedWith !== undefined && !endpoint.prepared) return 'endpoint_changed';
  return task.trigger === 'test' ? null : cancelReason(endpoint);
}

/**
 * Returns the settlement for the broker: the end of the delivery, its next attempt, or the dead letter of a full
 * schedule. `dueAt`: of the next attempt, by this process's clock. `endedAt`: by the system's time.
 */
function settle(
  task: DeliveryTask,
  attempted: Attempted,
  { dueAt, endedAt }: { readonly dueAt: number; readonly endedAt: number },
): Settlement {
  const { outcome, failureCode } = attempted;
  const journal = [attempted];
  switch (outcome.kind) {
    case 'delivered':
      return { kind: 'settled', journal };
    case 'retry': {
      const { parked: _parked, ...tried } = task;
      const next = { ...tried, attempt: task.attempt + 1, hop: 0, dueAt };
      return { kind: 'settled', journal, next };
    }
    case 'exhausted':
    case 'refused':
      // The delivery log reports a single requested attempt; operators do not handle it.
      if (task.attemptsMax < ATTEMPTS_MAX || failureCode === null) return { kind: 'settled', journal };
      return { kind: 'settled', journal, dead: deadLetter(task, outcome.kind, failureCode, endedAt) };
  }
}

function deadLetter(
  task: DeliveryTask,
  reason: DeadLetter['reason'],
  failureCode: FailureCode,
  at: number,
): DeadLetter {
  return { task, reason, failureCode, at };
}

function cancelled(task: DeliveryTask, reason: CancelReason, at: number): DeliverResult {
  const entry = { kind: 'cancelled', at, delivery: headOf(task), reason } as const;
  return { kind: 'cancelled', settlement: { kind: 'settled', journal: [entry] }, reason };
}

function parked(
  task: DeliveryTask,
  tier: Tier,
  why: ParkedReason,
  { clock, retryScale }: Pick<DeliverDeps, 'clock' | 'retryScale'>,
): DeliverResult {
  const settlement = parkTask(task, tier, why, { now: clock.wall(), retryScale });
  return { kind: 'parked', settlement, why, tier };
}

/** The journal tells the merchant that the delivery waits; the quarantine keeps the task for operators. */
function aside(task: DeliveryTask, stalls: string, at: number): DeliverResult {
  const entry = { kind: 'parked', at, delivery: headOf(task), reason: 'put_aside', until: null } as const;
  const detail = `attempt ${task.attempt} of delivery ${task.deliveryId} is not made: ${stalls}`;
  const record = { reason: 'attempt_stalled', detail, at } as const;
  return {
    kind: 'aside',
    settlement: { kind: 'settled', journal: [entry], aside: record },
    aside: record,
  };
}

/**
 * Returns the tier of a held task. A merchant may be on hold for days, which must not keep the streams busy for as
 * long.
 */
function heldTier({ hop }: Pick<DeliveryTask, 'hop'>): Tier {
  return hop < HOPS_SOON ? 66 : 731;
}

/** Copies field by field: this runs for every attempt, and spreading costs several times as much. */
function headOf(task: DeliveryTask): DeliveryHead {
  return {
    deliveryId: task.deliveryId,
    eventId: task.eventId,
    merchantId: task.merchantId,
    endpointId: task.endpointId,
    entityId: task.entityId,
    subjectId: task.subjectId,
    sequence: task.sequence,
    type: task.type,
    subType: task.subType,
    apiVersion: task.apiVersion,
    trigger: task.trigger,
    attempt: task.attempt,
    attemptsMax: task.attemptsMax,
    occurredAt: task.occurredAt,
    acceptedAt: task.acceptedAt,
  };
}
