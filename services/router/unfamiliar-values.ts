import { Counter, type Registry } from 'prom-client';
import { type Unfamiliar, unfamiliarIn } from '../domain/catalog/unfamiliar.ts';
import type { DomainEvent } from '../domain/event.ts';
import type { Logger } from '../telemetry/logger.ts';

/** The most values remembered as logged, so that a faulty producer cannot fill memory or log. */
const LOGGED_MAX = 1_000;

/** Counts the values that the catalog does not list, and logs each of them once. */
export class UnfamiliarValues {
  readonly #counter: Counter<'type' | 'field'>;
  readonly #log: Logger;
  readonly #logged = new Set<string>();
  /** By the result of the event's routing, until the result is used: the event's data is text by then. */
  readonly #found = new WeakMap<object, { event: DomainEvent; values: readonly Unfamiliar[] }>();

  constructor({ log, registry }: { readonly log: Logger; readonly registry: Registry }) {
    this.#log = log;
    this.#counter = new Counter({
      name: 'hookrail_unfamiliar_values_total',
      help: 'Values of routed events that the catalog does not list; they were delivered as they are.',
      labelNames: ['type', 'field'] as const,
      registers: [registry],
    });
  }

  /** Notes what is unfamiliar in an event, for when the result of its routing is used. */
  note(event: DomainEvent, result: object): void {
    const values = unfamiliarIn(event);
    if (values.length > 0) this.#found.set(result, { event, values });
  }

  /** Counts and logs what was noted of the event with this result. */
  report(result: object): void {
    const noted = this.#found.get(result);
    if (noted === undefined) return;
    const { type, subType, eventId, merchantId } = noted.event;
    for (const { field, value } of noted.values) {
      this.#counter.labels(type, field).inc();
      const key = `${type}/${subType}/${field}/${value}`;
      if (this.#logged.has(key) || this.#logged.size >= LOGGED_MAX) continue;
      this.#logged.add(key);
      this.#log.warn(
        { type, subType, field, value, eventId, merchantId },
        'unfamiliar value, delivered as it is',
      );
    }
  }
}
