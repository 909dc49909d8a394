import type { BrokerCommand } from '../commands/broker-commands.ts';
import type { Arguments, OperatorCommand } from '../commands/commands.ts';

/** The options of every command, with yargs' own arguments. */
export interface GlobalOptions {
  readonly 'data-dir': string | undefined;
  readonly output: 'text' | 'json';
  readonly as: string | undefined;
}

/** Runs a command and prints its result. */
export type Execute = (
  command: OperatorCommand | BrokerCommand,
  options: GlobalOptions,
  given: Arguments,
  /** Converts the result to the printed form. */
  shape?: (result: unknown) => unknown,
) => Promise<void>;
