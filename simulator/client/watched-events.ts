import { FINAL, STATUS_AFTER } from '../../client/delivery-status.ts';
import type { StreamNews } from '../../client/merchant-stream.ts';
import type { EndpointNames } from './endpoint-names.ts';
import type { DeliveryDetailAnswer } from './merchant-api.ts';
import type { Watched, WatchedAttempt, WatchedDelivery, WatchNews } from './watch-news.ts';

type Routing = readonly {
  readonly endpoint_uuid: string;
  readonly verdict: string;
  readonly delivery_uuid: string | null;
}[];

/** News of an event or of its deliveries. */
type EventNews = Extract<StreamNews, { kind: 'routed' | 'skipped' | 'attempt' | 'cancelled' }>;

type DeliveryData = Extract<EventNews, { kind: 'routed' | 'attempt' | 'cancelled' }>['data'];

/** The state of one event id; several steps may have sent it. */
interface Entry {
  readonly eventId: string;
  readonly watched: Watched[];
  /** When the API is asked, milliseconds since the epoch. */
  dueAt: number;
  waitMs: number;
  /** The stream has told of it. */
  isSeen: boolean;
  /** The stream may have missed attempts. */
  isUnclear: boolean;
}

/** An event of which the stream says nothing for this long is looked up: it may have been sent before. */
const UNSEEN_MS = 2000;
const WAIT_GROWTH = 1.6;
const WAIT_MS_MAX = 15_000;
/** News of events that are not followed yet: the answer to sending one may come after them. */
const EARLY_MAX = 2000;

/** The events that are followed, and what is known of them; news comes from the stream and from look-ups. */
export class WatchedEvents {
  readonly #names: EndpointNames;
  readonly #onNews: (news: WatchNews) => void;
  readonly #entries = new Map<string, Entry>();
  readonly #endpointOf = new Map<string, string>();
  #early: EventNews[] = [];
  #openedAt = Number.POSITIVE_INFINITY;
  readonly watched: Watched[] = [];

  constructor(names: EndpointNames, onNews: (news: WatchNews) => void) {
    this.#names = names;
    this.#onNews = onNews;
  }

