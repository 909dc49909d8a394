import type { PublishedEvent } from '../../broker/broker.ts';
import type { DomainEvent, EventType } from '../../domain/event.ts';
import type { Clock } from '../../process/clock.ts';

/** About five megabytes. */
const EVENTS_MAX = 20_000;
/** Longer than an event takes to be routed and recorded while nothing is broken, and much less than the log keeps it. */
const REMEMBERED_MS = 60 * 60 * 1000;

export interface AcceptedEvent {
  readonly merchantId: string;
  readonly type: EventType;
  readonly publishedBy: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * The last events that this process accepted, so that it can say of one that is on its way that it is. What was accepted
 * by another process, or before a start, is known once it is routed or in quarantine.
 */
export class AcceptedEvents {
  readonly #clock: Pick<Clock, 'wall'>;
  readonly #most: number;
  /** In the order of acceptance. */
  readonly #events = new Map<string, AcceptedEvent>();

  constructor(clock: Pick<Clock, 'wall'>, most = EVENTS_MAX) {
    this.#clock = clock;
    this.#most = most;
  }

  /** Remembers those of a request that were taken; a repeat or a conflict is not the event of its id. */
  add(events: readonly DomainEvent[], results: readonly PublishedEvent[]): void {
    const at = this.#clock.wall();
    for (const [index, { eventId, merchantId, type, publishedBy }] of events.entries()) {
      if (results[index] !== 'accepted') continue;
      this.#events.delete(eventId);
      this.#events.set(eventId, { merchantId, type, publishedBy, at });
    }
    for (const oldest of this.#events.keys()) {
      if (this.#events.size <= this.#most) break;
      this.#events.delete(oldest);
    }
  }

  find(eventId: string): AcceptedEvent | undefined {
    const found = this.#events.get(eventId);
    return found && this.#clock.wall() - found.at <= REMEMBERED_MS ? found : undefined;
  }
}
