/** Operator commands refuse texts that a store could not keep unchanged, before they read or change anything. */
import { expect, test } from 'vitest';
import type { Broker } from '../../services/broker/broker.ts';
import { BROKER_COMMANDS, runBrokerCommand } from '../../services/operator/commands/broker-commands.ts';
import {
  OPERATOR_COMMANDS,
  type OperatorDeps,
  runOperatorCommand,
} from '../../services/operator/commands/commands.ts';

/** Fails whoever reads one of its properties. */
const UNTOUCHED = new Proxy(
  {},
  {
    get: (_, name) => {
      throw new Error(`${String(name)} is used`);
    },
  },
);

test.each([
  ['U+0000', { name: 'Ac\0me' }, /^name: must not have the character U\+0000/],
  ['U+0000 in a list', { merchants: ['a', '\0'] }, /^merchants\/1: must not have the character U\+0000/],
  ['an unpaired surrogate', { to: '/a\ud800' }, /^to: must be well-formed Unicode/],
  ['U+0000 in a name', { 'a\0': 1 }, /^a\\u0000: must not have the character U\+0000/],
])('every command refuses %s', async (_, given, message) => {
  for (const command of OPERATOR_COMMANDS)
    await expect(runOperatorCommand(UNTOUCHED as OperatorDeps, command, given), command).rejects.toThrow(
      message,
    );
  for (const command of BROKER_COMMANDS) {
    const context = { now: 0, audit: async () => {} };
    await expect(runBrokerCommand(UNTOUCHED as Broker, command, given, context), command).rejects.toThrow(
      message,
    );
  }
});
