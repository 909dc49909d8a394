import { formatCountdown } from '../duration.ts';
import { ApiRefusal } from './api-client.ts';
import type { AttemptAnswer, DeliveryDetailAnswer, MerchantApi } from './merchant-api.ts';

/** One event that was sent, and its deliveries so far. */
export interface Watched {
  readonly step: string;
  readonly eventId: string;
  /** Milliseconds since the epoch, by this machine's clock. */
  readonly sentAt: number;
  /** It was routed: `deliveries` and `skipped` are complete. */
  routed: boolean;
  readonly deliveries: Map<string, DeliveryDetailAnswer | null>;
  /** Endpoints that did not get it, with the reason. */
  skipped: readonly { readonly endpoint: string; readonly verdict: string }[];
}

/** Something worth a line: an attempt, a cancelled delivery, an event that no endpoint wanted, or the rate limit. */
export type WatchNews =
  | {
      readonly kind: 'attempt';
      readonly watched: Watched;
      readonly delivery: DeliveryDetailAnswer;
      readonly attempt: AttemptAnswer;
    }
  | { readonly kind: 'cancelled'; readonly watched: Watched; readonly delivery: DeliveryDetailAnswer }
  | { readonly kind: 'skipped'; readonly watched: Watched }
  | { readonly kind: 'limited'; readonly waitMs: number };

export interface WatchOptions {
  readonly api: MerchantApi;
  readonly pause: (ms: number) => Promise<void>;
  readonly signal: AbortSignal;
  readonly onNews: (news: WatchNews) => void;
}

interface Poll {
  readonly watched: Watched;
  /** null: the event itself. */
  readonly deliveryId: string | null;
  readonly endpointId: string;
  dueAt: number;
  waitMs: number;
}

/** The first interval of polls. The API allows a key 100 requests a minute: polling begins fast and slows down. */
const FIRST_WAIT_MS = 150;
const WAIT_GROWTH = 1.6;
const WAIT_MS_MAX = 5000;
const IDLE_MS = 50;
const FINAL = ['delivered', 'exhausted', 'refused', 'cancelled'];

