import { type DomainEvent, type EventData, withData } from '../domain/event.ts';

/** Known for as long as the event itself is. */
const texts = new WeakMap<DomainEvent, string>();

/**
 * An event's data as JSON text. It is written three times within moments: on the event's own stream, in the journal, and
 * in the delivery log; the text is made once.
 */
export function dataText(event: DomainEvent): string {
  const known = texts.get(event);
  if (known !== undefined) return known;
  const text = JSON.stringify(event.data);
  texts.set(event, text);
  return text;
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
  texts.set(event, text);
  return event;
}
