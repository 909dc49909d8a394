/** The publishing of events: a part of the broker port (broker.ts). */
import type { DomainEvent } from '../domain/event.ts';
import type { Refusal } from '../domain/quarantine.ts';

export type PublishedEvent = 'accepted' | 'duplicate' | 'conflict';

export interface PublishOptions {
  /** W3C. Sent with the events where they have headers; elsewhere their trace begins at the router. */
  readonly traceparent?: string | undefined;
  /** Events that must not be routed, with the reason: the router quarantines them, whatever it knows by then. */
  readonly refusals?: ReadonlyMap<DomainEvent, Refusal>;
  /** Publishes nothing: returns what each event would be, as far as the engine knows it at publish. */
  readonly isDry?: boolean;
}
