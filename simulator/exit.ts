/** Exit codes of the command line, so that scripts and CI can see what went wrong without reading text. */
export const EXIT = {
  ok: 0,
  expectation: 1,
  usage: 2,
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

  constructor(exitCode: ExitCode, message: string, next: readonly string[] = []) {
    super(message);
    this.exitCode = exitCode;
    this.next = next;
  }
}

export function usage(message: string, ...next: readonly string[]): CommandFailure {
  return new CommandFailure(EXIT.usage, message, next);
}
