import { formatDuration } from '../../client/duration.ts';
import type { ServiceClock } from '../../client/service-clock.ts';
import { visible } from '../../services/domain/text/visible-text.ts';
import { limitReached } from '../client/api-client.ts';
import { type EndpointName, endpointJson } from '../client/endpoint-names.ts';
import type { Watched, WatchedAttempt, WatchedDelivery, WatchNews } from '../client/watch-news.ts';
import { isIdleListener } from '../listen/listen-endpoint.ts';
import type { Output } from '../output.ts';
import type { Sent } from '../sinks/sinks.ts';
import { layout, shownLength } from '../terminal/width.ts';
import type { PlannedStep } from './plan.ts';

/** The longest word of a line is "delivered". */
const WORD_WIDTH = 9;
/** A terminal that has room for the whole line. */
const WIDE = 110;
/** The longest label of an endpoint; a longer one is shortened. */
const LABEL_MAX = 24;

interface Name {
  readonly type: string;
  readonly subType: string;
}

/** Prints the lines of a run: one per step that is sent, one per attempt that is recorded. */
export class LiveLines {
  readonly #output: Output;
  readonly #clock: ServiceClock;
  readonly #width: number;
  readonly #names = new Map<string, Name>();
  #labelWidth = 0;

  constructor(output: Output, steps: readonly PlannedStep[], clock: ServiceClock) {
    this.#output = output;
    this.#clock = clock;
    for (const { id, event } of steps) this.#names.set(id, { type: event.type, subType: event.subType });
    this.#width = Math.max(0, ...[...this.#names.values()].map((name) => nameText(name).length));
  }

  sent(step: PlannedStep, { status, detail }: Sent, sentAt: number): void {
    const output = this.#output;
    const datum = {
      kind: 'sent',
      step: step.id,
      ...this.#names.get(step.id),
      event_uuid: step.event.eventId,
      at: iso(sentAt),
      status,
      detail,
    };
    const word = status === 'accepted' ? 'sent' : status === 'duplicate' ? 'sent before' : status;
    const note = status === 'duplicate' ? 'the same event id: it is not delivered again' : (detail ?? '');
    output.item(datum, () => this.#line(sentAt, '→', step.id, [], word, note));
  }

  news(news: WatchNews): void {
    switch (news.kind) {
      case 'attempt':
        this.#attempt(news.watched, news.delivery, news.attempt);
        break;
      case 'cancelled':
        this.#cancelled(news.watched, news.delivery);
        break;
      case 'skipped':
        this.#skipped(news.watched);
        break;
      case 'limited':
        this.#paused(news.kind, news.waitMs, limitReached(news.waitMs));
        break;
      case 'lost': {
        const waits = formatDuration(news.waitMs);
        this.#paused(news.kind, news.waitMs, `the connection to the API is lost; trying again in ${waits}`);
      }
    }
  }

  #attempt(watched: Watched, delivery: WatchedDelivery, attempt: WatchedAttempt): void {
    const output = this.#output;
    const failed = attempt.failure_code !== null;
    const datum = {
      kind: 'attempt',
      ...this.#idsOf(watched, delivery),
      number: attempt.number,
      status: failed ? 'failed' : 'delivered',
      response_status: attempt.response_status,
      failure_code: attempt.failure_code,
      duration_ms: attempt.duration_ms,
      next_attempt_at: attempt.next_attempt_at,
    };
    output.item(datum, () => {
      const mark = failed ? output.paint('red', '✗') : output.paint('green', '✓');
      const endedAt = Date.parse(attempt.started_at) + attempt.duration_ms;
      const status = attempt.response_status ?? attempt.failure_code ?? '';
      const took = `${status} in ${formatDuration(attempt.duration_ms)}`;
      const rest =
        output.width < WIDE
          ? shortResult(attempt, endedAt, took)
          : `${took}, ${whatFollows(watched, attempt, endedAt)}`;
      const word = failed ? 'failed' : 'delivered';
      return this.#line(endedAt, mark, watched.step, [delivery.endpoint], word, rest);
    });
  }

  #cancelled(watched: Watched, delivery: WatchedDelivery): void {
    const reason = delivery.cancel_reason;
    const datum = { kind: 'cancelled', ...this.#idsOf(watched, delivery), reason };
    const why = reason?.replaceAll('_', ' ') ?? '';
    this.#quiet(datum, watched.step, [delivery.endpoint], 'cancelled', why);
  }

