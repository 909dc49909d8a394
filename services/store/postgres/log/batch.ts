import type { JournalEntry } from '../../../domain/journal.ts';
import { isNoticeType } from '../../../domain/notices/notice.ts';
import { EVENT_TYPE, TRIGGER } from '../../log/codes.ts';
import { ATTEMPTS_PER_DELIVERY, countsForHealth, type Delivery } from '../../log/delivery.ts';
import { JournalFold, observationOf } from '../../log/journal-fold.ts';
import { FEED_KIND, type LogFeed, type NameNumbers, type Observed } from '../../log/log-rows.ts';
import { Tallies } from '../../log/tally/tallies.ts';
import { toStoredDelivery } from '../../rows/stored-delivery.ts';
import { idOf } from '../client/packed-id.ts';
import type { FeedItem } from '../client/statements.ts';
import { BatchAttempts, BatchDeliveries } from './batch-deliveries.ts';
import { BatchEvents } from './batch-events.ts';
import type { NewBody } from './bodies.ts';
import { MissedChanges } from './missed-changes.ts';
import type { Numbers } from './numbers.ts';
import type { Preloaded } from './preload.ts';

/** The rows of one transaction of the recorder, in memory: what was read, and what becomes of it. */
export class Batch {
  readonly events: BatchEvents;
  readonly deliveries: BatchDeliveries;
  readonly attempts: BatchAttempts;
  readonly missed = new MissedChanges();
  readonly tallies = new Tallies();
  readonly feed: FeedItem[] = [];
  readonly observed: Observed[] = [];
  readonly #fold: JournalFold;

  constructor(preloaded: Preloaded, names: NameNumbers, numbers: Numbers) {
    const { erasures, bodies } = preloaded;
    this.events = new BatchEvents({ numbers, erasures, missed: this.missed, bodies }, preloaded.events);
    this.deliveries = new BatchDeliveries(numbers, this.#storedDeliveries(preloaded, names));
    this.attempts = new BatchAttempts(preloaded.attempts, this.deliveries);
    this.missed.keyOf = (delivery) => this.#eventOf(delivery);
    this.missed.noticeOf = ({ type, event }) =>
      isNoticeType(EVENT_TYPE.word(type)) ? (this.events.states[event]?.eventId ?? null) : null;
    this.#fold = new JournalFold({
      names,
      events: this.events,
      deliveries: this.deliveries,
      attempts: this.attempts,
      missed: this.missed,
      tallies: this.tallies,
      health: { observe: (observed) => this.observed.push(observed) },
      feed: { add: (merchantId, kind, row) => this.#addToFeed(merchantId, kind, row) },
    });
  }

  apply(entry: JournalEntry): void {
    this.#fold.apply(entry);
  }

  /** Takes nothing of an entry but what an attempt says of its endpoint. */
  observeOnly(entry: JournalEntry): void {
    if (entry.kind !== 'attempted' || !countsForHealth(TRIGGER.of[entry.delivery.trigger])) return;
    this.observed.push(observationOf(entry));
  }

  /** The deliveries that the batch has read or made, each in its last state. */
  get changed(): Iterable<Delivery> {
    return this.#fold.deliveries;
  }

  get newBodies(): readonly NewBody[] {
    return [this.events, this.deliveries, this.attempts].flatMap(({ newBodies }) => newBodies);
  }

  #storedDeliveries({ deliveries }: Preloaded, names: NameNumbers): ReadonlyMap<string, Delivery> {
    const stored = new Map<string, Delivery>();
    for (const row of deliveries) {
      const deliveryId = idOf(row.delivery_id);
      const event = this.events.ofStored({
        eventId: idOf(row.event_id),
        entityId: idOf(row.entity_id),
        subjectId: row.subject_id && idOf(row.subject_id),
        sequence: row.sequence,
        merchant: row.merchant,
        type: row.type,
        subType: row.sub_type,
        occurredAt: row.occurred_at,
        createdAt: row.created_at,
      });
      stored.set(
        deliveryId,
        toStoredDelivery(row, {
          deliveryId,
          endpointId: names.endpointId(row.endpoint),
          event,
          isNew: false,
        }),
      );
    }
    return stored;
  }

  /**
   * Returns the event of a delivery. Of a delivery that routing made, the event was accepted when the delivery was made;
   * of another one that is known from its row alone.
   */
  #eventOf({ event, trigger }: Delivery): { readonly eventId: string; readonly createdAt: number } | null {
    const state = this.events.states[event];
    if (!state || (state.row === null && trigger !== TRIGGER.of.live)) return null;
    return state;
  }

  #addToFeed(
    merchantId: string,
    kind: keyof typeof FEED_KIND,
    { ref, detail, at }: Parameters<LogFeed['add']>[2],
  ): void {
    const item = { merchantId, kind: FEED_KIND[kind], detail: detail ?? null, at };
    if (kind === 'routed' || kind === 'line') {
      const event = this.events.states[ref];
      this.feed.push({ ...item, eventId: event?.eventId, refAt: event?.createdAt });
      return;
    }
    const isAttempt = kind === 'attempt';
    const delivery = this.deliveries.withSeq(isAttempt ? Math.floor(ref / ATTEMPTS_PER_DELIVERY) : ref);
    const { deliveryId, createdAt: refAt } = delivery ?? {};
    this.feed.push({ ...item, deliveryId, refAt, ref: isAttempt ? ref : undefined });
  }
}
