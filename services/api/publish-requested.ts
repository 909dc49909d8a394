import { type RequestedDelivery, requestedTask } from '../domain/requested-task.ts';
import { pollUntil } from '../process/poll-until.ts';
import { type ApiContext, published, wholeNow } from './context.ts';

const LOOK_MS = 10;

/**
 * Publishes a requested delivery, and waits a moment until the delivery log has it, so that a caller can read it at
 * once. It is delivered in any case.
 */
export async function publishRequested(context: ApiContext, asked: RequestedDelivery): Promise<void> {
  const { broker, clock, limits, stopping, store } = context;
  await published(broker.publishTasks([requestedTask(asked, wholeNow(clock))]));
  const { merchantId, endpointId, deliveryId } = asked;
  const isRecorded = async () => (await store.log.delivery(merchantId, endpointId, deliveryId)) !== undefined;
  await pollUntil(clock, isRecorded, { everyMs: LOOK_MS, atMostMs: limits.recordedWaitMs, signal: stopping });
}
