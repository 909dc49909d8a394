import { type DomainEvent, type EventData, withData } from '../domain/event.ts';

/** A class that extends this one puts its private fields on the event it is made with, not on an object of its own. */
class OnEvent {
  constructor(event: DomainEvent) {
    // biome-ignore lint/correctness/noConstructorReturn: so `this` is the event when the fields are made.
    return event;
  }
}

/**
 * A text known for as long as its event is, and hidden from spreading, comparing and JSON. What a WeakMap would do, at a
 * tenth of its cost: the garbage collector looks at each of a WeakMap's entries.
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

/** An event's data as JSON text. */
export function dataText(event: DomainEvent): string {
  return Text.of(event) ?? JSON.stringify(event.data);
}

/**
 * The same event, remembering the text of its data: it is written three times within moments, on the event's own stream,
 * in the journal and in the delivery log. An object of its own, of the shape that all have: what was made by spreading
 * takes on nothing more without being made over.
 */
export function withText(event: DomainEvent): DomainEvent {
  const own = withData(event, event.data);
  Text.keep(own, dataText(event));
  return own;
}

/**
 * The event whose data such a text stands for. The text is parsed when somebody looks at the data, which throws when it
 * is not JSON: who only passes an event on does not.
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
