import { EXIT_FAILED, EXIT_OK, EXIT_USAGE } from '../services/messages/exit-codes.ts';

/** Exit codes of the command line, so that scripts and CI can see what went wrong without reading text. */
export const EXIT = {
  ok: EXIT_OK,
  expectation: EXIT_FAILED,
  usage: EXIT_USAGE,
  authentication: 3,
  api: 4,
  timeout: 5,
  unreachable: 6,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends a command: the message says what is wrong, and `next` the remedy. Any other error is a defect. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly exitCode: ExitCode;
  readonly next: readonly string[];
  readonly mistyped: Mistyped | undefined;

  constructor(exitCode: ExitCode, message: string, next: readonly string[] = [], mistyped?: Mistyped) {
    super(message);
    this.exitCode = exitCode;
    this.next = next;
    this.mistyped = mistyped;
  }
}

/** A word of the line that was typed, and the one that is meant: the advice ends in the line with this put right. */
export interface Mistyped {
  readonly typed: string;
  readonly meant: string;
  /** The advice when the word is not in the line, but in a file or the environment. */
  readonly otherwise?: readonly string[];
}

export function usage(message: string, ...next: readonly string[]): CommandFailure {
  return new CommandFailure(EXIT.usage, message, next);
}

/** A usage failure that one other word in the line would mend. Without a word that is meant, the advice is `otherwise`. */
export function mistyped(
  message: string,
  typed: string,
  meant: string | undefined,
  ...otherwise: readonly string[]
): CommandFailure {
  if (meant === undefined) return usage(message, ...otherwise);
  return new CommandFailure(EXIT.usage, message, [], { typed, meant, otherwise });
}
