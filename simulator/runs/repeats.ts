import { FINAL } from '../../client/delivery-status.ts';
import { formatDuration } from '../../client/duration.ts';
import { ApiRefusal } from '../client/api-refusal.ts';
import { MerchantApi } from '../client/merchant-api.ts';
import type { WatchNews } from '../client/watch-news.ts';
import type { Session } from '../session.ts';

const LOOK_MS_MIN = 100;
const LOOK_MS_MAX = 2000;
/** A resend has one attempt, of ten seconds. */
const FOLLOW_MS = 30_000;

/**
 * Delivers chosen events a second time, to every endpoint that has accepted one: a webhook with the same `webhook-id`,
 * by the resend of the API, as a receiver may get one at any time.
 */
export class Repeats {
  readonly #session: Session;
  readonly #steps: ReadonlySet<string>;
  /** Event and endpoint: each is asked for once. */
  readonly #asked = new Set<string>();
  readonly #pending: Promise<void>[] = [];
  #failure: { readonly error: unknown } | undefined;

  constructor(session: Session, steps: ReadonlySet<string>) {
    this.#session = session;
    this.#steps = steps;
  }

  /** Takes what was seen of a delivery, and sends it again when it has arrived. */
  news(news: WatchNews): void {
    if (news.kind !== 'attempt' || news.attempt.failure_code !== null) return;
    const { watched, delivery } = news;
    if (!this.#steps.has(watched.step)) return;
    const key = `${watched.eventId} ${delivery.endpoint_uuid}`;
    if (this.#asked.has(key)) return;
    this.#asked.add(key);
    const work = this.#resend(watched.step, delivery.endpoint_uuid, delivery.delivery_uuid);
    this.#pending.push(
      work.catch((error: unknown) => {
        this.#failure ??= { error };
      }),
    );
  }

  /** Resolves when every second delivery is over; rejects when one could not be asked for. */
  async finished(): Promise<void> {
    await Promise.all(this.#pending);
    if (this.#failure && !this.#session.signal.aborted) throw this.#failure.error;
  }

  async #resend(step: string, endpointId: string, deliveryId: string): Promise<void> {
    const { output, signal } = this.#session;
    const api = new MerchantApi(this.#session.api());
    const resent = await api.resend(endpointId, deliveryId);
    const until = Date.now() + FOLLOW_MS;
    let waitMs = LOOK_MS_MIN;
    let delivery = await api.delivery(endpointId, resent.delivery_uuid).catch(notYet);
    while (!FINAL.includes(delivery?.status ?? '') && Date.now() < until && !signal.aborted) {
      await this.#session.pause(waitMs);
      waitMs = Math.min(LOOK_MS_MAX, waitMs * 2);
      // Accepted does not mean recorded: the log follows a moment later.
      delivery = await api.delivery(endpointId, resent.delivery_uuid).catch(notYet);
    }
    const attempt = delivery?.attempts.at(-1);
    const status = delivery?.status ?? 'pending';
    const datum = {
      kind: 'duplicate',
      step,
      event_uuid: resent.event_uuid,
      delivery_uuid: resent.delivery_uuid,
      endpoint_uuid: endpointId,
      status,
      response_status: attempt?.response_status ?? null,
      failure_code: attempt?.failure_code ?? null,
    };
    const isDelivered = status === 'delivered';
    const mark = isDelivered ? output.paint('green', '✓') : output.paint('red', '✗');
    const result = attempt
      ? `${attempt.response_status ?? attempt.failure_code} in ${formatDuration(attempt.duration_ms)}`
      : status;
    output.item(datum, () => output.row([`${mark} ${step} again`, `same webhook-id: ${result}`]));
  }
}

function notYet(error: unknown): null {
  if (error instanceof ApiRefusal && error.status === 404) return null;
  throw error;
}
