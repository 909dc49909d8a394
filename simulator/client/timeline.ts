import { ATTEMPTS_MAX, retryDelaySeconds } from '../../services/domain/retry.ts';
import { visible } from '../../services/domain/text/visible-text.ts';
import { formatDuration } from '../duration.ts';
import type { Output } from '../output.ts';
import type { AttemptAnswer, DeliveryDetailAnswer } from './merchant-api.ts';

/**
 * A delivery's attempts as a timeline: what was made, with the gap before each, its status and latency; when the next
 * is due (`now`: milliseconds since the epoch); and what would follow if it failed.
 */
export function timeline(delivery: DeliveryDetailAnswer, output: Output, now: number): string {
  const rows = delivery.attempts.map((attempt, i) => attemptRow(attempt, delivery.attempts[i - 1], output));
  if (delivery.next_attempt_at !== null) rows.push(...plannedRows(delivery, output, now));
  const head = [
    `${output.paint('bold', `${delivery.type}/${delivery.subType}`)}  ${paintStatus(delivery.status, output)}` +
      (delivery.cancel_reason === null ? '' : ` (${delivery.cancel_reason})`),
    `delivery ${delivery.delivery_uuid}`,
    `event    ${delivery.event_uuid}`,
    `endpoint ${delivery.endpoint_uuid}`,
  ];
  const none = delivery.status === 'cancelled' ? 'no attempt was made' : 'no attempt yet';
  return [...head, '', rows.length === 0 ? none : output.table(rows)].join('\n');
}

function attemptRow(attempt: AttemptAnswer, before: AttemptAnswer | undefined, output: Output): string[] {
  const failed = attempt.failure_code !== null;
  const mark = failed ? output.paint('red', '✗') : output.paint('green', '✓');
  const startedAt = Date.parse(attempt.started_at);
  const gap = before ? startedAt - (Date.parse(before.started_at) + before.duration_ms) : 0;
  return [
    `${mark} ${attempt.number}`,
    attempt.started_at,
    before ? `+ ${formatDuration(Math.max(0, gap))}` : '',
    attempt.response_status === null ? (attempt.failure_code ?? '-') : String(attempt.response_status),
    formatDuration(attempt.duration_ms),
    failed ? visible(attempt.failure_detail ?? attempt.failure_code ?? '') : 'delivered',
  ];
}

function plannedRows(delivery: DeliveryDetailAnswer, output: Output, now: number): string[][] {
  const rows: string[][] = [];
  const dueAt = Date.parse(delivery.next_attempt_at ?? '');
  const waits = dueAt - now;
  const next = delivery.attempts_made + 1;
  const due = waits > 0 ? `due in ${formatDuration(waits)}` : 'due now';
  rows.push([`${output.paint('yellow', '…')} ${next}`, delivery.next_attempt_at ?? '', '', '', '', due]);
  for (let number = next + 1; number <= Math.min(delivery.attempts_max, ATTEMPTS_MAX); number += 1) {
    const delay = formatDuration(retryDelaySeconds(number - 1) * 1000);
    rows.push([`· ${number}`, '', `+ ${delay}`, '', '', `if attempt ${number - 1} fails`]);
  }
  return rows;
}

/** Colours a status: green for delivered, yellow for in progress, red for given up. */
export function paintStatus(status: string, output: Output): string {
  if (status === 'delivered' || status === 'active') return output.paint('green', status);
  if (status === 'pending' || status === 'failed' || status === 'disabled')
    return output.paint('yellow', status);
  return output.paint('red', status);
}
