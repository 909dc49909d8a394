import type { BrokerCommand } from '../api/operator/broker-commands.ts';
import type { Arguments, OperatorCommand } from '../api/operator/commands.ts';

/** The options of every command, with yargs' own arguments. */
export interface GlobalOptions {
  readonly 'data-dir': string | undefined;
  readonly output: 'text' | 'json';
}

/** Runs a command and prints its result. */
export type Execute = (
  command: OperatorCommand | BrokerCommand,
  options: GlobalOptions,
  given: Arguments,
  /** Converts the result to the printed form. */
  shape?: (result: unknown) => unknown,
) => Promise<void>;
