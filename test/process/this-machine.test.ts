/** A connection is this machine's own by its addresses, never by a name. */
import { expect, test } from 'vitest';
import { isFromHere } from '../../services/process/access/this-machine.ts';

test.each([
  ['127.0.0.1', '127.0.0.1', true],
  ['127.9.8.7', '127.0.0.1', true],
  ['::1', '::1', true],
  ['::ffff:127.0.0.1', '::ffff:127.0.0.1', true],
  ['192.0.2.2', '192.0.2.2', true],
  ['::ffff:192.0.2.2', '192.0.2.2', true],
  ['fe80::1%eth0', 'fe80::1%eth0', true],
  ['192.0.2.3', '192.0.2.2', false],
  ['192.0.2.2', '127.0.0.1', false],
  ['::ffff:192.0.2.3', '192.0.2.2', false],
  ['128.0.0.1', '192.0.2.2', false],
  ['::2', '::1', false],
  ['127.evil.example', '192.0.2.2', false],
  ['', undefined, false],
  ['', '', false],
])('a connection from %j to %j comes from here: %s', (from, reached, isHere) => {
  expect(isFromHere(from, reached)).toBe(isHere);
});
