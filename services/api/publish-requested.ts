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
  const createdAt = wholeNow(clock);
  await published(broker.publishTasks([requestedTask(asked, createdAt)]));
  const isRecorded = () => store.log.isRecorded(asked.deliveryId, createdAt);
  await pollUntil(clock, isRecorded, { everyMs: LOOK_MS, atMostMs: limits.recordedWaitMs, signal: stopping });
}
