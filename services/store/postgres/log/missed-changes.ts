import type { Delivery } from '../../log/delivery.ts';
import type { LogMissed } from '../../log/log-rows.ts';
import { missedAfter } from '../../log/missed.ts';

/** An event by its id and when it was accepted, whole milliseconds. */
export interface EventKey {
  readonly eventId: string;
  readonly createdAt: number;
}

export interface MissedChange {
  readonly kind: 'skip' | 'add' | 'begin' | 'remove' | 'removePassed' | 'removeNotice';
  readonly endpoint: number;
  readonly eventId: string;
  /** Null: of a notice, which has no row of an event that would tell. */
  readonly createdAt: number | null;
  /** The event's own delivery. */
  readonly delivery?: { readonly deliveryId: string; readonly createdAt: number };
}

/**
 * The changes of a batch to the missed events, in order. `keyOf` returns the event of a delivery, null when the event was
 * deleted and so cannot be sent again.
 */
export class MissedChanges implements LogMissed {
  readonly list: MissedChange[] = [];
  /** Returns the event of a delivery. Set by the batch. */
  keyOf: (delivery: Delivery) => EventKey | null = () => null;
  /** Returns the id of the operational notice that a delivery is of; null: it is of an event. Set by the batch. */
  noticeOf: (delivery: Delivery) => string | null = () => null;

  /** The endpoint was disabled when the event was routed. */
  skip(endpoint: number, event: EventKey): void {
    this.list.push({ kind: 'skip', endpoint, ...event });
  }

  /** The event was routed again after a crash, and was not skipped for the endpoint this time. */
  removePassed(endpoint: number, event: EventKey): void {
    this.list.push({ kind: 'removePassed', endpoint, ...event });
  }

  begin(delivery: Delivery): void {
    this.#change('begin', delivery);
  }

  follow(delivery: Delivery, before: number): void {
    const change = missedAfter(delivery, before);
    if (change === 'missed') this.#change('add', delivery);
    if (change === 'received') this.#received(delivery);
  }

  #received(delivery: Delivery): void {
    const eventId = this.noticeOf(delivery);
    const { endpoint } = delivery;
    if (eventId === null) this.#change('remove', delivery);
    else this.list.push({ kind: 'removeNotice', endpoint, eventId, createdAt: null });
  }

  #change(kind: 'add' | 'begin' | 'remove', delivery: Delivery): void {
    const event = this.keyOf(delivery);
    if (!event) return;
    const { deliveryId, createdAt, endpoint } = delivery;
    this.list.push({ kind, endpoint, ...event, delivery: { deliveryId, createdAt } });
  }
}
