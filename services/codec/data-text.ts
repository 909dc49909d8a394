import type { EventData } from '../domain/event.ts';

/** Known for as long as the data itself is. */
const texts = new WeakMap<EventData, string>();

/**
 * An event's data as JSON text. It is written three times within moments: on the event's own stream, in the journal, and
 * in the delivery log; the text is made once.
 */
export function dataText(data: EventData): string {
  const known = texts.get(data);
  if (known !== undefined) return known;
  const text = JSON.stringify(data);
  texts.set(data, text);
  return text;
}

/** The data that such a text stands for. Throws when it is not JSON. */
export function dataOf(text: string): EventData {
  const data: EventData = JSON.parse(text);
  texts.set(data, text);
  return data;
}