  /**
   * Prints which endpoints did not get an event, and why: one line, however many they are. Listeners that do not run are
   * named only where nobody else was to get it.
   */
  #skipped({ step, eventId, skipped, deliveries }: Watched): void {
    const datum = {
      kind: 'skipped',
      step,
      ...this.#names.get(step),
      event_uuid: eventId,
      endpoints: skipped.map(({ endpoint, verdict }) => ({ ...endpointJson(endpoint), verdict })),
    };
    const missed = skipped.filter(({ endpoint, verdict }) => !isIdleListener(endpoint, verdict));
    if (missed.length === 0 && deliveries.size > 0 && this.#output.format === 'pretty') return;
    const reasons = (missed.length === 0 ? skipped : missed).map(({ endpoint, verdict }) => {
      const why = whySkipped(verdict, endpoint.apiVersion);
      return endpoint.isOnly ? why : `${shortened(endpoint.label)} (${why})`;
    });
    this.#quiet(datum, step, [], 'skipped', reasons.join(', ') || 'the merchant has no endpoints');
  }

  #paused(kind: string, waitMs: number, text: string): void {
    this.#output.item({ kind, wait_ms: waitMs }, () => this.#output.paint('yellow', text));
  }

  /** Prints that nothing was sent, with the reason. */
  #quiet(datum: object, step: string, to: readonly EndpointName[], word: string, reason: string): void {
    const mark = this.#output.paint('yellow', '-');
    this.#output.item(datum, () => this.#line(this.#clock.now(), mark, step, to, word, reason));
  }

  /** Formats a line. On a narrow terminal it leaves out what the mark says too, and milliseconds. */
  #line(
    at: number,
    mark: string,
    step: string,
    to: readonly EndpointName[],
    word: string,
    rest: string,
  ): string {
    const { width } = this.#output;
    const time = this.#output.paint('dim', iso(at).slice(11, width < WIDE ? 19 : 23));
    const known = this.#names.get(step);
    const start = `${time} ${mark} ${(known === undefined ? step : nameText(known)).padEnd(this.#width)}`;
    const labels = to.filter(({ isOnly }) => !isOnly).map(({ label }) => this.#padded(label));
    if (width >= WIDE) return [start, ...labels, word.padEnd(WORD_WIDTH), rest].join('  ').trimEnd();
    const isSaid = rest !== '' && word !== 'skipped';
    const last = isSaid ? rest : [word, rest].filter(Boolean).join(': ');
    const cells = [start, ...labels, last];
    const fits = shownLength(cells.join('  ')) <= width;
    return layout.foldRow(fits ? cells : cells.map((cell) => cell.trimEnd()), width, 'hh:mm:ss x '.length);
  }

  #padded(label: string): string {
    const short = shortened(label);
    this.#labelWidth = Math.max(this.#labelWidth, short.length);
    return short.padEnd(this.#labelWidth);
  }

  #idsOf(watched: Watched, delivery: WatchedDelivery): object {
    return {
      step: watched.step,
      type: delivery.type,
      subType: delivery.subType,
      event_uuid: watched.eventId,
      delivery_uuid: delivery.delivery_uuid,
      endpoint_uuid: delivery.endpoint_uuid,
      endpoint: endpointJson(delivery.endpoint),
    };
  }
}

function nameText({ type, subType }: Name): string {
  return `${type}/${subType}`;
}

/** Shortens a label to what a line has room for. The end tells URLs apart, so theirs stays. */
export function shortened(label: string, most = LABEL_MAX): string {
  const text = visible(label);
  if (text.length <= most) return text;
  if (!text.includes('/')) return `${text.slice(0, most - 1).trimEnd()}…`;
  const tail = Math.floor((most - 1) / 2);
  return `${text.slice(0, most - 1 - tail)}…${text.slice(-tail)}`;
}

const WHY: Readonly<Record<string, string>> = {
  endpoint_disabled: 'disabled',
  endpoint_auto_disabled: 'auto-disabled',
};

/** Says why an endpoint did not get an event. */
export function whySkipped(verdict: string, apiVersion: string | null): string {
  if (verdict.endsWith('_not_in_api_version')) return `not in version ${apiVersion ?? 'of the endpoint'}`;
  return WHY[verdict] ?? verdict;
}

function whatFollows(watched: Watched, attempt: WatchedAttempt, endedAt: number): string {
  if (attempt.failure_code === null) {
    return `${formatDuration(Math.max(0, endedAt - watched.sentAt))} after it was sent`;
  }
  if (attempt.next_attempt_at === null) return 'given up';
  const waits = formatDuration(Date.parse(attempt.next_attempt_at) - endedAt);
  return `attempt ${attempt.number + 1} in ${waits}`;
}

/** The result in about 30 characters, which is what a narrow terminal has left beside the longest name. */
function shortResult(attempt: WatchedAttempt, endedAt: number, took: string): string {
  if (attempt.failure_code === null) return took;
  const result = attempt.response_status === null ? attempt.failure_code : took;
  if (attempt.next_attempt_at === null) return `${result}, given up`;
  return `${result}, retry in ${formatDuration(Date.parse(attempt.next_attempt_at) - endedAt)}`;
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
