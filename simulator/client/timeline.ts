import { formatCountdown, formatDuration } from '../../client/duration.ts';
import { endOf, plannedGap, scaleOf } from '../../client/schedule.ts';
import { ATTEMPTS_MAX, retryDelaySeconds } from '../../services/domain/retry.ts';
import { visible } from '../../services/domain/text/visible-text.ts';
import type { Output } from '../output.ts';
import { layout } from '../terminal/width.ts';
import type { EndpointName } from './endpoint-names.ts';
import type { AttemptAnswer, DeliveryDetailAnswer } from './merchant-api.ts';

/** The characters of a response that a line of the timeline shows. */
const SAID_MAX = 60;
const INDENT = '  ';

/**
 * A delivery's attempts as a timeline: what was made, with the gap before each, its status, latency and response; when
 * the next is due (`now`: milliseconds since the epoch); and the gaps that would follow.
 */
export function timeline(
  delivery: DeliveryDetailAnswer,
  endpoint: EndpointName,
  output: Output,
  now: number,
): string {
  const rows = delivery.attempts.map((attempt, i) =>
    attemptRow(attempt, delivery.attempts[i - 1], output, now),
  );
  const isPlanned = delivery.next_attempt_at !== null && delivery.attempts_made > 0;
  if (isPlanned) rows.push(nextRow(delivery, output, now));
  const name = `${delivery.type}/${delivery.subType}`;
  const state = paintStatus(delivery.status, output) + stateDetail(delivery);
  const where = endpoint.url === endpoint.label || endpoint.url === null ? [] : [visible(endpoint.url)];
  const head = output.row([output.paint('bold', name), state, visible(endpoint.label), ...where]);
  const table = rows.length === 0 ? [] : layout.columns(rows, output.width - INDENT.length).split('\n');
  const lines = [...table, ...(isPlanned ? laterGaps(delivery) : []), ...waits(delivery)];
  return [head, ...lines.map((line) => INDENT + line)].join('\n');
}

function stateDetail(delivery: DeliveryDetailAnswer): string {
  const { status, attempts_made: made, attempts_max: max, cancel_reason: reason, trigger } = delivery;
  const attempts =
    status === 'pending' && made === 0
      ? 'no attempt yet'
      : `${made} of ${max} attempt${max === 1 ? '' : 's'}`;
  const asked = trigger === 'live' ? '' : `, ${trigger === 'manual' ? 'a resend' : `a ${trigger}`}`;
  const why = reason === null ? '' : ` (${reason.replaceAll('_', ' ')})`;
  return `${why}, ${attempts}${asked}`;
}

/** Says why a delivery waits for other reasons than its schedule. */
function waits({ held, parked_reason: parked }: DeliveryDetailAnswer): readonly string[] {
  if (held) return [`on hold: the operator has paused the merchant; it continues afterwards`];
  if (parked === null) return [];
  return [`due, but waiting (${parked.replaceAll('_', ' ')}); no attempt is counted meanwhile`];
}

function attemptRow(
  attempt: AttemptAnswer,
  before: AttemptAnswer | undefined,
  output: Output,
  now: number,
): readonly string[] {
  const isFailed = attempt.failure_code !== null;
  const mark = isFailed ? output.paint('red', '✗') : output.paint('green', '✓');
  const gap = before ? Date.parse(attempt.started_at) - endOf(before) : 0;
  return [
    `${mark} ${attempt.number}`,
    clockTime(attempt.started_at, now, 'milliseconds'),
    before ? `+${formatDuration(Math.max(0, gap))}` : '',
    attempt.response_status === null ? '' : String(attempt.response_status),
    formatDuration(attempt.duration_ms),
    resultOf(attempt),
  ];
}

/** Returns the time of day in UTC, with the date when it is not today. */
export function clockTime(at: string, now: number, digits: 'seconds' | 'milliseconds'): string {
  const iso = new Date(at).toISOString();
  const isToday = iso.slice(0, 10) === new Date(now).toISOString().slice(0, 10);
  return isToday ? iso.slice(11, digits === 'seconds' ? 19 : 23) : `${iso.slice(5, 10)} ${iso.slice(11, 19)}`;
}

/** Returns what the receiver answered, on one line, or why there was no answer. */
function resultOf(attempt: AttemptAnswer): string {
  const {
    response_status: status,
    response_body: body,
    failure_code: code,
    failure_detail: detail,
  } = attempt;
  if (status === null) return visible([code, detail].filter(Boolean).join(': '));
  const text = (body ?? '').replace(/\s+/g, ' ').trim();
  if (text === '') return code === null || code.startsWith('http_') ? '' : visible(detail ?? code);
  const shown = text.length > SAID_MAX ? `${text.slice(0, SAID_MAX - 1)}…` : text;
  return visible(`"${shown}"`);
}

function nextRow(delivery: DeliveryDetailAnswer, output: Output, now: number): readonly string[] {
  const waitMs = Date.parse(delivery.next_attempt_at ?? '') - now;
  const due = waitMs > 0 ? `in ${formatCountdown(waitMs)}` : 'due now';
  const gapMs = plannedGap(delivery);
  const gap = gapMs === undefined ? '' : `+${formatDuration(gapMs)}`;
  return [`${output.paint('yellow', '…')} ${delivery.attempts_made + 1}`, due, gap, '', '', ''];
}

/** Returns a line with the gaps of the attempts after the next one. */
function laterGaps(delivery: DeliveryDetailAnswer): readonly string[] {
  const next = delivery.attempts_made + 1;
  const max = Math.min(delivery.attempts_max, ATTEMPTS_MAX);
  if (next >= max) return [];
  const scale = scaleOf(next - 1, plannedGap(delivery));
  const gaps = Array.from({ length: max - next }, (_, i) => retryDelaySeconds(next + i)).map(
    (seconds) => `+${formatDuration((seconds * 1000) / scale)}`,
  );
  const numbers = next + 1 === max ? String(max) : `${next + 1} … ${max}`;
  return [`· ${numbers}  ${gaps.join(' · ')}`];
}

/** Colours a status: green for delivered, yellow for in progress, red for given up. */
export function paintStatus(status: string, output: Output): string {
  if (status === 'delivered' || status === 'active') return output.paint('green', status);
  if (status === 'pending' || status === 'failed' || status === 'disabled')
    return output.paint('yellow', status);
  return output.paint('red', status);
}
