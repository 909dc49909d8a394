import { isoTime } from '../domain/iso-time.ts';
import { jsonText } from '../domain/json-text.ts';
import type { DeliveryTask } from '../domain/task.ts';
import type { Delivery } from './deliver.ts';

/**
 * Returns the log line of an attempt, as the members of its JSON object: every field that helps to understand it, and
 * no payload or secret. Built by hand, because every attempt needs one.
 */
export function attemptLine(
  task: DeliveryTask,
  { attempted, lateMs }: Extract<Delivery, { kind: 'attempted' }>,
): string {
  const { outcome, failureCode, failureDetail, response } = attempted;
  const durationMs = Math.round(attempted.durationMs * 10) / 10;
  const sinceAcceptedMs = Math.round(attempted.startedAt + attempted.durationMs - task.acceptedAt);
  const nextAt = outcome.kind === 'retry' ? `"${isoTime(outcome.dueAt)}"` : 'null';
  return (
    `"delivery":${jsonText(task.deliveryId)},"event":${jsonText(task.eventId)},` +
    `"endpoint":${jsonText(task.endpointId)},"endpoint_version":${attempted.endpointVersion},` +
    `"merchant":${jsonText(task.merchantId)},"type":"${task.type}","sub_type":${jsonText(task.subType)},` +
    `"trigger":"${task.trigger}","attempt":${task.attempt},"attempts_max":${task.attemptsMax},` +
    `"hop":${task.hop},"outcome":"${outcome.kind}",` +
    `"failure_code":${failureCode === null ? 'null' : jsonText(failureCode)},` +
    `"failure_detail":${failureDetail === null ? 'null' : jsonText(failureDetail)},` +
    `"response_status":${response?.status ?? null},"duration_ms":${durationMs},"late_ms":${Math.round(lateMs)},` +
    `"since_accepted_ms":${sinceAcceptedMs},"next_at":${nextAt}`
  );
}