/** Follows events through the merchant API until their deliveries have ended, and reports each piece of news. */
export class DeliveryWatch {
  readonly #options: WatchOptions;
  readonly #polls: Poll[] = [];
  readonly watched: Watched[] = [];
  #stopped = false;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  follow(step: string, eventId: string, sentAt: number): void {
    const watched: Watched = { step, eventId, sentAt, routed: false, deliveries: new Map(), skipped: [] };
    this.watched.push(watched);
    this.#add(watched, null, '');
  }

  /** Makes `run` end. */
  stop(): void {
    this.#stopped = true;
  }

  /** Polls until stop(), or Ctrl-C. Rejects with the API's refusal, except temporary ones (not yet there, too fast). */
  async run(): Promise<void> {
    while (!this.#stopped && !this.#options.signal.aborted) {
      const now = Date.now();
      const next = this.#polls.reduce<Poll | undefined>(
        (first, poll) => (first === undefined || poll.dueAt < first.dueAt ? poll : first),
        undefined,
      );
      if (next === undefined || next.dueAt > now) {
        await this.#options.pause(Math.min(IDLE_MS, next === undefined ? IDLE_MS : next.dueAt - now));
      } else await this.#look(next);
    }
  }

  /** Returns whether nothing can happen before `deadline` (milliseconds since the epoch). */
  isSettled(deadline: number): boolean {
    return this.watched.every(
      ({ routed, deliveries }) =>
        routed &&
        [...deliveries.values()].every((delivery) => delivery !== null && isOver(delivery, deadline)),
    );
  }

  /** Returns a description of what is waited for at `now`; empty when nothing is. */
  waitingFor(now: number): string {
    const open = this.watched.flatMap(({ routed, deliveries }) =>
      routed
        ? [...deliveries.values()].filter((delivery) => !FINAL.includes(delivery?.status ?? ''))
        : [null],
    );
    if (open.length === 0) return '';
    const soonest = open
      .flatMap((delivery) => (delivery?.next_attempt_at && delivery.attempts_made > 0 ? [delivery] : []))
      .sort((a, b) => (a.next_attempt_at ?? '').localeCompare(b.next_attempt_at ?? ''))[0];
    if (soonest === undefined || soonest.next_attempt_at === null)
      return `waiting for ${open.length} deliveries`;
    const waitMs = Date.parse(soonest.next_attempt_at) - now;
    const name = `attempt ${soonest.attempts_made + 1} of ${soonest.type}/${soonest.subType}`;
    return waitMs > 0 ? `${name} in ${formatCountdown(waitMs)}` : `waiting for ${name}`;
  }

  async #look(poll: Poll): Promise<void> {
    try {
      const isOver =
        poll.deliveryId === null
          ? await this.#lookAtEvent(poll)
          : await this.#lookAtDelivery(poll, poll.deliveryId);
      if (isOver) this.#polls.splice(this.#polls.indexOf(poll), 1);
    } catch (error) {
      if (!(error instanceof ApiRefusal)) throw error;
      if (error.status === 429) this.#postponeAll(error.retryAfterMs ?? WAIT_MS_MAX);
      // Accepted does not mean recorded: the log follows a moment later.
      else if (error.status !== 404 && error.status !== 503) throw error;
    }
    poll.dueAt = Math.max(poll.dueAt, Date.now() + poll.waitMs);
    poll.waitMs = Math.min(WAIT_MS_MAX, poll.waitMs * WAIT_GROWTH);
  }

  async #lookAtEvent(poll: Poll): Promise<boolean> {
    const { watched } = poll;
    const event = await this.#options.api.event(watched.eventId);
    for (const { delivery_uuid, endpoint_uuid } of event.endpoints) {
      if (delivery_uuid === null) continue;
      watched.deliveries.set(delivery_uuid, null);
      this.#add(watched, delivery_uuid, endpoint_uuid);
    }
    watched.skipped = event.endpoints
      .filter(({ delivery_uuid }) => delivery_uuid === null)
      .map(({ endpoint_uuid, verdict }) => ({ endpoint: endpoint_uuid, verdict }));
    watched.routed = true;
    if (watched.deliveries.size === 0) this.#options.onNews({ kind: 'skipped', watched });
    return true;
  }

  async #lookAtDelivery(poll: Poll, deliveryId: string): Promise<boolean> {
    const { watched } = poll;
    const delivery = await this.#options.api.delivery(poll.endpointId, deliveryId);
    const known = watched.deliveries.get(deliveryId)?.attempts.length ?? 0;
    watched.deliveries.set(deliveryId, delivery);
    for (const attempt of delivery.attempts.slice(known)) {
      this.#options.onNews({ kind: 'attempt', watched, delivery, attempt });
    }
    if (delivery.status === 'cancelled') this.#options.onNews({ kind: 'cancelled', watched, delivery });
    // Nothing changes before the next attempt is due.
    if (delivery.next_attempt_at !== null && delivery.attempts.length > known) {
      poll.dueAt = Date.parse(delivery.next_attempt_at) + FIRST_WAIT_MS;
      poll.waitMs = FIRST_WAIT_MS;
    }
    return FINAL.includes(delivery.status);
  }

  #postponeAll(ms: number): void {
    const until = Date.now() + ms;
    this.#options.onNews({ kind: 'limited', waitMs: ms });
    for (const poll of this.#polls) poll.dueAt = Math.max(poll.dueAt, until);
  }

  #add(watched: Watched, deliveryId: string | null, endpointId: string): void {
    const dueAt = Date.now() + (deliveryId === null ? FIRST_WAIT_MS : 0);
    this.#polls.push({ watched, deliveryId, endpointId, dueAt, waitMs: FIRST_WAIT_MS });
  }
}

function isOver(delivery: DeliveryDetailAnswer, deadline: number): boolean {
  if (FINAL.includes(delivery.status)) return true;
  const isWaiting = delivery.status === 'failed' && delivery.next_attempt_at !== null;
  return isWaiting && Date.parse(delivery.next_attempt_at ?? '') > deadline;
}
