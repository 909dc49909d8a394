import { FINAL } from '../../client/delivery-status.ts';
import { formatCountdown } from '../../client/duration.ts';
import type { StreamNews, StreamPause } from '../../client/merchant-stream.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { ApiRefusal } from './api-refusal.ts';
import { EndpointNames } from './endpoint-names.ts';
import type { MerchantApi } from './merchant-api.ts';
import { sleep } from './sleep.ts';
import type { Watched, WatchedDelivery, WatchNews } from './watch-news.ts';
import { WatchedEvents } from './watched-events.ts';

export type { Watched, WatchNews } from './watch-news.ts';

export interface WatchOptions {
  readonly api: MerchantApi;
  readonly pause: (ms: number) => Promise<void>;
  readonly signal: AbortSignal;
  readonly onNews: (news: WatchNews) => void;
}

const IDLE_MS = 25;
/** More events than this are looked up in the list of the newest events, instead of by one request each. */
const EACH_MAX = 3;
const PAGE = 100;
const UNAVAILABLE_MS = 1000;

/**
 * Follows events by the merchant's stream until their deliveries have ended, and reports each piece of news. The API is
 * asked once for the routing of an event (or of many at once), and for no attempt unless the stream cannot tell: the
 * event was sent before the stream was open, or the key has no stream left.
 */
