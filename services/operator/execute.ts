import type { BrokerCommand } from '../api/operator/broker-commands.ts';
import type { Arguments, OperatorCommand } from '../api/operator/commands.ts';

/** The options that every command has, and yargs' own arguments besides. */
export interface GlobalOptions {
  readonly 'data-dir': string | undefined;
  readonly output: 'text' | 'json';
}

/** Has a command carried out, and prints what came of it. */
export type Execute = (
  command: OperatorCommand | BrokerCommand,
  options: GlobalOptions,
  given: Arguments,
  /** Turns the result into what is printed. */
  shape?: (result: unknown) => unknown,
) => Promise<void>;
