import { transactionIdOf } from '../domain/catalog/subject.ts';
import type { DeliveryTask } from '../domain/task.ts';
import type { DeliverResult } from './deliver.ts';

/** pino's number for the level "info". */
const INFO = 30;

/** The time of the last line: many lines are written in one millisecond. */
let lastTime = { at: Number.NaN, text: '' };

/**
 * Returns the log line of an attempt: all that helps to understand it, and no payload or secret. It is the line that the
 * logger would write, put together here: every attempt has one, and a general serialiser takes four times as long.
 * `now`: the system's time, milliseconds since the epoch.
 */
export function attemptLine(
  task: DeliveryTask,
  { attempted, lateMs }: Extract<DeliverResult, { kind: 'attempted' }>,
  now: number,
): string {
  const { outcome, startedAt, durationMs, failureCode } = attempted;
  const nextAt = outcome.kind === 'retry' ? `"${new Date(outcome.dueAt).toISOString()}"` : 'null';
  // Values that hookrail has not chosen itself are quoted as JSON; ids of its own, codes and kinds need no escapes.
  return (
    `{"level":${INFO},"time":"${timeText(now)}","delivery":"${task.deliveryId}"` +
    `,"event":${JSON.stringify(task.eventId)},"endpoint":"${task.endpointId}"` +
    `,"endpoint_version":${attempted.endpointVersion},"merchant":${JSON.stringify(task.merchantId)}` +
    `,"type":"${task.type}","sub_type":${JSON.stringify(task.subType)},"trigger":"${task.trigger}"` +
    aboutText(task) +
    `,"attempt":${task.attempt},"attempts_max":${task.attemptsMax},"hop":${task.hop}` +
    `,"outcome":"${outcome.kind}","failure_code":${failureCode === null ? 'null' : `"${failureCode}"`}` +
    `,"failure_detail":${JSON.stringify(attempted.failureDetail)}` +
    `,"response_status":${attempted.response?.status ?? null}` +
    `,"duration_ms":${Math.round(durationMs * 10) / 10},"late_ms":${Math.round(lateMs)}` +
    `,"since_accepted_ms":${Math.round(startedAt + durationMs - task.acceptedAt)}` +
    `,"next_at":${nextAt},"msg":"attempt"}\n`
  );
}

/** The event's subject: the id that support asks for. */
function aboutText({ type, entityId, subjectId }: DeliveryTask): string {
  if (subjectId === null) return `,"subject":${JSON.stringify(entityId)}`;
  const subject = JSON.stringify(subjectId);
  return `,"subject":${subject}${transactionIdOf(type, subjectId) === null ? '' : `,"transaction":${subject}`}`;
}

function timeText(now: number): string {
  const at = Math.floor(now);
  if (at !== lastTime.at) lastTime = { at, text: new Date(at).toISOString() };
  return lastTime.text;
}
