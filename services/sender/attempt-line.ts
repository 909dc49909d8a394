import type { DeliveryTask } from '../domain/task.ts';
import type { DeliverResult } from './deliver.ts';

/** Returns the fields of an attempt's log line: all that help to understand it, and no payload or secret. */
export function attemptLine(
  task: DeliveryTask,
  { attempted, lateMs }: Extract<DeliverResult, { kind: 'attempted' }>,
): Readonly<Record<string, string | number | null>> {
  const { outcome, startedAt, durationMs } = attempted;
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
    duration_ms: Math.round(durationMs * 10) / 10,
    late_ms: Math.round(lateMs),
    since_accepted_ms: Math.round(startedAt + durationMs - task.acceptedAt),
    next_at: outcome.kind === 'retry' ? new Date(outcome.dueAt).toISOString() : null,
  };
}
