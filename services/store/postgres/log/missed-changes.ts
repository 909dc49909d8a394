import type { Delivery } from '../../log/delivery.ts';
import type { LogMissed } from '../../log/log-rows.ts';
import { missedAfter } from '../../log/missed.ts';

/** An event by its id and when it was accepted, whole milliseconds. */
export interface EventKey {
  readonly eventId: string;
  readonly createdAt: number;
}

export interface MissedChange extends EventKey {
  readonly kind: 'skip' | 'add' | 'begin' | 'remove' | 'removePassed';
  readonly endpoint: number;
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
    if (change === 'received') this.#change('remove', delivery);
  }

  #change(kind: 'add' | 'begin' | 'remove', delivery: Delivery): void {
    const event = this.keyOf(delivery);
    if (!event) return;
    const { deliveryId, createdAt, endpoint } = delivery;
    this.list.push({ kind, endpoint, ...event, delivery: { deliveryId, createdAt } });
  }
}
