import { type DomainEvent, type EventData, withData } from '../domain/event.ts';

/** A subclass puts its private fields on the event passed to the constructor, not on an object of its own. */
class OnEvent {
  constructor(event: DomainEvent) {
    // biome-ignore lint/correctness/noConstructorReturn: makes `this` the event when the fields are created.
    return event;
  }
}

/**
 * A text attached to its event, invisible to spreading, comparison and JSON. It does what a WeakMap would do at a
 * tenth of the cost: the garbage collector visits every entry of a WeakMap.
 */
class Text extends OnEvent {
  readonly #text: string;

  private constructor(event: DomainEvent, text: string) {
    super(event);
    this.#text = text;
  }

  static keep(event: DomainEvent, text: string): void {
    new Text(event, text);
  }

  static of(event: DomainEvent | Text): string | undefined {
    return #text in event ? event.#text : undefined;
  }
}

/** Returns an event's data as JSON text. */
export function dataText(event: DomainEvent): string {
  return Text.of(event) ?? JSON.stringify(event.data);
}

/**
 * Returns a copy of the event that remembers the text of its data. The text is written three times within moments: to
 * the event's own stream, the journal and the delivery log. The copy is a new object of the shape that all events
 * share: adding a field to an object made by spreading forces V8 to rebuild it.
 */
export function withText(event: DomainEvent): DomainEvent {
  const own = withData(event, event.data);
  Text.keep(own, dataText(event));
  return own;
}

/**
 * Returns an event whose data is parsed from `text` on first access. Invalid JSON throws then, so code that only
 * passes the event on never fails.
 */
export function eventOfText(head: Omit<DomainEvent, 'data'>, text: string): DomainEvent {
  let data: EventData | undefined;
  const get = () => {
    data ??= JSON.parse(text) as EventData;
    return data;
  };
  const event: DomainEvent = Object.defineProperty(withData(head, {}), 'data', { get, enumerable: true });
  Text.keep(event, text);
  return event;
}
