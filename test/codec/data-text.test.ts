import { expect, test } from 'vitest';
import { dataText, eventOfText, withText } from '../../services/codec/data-text.ts';
import { eventOf } from '../support/records/events.ts';

const EVENT = eventOf('3a1c2f60-5b77-4a9e-8f0e-2f6f2f0c9d11', 'data-text');

test('the text of an event’s data is made once, and stays with its event', () => {
  const event = withText({ ...EVENT, data: { ...EVENT.data } });
  const text = dataText(event);
  expect(JSON.parse(text)).toEqual(EVENT.data);
  Object.assign(event.data, { later: 'not looked at again' });
  expect(dataText(event)).toBe(text);
  expect(dataText(withText(event))).toBe(text);
});

test('a copy of an event with other data has a text of its own', () => {
  expect(dataText({ ...withText(EVENT), data: { other: 1 } })).toBe('{"other":1}');
});

test('the text of an event is invisible: the event equals one without it, as object and as JSON', () => {
  const event = withText(EVENT);
  expect(event).toStrictEqual({ ...EVENT });
  expect(JSON.stringify(event)).toBe(JSON.stringify(EVENT));
  expect(Reflect.ownKeys(event)).toEqual(Reflect.ownKeys(EVENT));
});

test('an event made from a text keeps that text, and parses it on demand', () => {
  const event = eventOfText(EVENT, '{"a" : 1}');
  expect(dataText(event)).toBe('{"a" : 1}');
  expect(event.data).toEqual({ a: 1 });
  const broken = eventOfText(EVENT, 'no JSON');
  expect(dataText(broken)).toBe('no JSON');
  expect(() => broken.data).toThrow(SyntaxError);
});
