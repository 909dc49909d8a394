/** Whatever is thrown can be told to people. */
import { expect, test } from 'vitest';
import { asError, errorLine, messageOf } from '../../services/messages/error-message.ts';

test('an error says its message, anything else what it is as text', () => {
  expect(messageOf(new TypeError('it broke\nhere'))).toBe('it broke\nhere');
  expect([messageOf('it broke'), messageOf(undefined)]).toEqual(['it broke', 'undefined']);
});

test('a line has no other line in it', () => {
  expect(errorLine(new Error('it broke\n  here'))).toBe('it broke here');
});

test('an error stays what it is, anything else becomes one', () => {
  const error = new TypeError('it broke');
  expect(asError(error)).toBe(error);
  expect(asError('it broke')).toEqual(new Error('it broke'));
});