export class DeliveryWatch {
  readonly #options: WatchOptions;
  readonly #events: WatchedEvents;
  readonly names: EndpointNames;
  readonly #over = new AbortController();
  #setReady = () => {};
  /** Resolves when what is sent from now on is seen by the stream, or the stream has to wait. */
  readonly ready = new Promise<void>((resolve) => {
    this.#setReady = resolve;
  });
  #isOpen = false;
  #wasOpen = false;
  #limitedUntil = 0;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.names = new EndpointNames(options.api);
    this.#events = new WatchedEvents(this.names, options.onNews);
    if (options.signal.aborted) this.stop();
    options.signal.addEventListener('abort', () => this.stop(), { once: true });
  }

  get watched(): readonly Watched[] {
    return this.#events.watched;
  }

  follow(step: string, eventId: string, sentAt: number): void {
    this.#events.follow(step, eventId, sentAt);
  }

  /** Makes `run` end. */
  stop(): void {
    this.#over.abort();
    this.#setReady();
  }

  /** Follows until stop(), or Ctrl-C. Rejects with the API's refusal, except temporary ones (not yet there, too fast). */
  async run(): Promise<void> {
    const namesLoaded = this.#patiently(() => this.names.load());
    const parts = [this.#readStream(namesLoaded), this.#lookAgain(namesLoaded)];
    try {
      await Promise.all(parts);
    } catch (error) {
      this.stop();
      await Promise.allSettled(parts);
      throw error;
    }
  }

  /** Returns whether nothing can happen before `deadline` (the service's time, milliseconds since the epoch). */
  isSettled(deadline: number): boolean {
    return this.watched.every(
      ({ routed, deliveries }) =>
        routed &&
        [...deliveries.values()].every((delivery) => delivery !== null && isOver(delivery, deadline)),
    );
  }

  /** Returns a description of what is waited for at `now` (the service's time); empty when nothing is. */
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
      return `waiting for ${open.length === 1 ? 'a delivery' : `${open.length} deliveries`}`;
    const waitMs = Date.parse(soonest.next_attempt_at) - now;
    const name = `attempt ${soonest.attempts_made + 1} of ${soonest.type}/${soonest.subType}`;
    return waitMs > 0 ? `${name} in ${formatCountdown(waitMs)}` : `waiting for ${name}`;
  }

  async #readStream(namesLoaded: Promise<void>): Promise<void> {
    const { api } = this.#options;
    const onOpen = () => {
      this.#isOpen = true;
      this.#wasOpen = true;
      this.#events.opened(this.#options.api.clock.now());
      this.#setReady();
    };
    const onPaused = (paused: StreamPause) => {
      this.#isOpen = false;
      if (paused.reason === 'limited') this.#sayLimited(paused.waitMs);
      else this.#options.onNews({ kind: 'lost', waitMs: paused.waitMs });
      this.#setReady();
    };
    for await (const news of api.stream({ signal: this.#over.signal, onOpen, onPaused })) {
      await namesLoaded;
      await this.#take(news);
    }
  }

  async #take(news: StreamNews): Promise<void> {
    if (news.kind === 'gap') return this.#events.missed();
    if (news.kind === 'end') return;
    const { endpoint_uuid } = news.data;
    if (news.kind !== 'endpoint_changed') {
      if (endpoint_uuid !== null) await this.#patiently(() => this.names.learn(endpoint_uuid));
      this.#events.take(news);
    } else if (news.data.change === 'created' || news.data.change === 'updated') {
      await this.#patiently(() => this.names.load());
    }
  }

  /** Asks the API what the stream does not tell. */
  async #lookAgain(namesLoaded: Promise<void>): Promise<void> {
    await namesLoaded;
    while (!this.#over.signal.aborted) {
      const due = this.#events.due(Date.now());
      if (due.length > 0) await this.#patiently(() => this.#look(due));
      await this.#options.pause(IDLE_MS);
    }
  }

  async #look(due: readonly string[]): Promise<void> {
    const { api } = this.#options;
    const unrouted = due.filter((eventId) => !this.#events.isRouted(eventId));
    const listed = unrouted.length > EACH_MAX ? await api.events({ limit: unrouted.length + PAGE }) : [];
    for (const eventId of due) {
      const inList = listed.find(({ event_uuid }) => event_uuid === eventId);
      if (!this.#events.isRouted(eventId)) {
        const event = inList ?? (await api.event(eventId).catch(notThere));
        for (const { endpoint_uuid } of event?.endpoints ?? []) await this.names.learn(endpoint_uuid);
        if (event) this.#events.routed(eventId, event.endpoints);
      }
      for (const { delivery, endpoint } of this.#events.unclear(eventId, this.#isOpen)) {
        const detail = await api.delivery(endpoint, delivery).catch(notThere);
        if (detail) this.#events.detail(eventId, detail);
      }
      this.#events.looked(eventId, Date.now(), this.#isOpen);
    }
  }

  /** Repeats a request until the API takes it. It waits for a service that was there before, as the stream does. */
  async #patiently(request: () => Promise<void>): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      try {
        return await request();
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ApiRefusal && error.status === 429) {
          const waitMs = error.retryAfterMs ?? UNAVAILABLE_MS;
          this.#sayLimited(waitMs);
          await sleep(waitMs, signal);
        } else if (this.#isPassing(error)) await sleep(UNAVAILABLE_MS, signal);
        else throw error;
      }
    }
  }

  #isPassing(error: unknown): boolean {
    if (error instanceof ApiRefusal) return error.status === 503;
    return this.#wasOpen && error instanceof CommandFailure && error.exitCode === EXIT.unreachable;
  }

  #sayLimited(waitMs: number): void {
    const now = Date.now();
    if (now >= this.#limitedUntil) this.#options.onNews({ kind: 'limited', waitMs });
    this.#limitedUntil = Math.max(this.#limitedUntil, now + waitMs);
    this.#setReady();
  }
}

/** Accepted does not mean recorded: the log follows a moment later. */
function notThere(error: unknown): undefined {
  if (error instanceof ApiRefusal && error.status === 404) return undefined;
  throw error;
}

function isOver(delivery: WatchedDelivery, deadline: number): boolean {
  if (FINAL.includes(delivery.status)) return true;
  const isWaiting = delivery.status === 'failed' && delivery.next_attempt_at !== null;
  return isWaiting && Date.parse(delivery.next_attempt_at ?? '') > deadline;
}
