import { limitReached } from '../client/api-client.ts';
import type { Watched, WatchNews } from '../client/delivery-watch.ts';
import type { AttemptAnswer, DeliveryDetailAnswer } from '../client/merchant-api.ts';
import { formatDuration } from '../duration.ts';
import type { Output } from '../output.ts';
import type { Sent } from '../sinks/sinks.ts';
import { foldRow } from '../terminal/width.ts';
import type { PlannedStep } from './plan.ts';

/** The longest word of a line is "delivered". */
const WORD_WIDTH = 9;
/** A terminal that has room for the whole line. */
const WIDE = 110;

/** Prints the lines of a run: one per step that is sent, one per attempt that is recorded. */
export class LiveLines {
  readonly #output: Output;
  readonly #width: number;
  readonly #names = new Map<string, string>();

  constructor(output: Output, steps: readonly PlannedStep[]) {
    this.#output = output;
    for (const { id, event } of steps) this.#names.set(id, `${event.type}/${event.subType}`);
    this.#width = Math.max(0, ...[...this.#names.values()].map((name) => name.length));
  }

  sent(step: PlannedStep, { status, detail }: Sent, sentAt: number): void {
    const output = this.#output;
    const datum = {
      kind: 'sent',
      step: step.id,
      event_uuid: step.event.eventId,
      at: iso(sentAt),
      status,
      detail,
    };
    const word = status === 'accepted' ? 'sent' : status === 'duplicate' ? 'sent before' : status;
    const note = status === 'duplicate' ? 'the same event id: it is not delivered again' : (detail ?? '');
    output.item(datum, () => this.#line(sentAt, '→', this.#name(step.id), word, note));
  }

  news(news: WatchNews): void {
    switch (news.kind) {
      case 'attempt':
        this.#attempt(news.watched, news.delivery, news.attempt);
        break;
      case 'cancelled': {
        const { cancel_reason: reason } = news.delivery;
        const datum = { kind: 'cancelled', ...idsOf(news.watched, news.delivery), reason };
        this.#quiet(datum, news.watched.step, 'cancelled', reason ?? '');
        break;
      }
      case 'skipped': {
        const { step, eventId, skipped } = news.watched;
        const reasons = skipped.map(({ verdict }) => verdict).join(', ') || 'the merchant has no endpoints';
        this.#quiet(
          { kind: 'skipped', step, event_uuid: eventId, endpoints: skipped },
          step,
          'skipped',
          reasons,
        );
        break;
      }
      case 'limited': {
        const text = limitReached(news.waitMs);
        this.#output.item({ kind: 'limited', wait_ms: news.waitMs }, () =>
          this.#output.paint('yellow', text),
        );
      }
    }
  }

  #attempt(watched: Watched, delivery: DeliveryDetailAnswer, attempt: AttemptAnswer): void {
    const output = this.#output;
    const failed = attempt.failure_code !== null;
    const datum = {
      kind: 'attempt',
      ...idsOf(watched, delivery),
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
      return this.#line(endedAt, mark, this.#name(watched.step), failed ? 'failed' : 'delivered', rest);
    });
  }

  /** Prints that nothing was sent, with the reason. */
  #quiet(datum: object, step: string, word: string, reason: string): void {
    const mark = this.#output.paint('yellow', '-');
    this.#output.item(datum, () => this.#line(Date.now(), mark, this.#name(step), word, reason));
  }

  #name(step: string): string {
    return (this.#names.get(step) ?? step).padEnd(this.#width);
  }

  /** Formats a line. On a narrow terminal it leaves out what the mark says too, and milliseconds. */
  #line(at: number, mark: string, name: string, word: string, rest: string): string {
    const { width } = this.#output;
    const time = this.#output.paint('dim', iso(at).slice(11, width < WIDE ? 19 : 23));
    const start = `${time} ${mark} ${name}`;
    if (width >= WIDE) return `${start}  ${word.padEnd(WORD_WIDTH)}  ${rest}`.trimEnd();
    return foldRow([start, rest === '' ? word : rest], width, 'hh:mm:ss x '.length);
  }
}

function idsOf(watched: Watched, delivery: DeliveryDetailAnswer): object {
  return {
    step: watched.step,
    event_uuid: watched.eventId,
    delivery_uuid: delivery.delivery_uuid,
    endpoint_uuid: delivery.endpoint_uuid,
  };
}

function whatFollows(watched: Watched, attempt: AttemptAnswer, endedAt: number): string {
  if (attempt.failure_code === null) {
    return `${formatDuration(Math.max(0, endedAt - watched.sentAt))} after it was sent`;
  }
  if (attempt.next_attempt_at === null) return 'given up';
  const waits = formatDuration(Date.parse(attempt.next_attempt_at) - endedAt);
  return `attempt ${attempt.number + 1} in ${waits}`;
}

/** The result in about 30 characters, which is what a narrow terminal has left beside the longest name. */
function shortResult(attempt: AttemptAnswer, endedAt: number, took: string): string {
  if (attempt.failure_code === null) return took;
  const result = attempt.response_status === null ? attempt.failure_code : took;
  if (attempt.next_attempt_at === null) return `${result}, given up`;
  return `${result}, retry in ${formatDuration(Date.parse(attempt.next_attempt_at) - endedAt)}`;
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
