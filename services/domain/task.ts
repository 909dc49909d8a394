import type { ApiVersion } from './endpoint.ts';
import type { WebhookType } from './notices/notice.ts';

/**
 * Why a delivery exists. `live`: an event was routed, or hookrail has an operational notice. The others were requested by a
 * merchant or operator.
 */
export const TRIGGERS = ['live', 'test', 'manual', 'replay'] as const;
export type Trigger = (typeof TRIGGERS)[number];

/** A secret other than the one in force, by which a test may be signed. */
export type SignedWith = 'prepared';

/**
 * "Make attempt n of delivery d": the record on DELIVER and RETRY.
 *
 * Identity: (deliveryId, attempt, hop). The delivery id is deterministic, so a task that a crash produced
 * twice is recognised; `hop` distinguishes a parked task that comes back from such a copy.
 */
export interface DeliveryTask {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly merchantId: string;
  readonly endpointId: string;
  /** First attempts of one entity to one endpoint leave one after the other. */
  readonly entityId: string;
  /** The id of the event's subject (catalog/subject.ts); null: the entity. */
  readonly subjectId: string | null;
  /** Rises with the order in which the entity's events were accepted (catalog/sequence.ts); a resend has its event's. */
  readonly sequence: number;
  readonly type: WebhookType;
  readonly subType: string;
  readonly apiVersion: ApiVersion;
  readonly trigger: Trigger;
  /** 1 … attemptsMax. */
  readonly attempt: number;
  /** 7 for live deliveries, 1 for those requested by hand. */
  readonly attemptsMax: number;
  /** Milliseconds since the epoch; 0 = now. The attempt starts no earlier. */
  readonly dueAt: number;
  /** The number of times it was parked: put back without an attempt being counted. */
  readonly hop: number;
  /** When the event happened, milliseconds: the webhook-event-time header. */
  readonly occurredAt: number;
  /** When the event became durable in hookrail, milliseconds: the start of delivery latency. */
  readonly acceptedAt: number;
  /** The webhook's body, rendered once: every attempt sends these bytes. */
  readonly body: Uint8Array;
  /** The secret that signs a test; absent: the one in force. */
  readonly signedWith?: SignedWith;
  /** W3C traceparent that the attempts continue: the event's routing or, when that is not traced, the event. */
  readonly traceparent?: string;
  /** W3C traceparent of the previous attempt, if it was traced: the next one's span links to it. */
  readonly linkedSpan?: string;
  /** Set while it is parked, and until its attempt is made. */
  readonly parked?: Parking;
}

/** Why a task was put back without an attempt being counted. */
export const PARKED_REASONS = [
  'endpoint_full',
  'rate_limited_here',
  'merchant_paused',
  'secret_not_openable',
  'signing_key_missing',
  'machine_limit',
  'egress_proxy',
  'origin_connections',
  'network_down',
  'put_aside',
] as const;
export type ParkedReason = (typeof PARKED_REASONS)[number];

/** Why a task was put back the last time, and since when its attempt has been put off. */
export interface Parking {
  readonly reason: ParkedReason;
  /** Milliseconds since the epoch, by the clock of the process that first parked it. */
  readonly since: number;
}

/** The three classes of tasks. Each has a budget of its own, so a replay never delays live deliveries. */
export const TASK_CLASSES = ['live', 'test', 'replay'] as const;
export type TaskClass = (typeof TASK_CLASSES)[number];

/**
 * Returns a task's class. Tests and manual resends are served first, by their own budget; replays never take the live
 * budget.
 */
export function taskClass(task: Pick<DeliveryTask, 'trigger'>): TaskClass {
  switch (task.trigger) {
    case 'live':
      return 'live';
    case 'test':
    case 'manual':
      return 'test';
    case 'replay':
      return 'replay';
  }
}