  follow(step: string, eventId: string, sentAt: number): void {
    const watched: Watched = {
      step,
      eventId,
      sentAt,
      routed: false,
      deliveries: new Map(),
      skipped: [],
    };
    this.watched.push(watched);
    const isUnclear = sentAt < this.#openedAt;
    const dueAt = Date.now() + (isUnclear && this.#openedAt !== Number.POSITIVE_INFINITY ? 0 : UNSEEN_MS);
    const known = this.#entries.get(eventId);
    const entry = known ?? { eventId, watched: [], dueAt, waitMs: UNSEEN_MS, isSeen: false, isUnclear };
    this.#entries.set(eventId, entry);
    const [first] = entry.watched;
    entry.watched.push(watched);
    if (first !== undefined) {
      // The same event again: what is known of it holds for this step too.
      for (const [id, delivery] of first.deliveries) watched.deliveries.set(id, delivery);
      Object.assign(watched, { routed: first.routed, skipped: first.skipped });
      return;
    }
    const early = this.#early.filter(({ data }) => data.event_uuid === eventId);
    if (early.length === 0) return;
    this.#early = this.#early.filter(({ data }) => data.event_uuid !== eventId);
    for (const news of early) this.take(news);
  }

  /** The stream has been open since `at` (the service's time): what was sent before must be looked up. */
  opened(at: number): void {
    if (this.#openedAt !== Number.POSITIVE_INFINITY) return;
    this.#openedAt = at;
    this.#lookUp();
  }

  /** The stream has missed something. */
  missed(): void {
    this.#lookUp();
  }

  #lookUp(): void {
    const dueAt = Date.now();
    for (const entry of this.#entries.values()) Object.assign(entry, { isUnclear: true, dueAt });
  }

  take(news: EventNews): void {
    const entry = this.#entries.get(news.data.event_uuid);
    if (entry === undefined) {
      this.#early.push(news);
      if (this.#early.length > EARLY_MAX) this.#early.shift();
      return;
    }
    const isRouted = entry.watched[0]?.routed === true;
    entry.isSeen = true;
    if (!isRouted) entry.dueAt = Math.min(entry.dueAt, Date.now());
    if (news.kind === 'skipped') return;
    const { data } = news;
    // A resend is a delivery of the same event, but not of this run.
    if (data.trigger !== 'live') return;
    const before = this.#known(entry, data.delivery_uuid) ?? this.#newDelivery(data);
    if (news.kind === 'attempt') this.#attempt(entry, before, attemptOf(news.data), news.data.outcome);
    else if (news.kind === 'routed') this.#set(entry, before);
    else this.#cancelled(entry, before, news.data.reason);
  }

  /** Returns the events that the API is to be asked about. */
  due(now: number): readonly string[] {
    return [...this.#entries.values()].filter(({ dueAt }) => dueAt <= now).map(({ eventId }) => eventId);
  }

  isRouted(eventId: string): boolean {
    return this.#entries.get(eventId)?.watched[0]?.routed === true;
  }

  /** Takes an event's routing from the API. */
  routed(eventId: string, routing: Routing): void {
    const entry = this.#entries.get(eventId);
    const [first] = entry?.watched ?? [];
    if (entry === undefined || first === undefined) return;
    // Routed, but not since the stream is open: it was sent before.
    if (!entry.isSeen) entry.isUnclear = true;
    const skipped = routing
      .filter(({ delivery_uuid }) => delivery_uuid === null)
      .map(({ endpoint_uuid, verdict }) => ({ endpoint: this.#names.of(endpoint_uuid), verdict }));
    for (const watched of entry.watched) {
      for (const { delivery_uuid: id, endpoint_uuid } of routing) {
        if (id === null || watched.deliveries.has(id)) continue;
        watched.deliveries.set(id, null);
        this.#endpointOf.set(id, endpoint_uuid);
      }
      watched.skipped = skipped;
      watched.routed = true;
    }
    if (skipped.length > 0 || first.deliveries.size === 0) this.#onNews({ kind: 'skipped', watched: first });
  }

  /** Returns the deliveries whose attempts the API must be asked for. */
  unclear(
    eventId: string,
    isOpen: boolean,
  ): readonly { readonly delivery: string; readonly endpoint: string }[] {
    const entry = this.#entries.get(eventId);
    if (entry === undefined || (isOpen && !entry.isUnclear)) return [];
    return [...(entry.watched[0]?.deliveries ?? [])]
      .filter(([, known]) => !FINAL.includes(known?.status ?? ''))
      .map(([delivery, known]) => ({
        delivery,
        endpoint: known?.endpoint_uuid ?? this.#endpointOf.get(delivery) ?? '',
      }));
  }

  /** Takes a delivery from the API. */
  detail(eventId: string, detail: DeliveryDetailAnswer): void {
    const entry = this.#entries.get(eventId);
    if (entry === undefined) return;
    const before = this.#known(entry, detail.delivery_uuid);
    let delivery = before ?? { ...this.#newDelivery(detail), attempts: [] };
    for (const attempt of detail.attempts) {
      if (delivery.attempts.some(({ number }) => number === attempt.number)) continue;
      delivery = { ...delivery, ...stateOf(detail), attempts: [...delivery.attempts, attempt] };
      this.#set(entry, delivery);
      this.#tell(entry, (watched) => ({ kind: 'attempt', watched, delivery, attempt }));
    }
    if (detail.status === 'cancelled') this.#cancelled(entry, delivery, detail.cancel_reason);
    else this.#set(entry, { ...delivery, ...stateOf(detail) });
  }

  /** Notes that the API was asked, and when to ask again. */
  looked(eventId: string, now: number, isOpen: boolean): void {
    const entry = this.#entries.get(eventId);
    if (entry === undefined) return;
    const isDone = this.isRouted(eventId) && isOpen;
    if (isDone) entry.isUnclear = false;
    entry.dueAt = isDone || this.#isFinal(entry) ? Number.POSITIVE_INFINITY : now + entry.waitMs;
    entry.waitMs = Math.min(WAIT_MS_MAX, entry.waitMs * WAIT_GROWTH);
  }

  #isFinal({ watched: [first] }: Entry): boolean {
    return (
      first?.routed === true &&
      [...first.deliveries.values()].every((known) => FINAL.includes(known?.status ?? ''))
    );
  }

  #attempt(entry: Entry, before: WatchedDelivery, attempt: WatchedAttempt, outcome: string): void {
    if (before.attempts.some(({ number }) => number === attempt.number)) return;
    const delivery: WatchedDelivery = {
      ...before,
      status: STATUS_AFTER[outcome] ?? 'failed',
      attempts_made: Math.max(before.attempts_made, attempt.number),
      next_attempt_at: attempt.next_attempt_at,
      attempts: [...before.attempts, attempt],
    };
    this.#set(entry, delivery);
    this.#tell(entry, (watched) => ({ kind: 'attempt', watched, delivery, attempt }));
  }

  #cancelled(entry: Entry, before: WatchedDelivery, reason: string | null): void {
    if (before.status === 'cancelled') return;
    const delivery: WatchedDelivery = {
      ...before,
      status: 'cancelled',
      cancel_reason: reason,
      next_attempt_at: null,
    };
    this.#set(entry, delivery);
    this.#tell(entry, (watched) => ({ kind: 'cancelled', watched, delivery }));
  }

  #known({ watched: [first] }: Entry, id: string): WatchedDelivery | undefined {
    return first?.deliveries.get(id) ?? undefined;
  }

  #newDelivery(data: DeliveryData | DeliveryDetailAnswer): WatchedDelivery {
    const { delivery_uuid, event_uuid, endpoint_uuid, type, subType } = data;
    return {
      delivery_uuid,
      event_uuid,
      endpoint_uuid,
      type,
      subType,
      status: 'pending',
      cancel_reason: null,
      attempts_made: 0,
      next_attempt_at: null,
      attempts: [],
      endpoint: this.#names.of(endpoint_uuid),
    };
  }

  #set({ watched }: Entry, delivery: WatchedDelivery): void {
    for (const each of watched) each.deliveries.set(delivery.delivery_uuid, delivery);
  }

  #tell({ watched: [first] }: Entry, news: (watched: Watched) => WatchNews): void {
    if (first !== undefined) this.#onNews(news(first));
  }
}

function attemptOf({ attempt: number, ...data }: Extract<EventNews, { kind: 'attempt' }>['data']) {
  return { number, ...data };
}

function stateOf({ status, attempts_made, next_attempt_at }: DeliveryDetailAnswer) {
  return { status, attempts_made, next_attempt_at };
}
