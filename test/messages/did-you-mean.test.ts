/** A mistyped name is answered with the known ones that are like it. */
import { expect, test } from 'vitest';
import { didYouMean, meantName } from '../../services/messages/did-you-mean.ts';

const KNOWN = ['data.amountFiat', 'data.status', 'data.chain', 'header.eventId'];

test.each([
  ['data.statsu', KNOWN, '; did you mean data.status, data.chain?'],
  ['DATA.STATUS', ['data.status'], '; did you mean data.status?'],
  ['amountFiat', KNOWN, '; did you mean data.amountFiat?'],
  ['xyzzy', KNOWN, ''],
  ['data.status', [], ''],
  ['x'.repeat(61), ['x'.repeat(61)], ''],
])('the name %s gets the hint of the known names near it', (name, known, hint) => {
  expect(didYouMean(name, known)).toBe(hint);
});

test('the nearest come first, three or as many as are asked for', () => {
  const known = ['abcdxx', 'abcdex', 'abcdef', 'abcxxx'];
  expect(didYouMean('abcdef', known)).toBe('; did you mean abcdef, abcdex, abcdxx?');
  expect(didYouMean('abcdeg', known, 1)).toBe('; did you mean abcdef?');
});

test.each([
  ['docter', ['doctor', 'docs'], 'doctor'],
  ['rnu', ['run', 'trigger'], 'run'],
  ['full-user', ['FULL_USER', 'SUSPENDED'], 'FULL_USER'],
  ['sed', ['set', 'seed'], 'seed'],
  ['forward', ['forward-to', 'path'], 'forward-to'],
  ['KYS', ['KYB', 'KYC'], undefined],
  ['logs', ['load', 'docs'], undefined],
  ['repeat', ['replay'], undefined],
  ['NBLOCKED', ['BLOCKED', 'UNBLOCKED'], undefined],
])('the mistyped name %s can only be one of %j: %s', (name, known, meant) => {
  expect(meantName(name, known)).toBe(meant);
});
