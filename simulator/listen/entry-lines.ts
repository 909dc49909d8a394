import { formatDuration } from '../../client/duration.ts';
import { visible } from '../../services/domain/text/visible-text.ts';
import type { Output } from '../output.ts';
import { prettyBody, verdictText, withoutSecret } from '../receiver/arrival-lines.ts';
import { firstWords } from '../receiver/body-summary.ts';
import { layout } from '../terminal/width.ts';
import type { AppAnswer, ForwardResult } from './forward.ts';
import type { ForwardTarget } from './forward-target.ts';
import { type Entry, failedChecks } from './intake.ts';

/** The length of the usual names: columns stay where they are. */
const TITLE_WIDTH = 27;
const STATUS_WIDTH = 3;
const TOOK_WIDTH = 6;

/** The result of a request, without its content. */
interface Told {
  readonly status: string;
  readonly isGood: boolean;
  /** Why it is not good. */
  readonly why: string;
}

/** Formats an entry: one line where it fits. */
export function entryLine(entry: Entry, target: ForwardTarget, output: Output): string {
  const { status, isGood, why } = toldOf(entry, target);
  const { title, text } = entry.summary;
  const took = formatDuration(entry.durationMs);
  const start = [
    output.paint('dim', timeOf(entry)),
    title.padEnd(TITLE_WIDTH),
    output.paint(isGood ? 'green' : 'red', status.padStart(STATUS_WIDTH)),
    took.padStart(TOOK_WIDTH),
  ].join('  ');
  const isForged = entry.verdict?.authentic === false && entry.result.kind !== 'refused';
  const cells = [
    start,
    attemptOf(entry),
    isGood || followsOf(entry) === '' ? '' : output.paint('yellow', followsOf(entry)),
    why === '' ? text : output.paint('red', why),
    isForged && entry.verdict ? output.paint('yellow', `not authentic: ${failedChecks(entry.verdict)}`) : '',
  ];
  return layout.foldRow(
    cells.filter((cell) => cell !== ''),
    output.width,
    'hh:mm:ss  '.length,
  );
}

/** Returns an entry as data. The secret is left out: the output ends up in CI logs. */
export function entryJson(entry: Entry, target: ForwardTarget): object {
  const { attempt, headers, result, summary } = entry;
  return {
    kind: 'event',
    number: entry.number,
    at: new Date(entry.at).toISOString(),
    type: summary.type ?? null,
    subType: summary.subType ?? null,
    outcome: outcomeOf(entry),
    status: statusOf(result),
    detail: toldOf(entry, target).why || null,
    latency_ms: entry.durationMs,
    attempt: Number(headers['webhook-attempt'] ?? Number.NaN) || null,
    attempts_max: attempt?.attempts_max ?? null,
    next_attempt_at: attempt?.next_attempt_at ?? null,
    trigger: attempt?.trigger ?? null,
    event_uuid: headers['webhook-id'] ?? null,
    delivery_uuid: headers['webhook-delivery-id'] ?? null,
    verdict: entry.verdict,
    headers: withoutSecret(headers),
    body: entry.body.toString('utf8'),
    response:
      result.kind === 'answered' ? { headers: result.headers, body: result.body.toString('utf8') } : null,
  };
}

/** Formats everything that is known of an entry: the request, the verdict, and the app's answer. */
export function entryDetails(entry: Entry, target: ForwardTarget, output: Output): string {
  const { result, verdict } = entry;
  const headers = Object.entries(withoutSecret(entry.headers)).map(nameAndValue);
  const lines = [
    output.paint('bold', `request ${entry.number}  ${entry.method} ${target.url.href}`),
    ...headers,
    '',
    prettyBody(entry.body),
    '',
    output.paint('bold', 'signature'),
    verdict === null ? 'not verified' : verdictText(verdict, output),
    '',
    output.paint('bold', `answer  ${toldOf(entry, target).status}  ${formatDuration(entry.durationMs)}`),
    ...(result.kind === 'answered' ? answerLines(result) : [toldOf(entry, target).why]),
    ...[attemptOf(entry), followsOf(entry)].filter((line) => line !== ''),
  ];
  return lines.map((line) => (line === '' ? line : line.replace(/^/gm, '  '))).join('\n');
}

