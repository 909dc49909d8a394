import type { DeliveryTask } from '../domain/task.ts';
import type { Delivery } from './deliver.ts';

/** The one line an attempt leaves in the log: every field that helps to understand it, and no payload or secret. */
export function attemptLine(
  task: DeliveryTask,
  { attempted, posted }: Extract<Delivery, { kind: 'attempted' }>,
): Record<string, unknown> {
  const { outcome } = attempted;
  return {
    delivery: task.deliveryId,
    event: task.eventId,
    endpoint: task.endpointId,
    endpoint_version: attempted.endpointVersion,
    merchant: task.merchantId,
    type: task.type,
    sub_type: task.subType,
    trigger: task.trigger,
    attempt: task.attempt,
    attempts_max: task.attemptsMax,
    hop: task.hop,
    outcome: outcome.kind,
    failure_code: attempted.failureCode,
    failure_detail: attempted.failureDetail,
    response_status: attempted.response?.status ?? null,
    duration_ms: Math.round(attempted.durationMs * 10) / 10,
    late_ms: task.dueAt === 0 ? 0 : Math.round(attempted.startedAt - task.dueAt),
    since_accepted_ms: Math.round(posted.endedAt - task.acceptedAt),
    next_at: outcome.kind === 'retry' ? new Date(outcome.dueAt).toISOString() : null,
  };
}
