import type { Broker } from '../../broker/broker.ts';
import { type Arguments, type BrokerContext, refuseTexts } from './arguments.ts';
import { RECORD_STORE_COMMANDS } from './record-stores.ts';
import { STREAM_COMMANDS } from './streams.ts';

/** Operator commands on the broker rather than the store: the same with a running service and without one. */

const COMMANDS = { ...RECORD_STORE_COMMANDS, ...STREAM_COMMANDS } as const;

export type BrokerCommand = keyof typeof COMMANDS;
export const BROKER_COMMANDS = Object.keys(COMMANDS) as BrokerCommand[];

export function isBrokerCommand(name: string): name is BrokerCommand {
  return Object.hasOwn(COMMANDS, name);
}

/** Runs one command. Throws OperatorError when it cannot be carried out. */
export async function runBrokerCommand(
  broker: Pick<Broker, 'quarantine' | 'deadLetters' | 'stalls' | 'losses'>,
  name: BrokerCommand,
  given: Arguments,
  context: BrokerContext,
): Promise<unknown> {
  refuseTexts(given);
  return COMMANDS[name](broker, given, context);
}