/** Returns the time of an entry, in UTC as everywhere. */
export function timeOf({ at }: Entry): string {
  return new Date(at).toISOString().slice(11, 19);
}

/** Returns the status that hookrail got; null when it hung up before. */
export function statusOf(result: Entry['result']): number | null {
  switch (result.kind) {
    case 'answered':
      return result.status;
    case 'refused':
      return 401;
    case 'unreachable':
      return 502;
    case 'given-up':
      return null;
  }
}

function outcomeOf({ result }: Entry): 'forwarded' | 'refused' | 'unreachable' | 'timeout' {
  if (result.kind === 'answered') return 'forwarded';
  return result.kind === 'given-up' ? 'timeout' : result.kind;
}

function toldOf({ result, verdict, durationMs }: Entry, target: ForwardTarget): Told {
  const status = String(statusOf(result) ?? '-');
  switch (result.kind) {
    case 'answered': {
      const isGood = result.status >= 200 && result.status < 300;
      return { status, isGood, why: isGood ? '' : failureWords(result) };
    }
    case 'refused': {
      const why = `refused, not forwarded: ${verdict === null ? '' : failedChecks(verdict)}`;
      return { status, isGood: false, why };
    }
    case 'unreachable':
      return { status, isGood: false, why: unreachableWords(result, target) };
    case 'given-up': {
      const why = `hung up on after ${formatDuration(durationMs)}: answer first, work afterwards`;
      return { status, isGood: false, why };
    }
  }
}

/** Why an answer is no success, in the app's own words where it has any. */
function failureWords({ status, headers, body }: AppAnswer): string {
  const { location } = headers;
  if (status >= 300 && status < 400) {
    return `hookrail follows no redirect${location === undefined ? '' : ` (to ${visible(location)})`}`;
  }
  return firstWords(body, headers['content-type']);
}

/** Says why the app could not be asked. */
function unreachableWords(
  { code }: Extract<ForwardResult, { kind: 'unreachable' }>,
  { host, url }: ForwardTarget,
): string {
  if (code === 'ECONNREFUSED') return `nothing listens at ${host}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `${url.hostname} has no address (${code})`;
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'your app closed the connection without an answer';
  if (code.startsWith('HPE_')) return `your app's answer is not HTTP (${code})`;
  if (code.startsWith('ERR_SSL') || code === 'EPROTO')
    return `${host} does not speak TLS: forward to http://`;
  return `your app cannot be reached (${visible(code)})`;
}

/** How it came about, unless it is the first attempt of an event. */
function attemptOf({ headers, attempt }: Entry): string {
  const number = headers['webhook-attempt'] ?? '1';
  const how = { manual: 'resent', replay: 'replayed', test: 'test' }[attempt?.trigger ?? ''];
  if (how !== undefined) return number === '1' ? how : `${how}, attempt ${visible(number)}`;
  if (headers['webhook-test'] !== undefined) return 'test';
  return number === '1' ? '' : `attempt ${visible(number)}`;
}

/** The next thing that hookrail does. */
function followsOf({ attempt }: Entry): string {
  switch (attempt?.outcome) {
    case 'retry': {
      if (attempt.next_attempt_at === null) return '';
      const endedAt = Date.parse(attempt.started_at) + attempt.duration_ms;
      return `retry in ${formatDuration(Date.parse(attempt.next_attempt_at) - endedAt)}`;
    }
    case 'exhausted':
      return attempt.attempts_max === 1 ? 'no retry' : 'given up';
    case 'refused':
      return 'given up: 410 disables the endpoint';
    default:
      return '';
  }
}

function answerLines({ headers, body, bodyBytes }: AppAnswer): string[] {
  const cut = bodyBytes > body.length ? [`… ${bodyBytes} bytes in all`] : [];
  const text = body.length === 0 ? '(no body)' : prettyBody(body);
  return [...Object.entries(headers).map(nameAndValue), '', text, ...cut, ''];
}

function nameAndValue([name, value]: readonly [string, string]): string {
  return `${visible(name)}: ${visible(value)}`;
}
