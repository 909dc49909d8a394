/** An operator's command cannot be carried out; the message gives the reason and the remedy. */
export class OperatorError extends Error {
  /** Lines that help, each with a command. */
  readonly next: readonly string[];

  constructor(message: string, ...next: readonly string[]) {
    super(message);
    this.name = new.target.name;
    this.next = next;
  }
}

/** The command line, or the arguments of a request, cannot mean anything: nothing was tried. */
export class UsageError extends OperatorError {}
