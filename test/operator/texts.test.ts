/** Operator commands refuse texts that a store could not keep unchanged, before they read or change anything. */
import { expect, test } from 'vitest';
import { runServed } from '../../services/operator/commands/command.ts';
import { SERVED } from '../../services/operator/commands/served.ts';
import { NO_PLACES } from '../support/service/no-places.ts';

test.each([
  ['U+0000', { name: 'Ac\0me' }, /^name: must not have the character U\+0000/],
  ['U+0000 in a list', { merchants: ['a', '\0'] }, /^merchants\/1: must not have the character U\+0000/],
  ['an unpaired surrogate', { to: '/a\ud800' }, /^to: must be well-formed Unicode/],
  ['U+0000 in a name', { 'a\0': 1 }, /^a\\u0000: must not have the character U\+0000/],
])('every command refuses %s', async (_, given, message) => {
  for (const [name, command] of Object.entries(SERVED))
    await expect(runServed(command, given, NO_PLACES), name).rejects.toThrow(message);
});
