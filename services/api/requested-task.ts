import type { PublishedTask } from '../broker/broker.ts';
import type { DeliveryTask, Trigger } from '../domain/task.ts';
import { lookUntil } from '../runtime/look-until.ts';
import { type ApiContext, published, wholeNow } from './context.ts';

const LOOK_MS = 10;

/** A requested delivery: a test, a resend, a replay. */
export interface RequestedDelivery
  extends Pick<
    DeliveryTask,
    | 'deliveryId'
    | 'eventId'
    | 'merchantId'
    | 'endpointId'
    | 'entityId'
    | 'type'
    | 'subType'
    | 'apiVersion'
    | 'attemptsMax'
    | 'occurredAt'
    | 'body'
  > {
  readonly trigger: Exclude<Trigger, 'live'>;
}

/**
 * Returns its first task, due now, with the journal entry that announces it. `at`: whole milliseconds since the epoch.
 */
export function requestedTask(asked: RequestedDelivery, at: number): PublishedTask {
  // A copy of its own: the renderer's may be a view of something larger.
  const body = Uint8Array.from(asked.body);
  const task: DeliveryTask = { ...asked, attempt: 1, dueAt: 0, hop: 0, acceptedAt: at, body };
  return { task, journal: [{ kind: 'requested', at, delivery: task, body }] };
}

/**
 * Publishes it, and waits a moment until the delivery log has it, so that a caller can read the delivery at once. It is
 * delivered in any case.
 */
export async function publishRequested(context: ApiContext, asked: RequestedDelivery): Promise<void> {
  const { broker, clock, limits, stopping, store } = context;
  await published(broker.publishTasks([requestedTask(asked, wholeNow(clock))]));
  const { merchantId, endpointId, deliveryId } = asked;
  const isRecorded = async () => (await store.log.delivery(merchantId, endpointId, deliveryId)) !== undefined;
  await lookUntil(clock, isRecorded, { everyMs: LOOK_MS, atMostMs: limits.recordedWaitMs, signal: stopping });
}
