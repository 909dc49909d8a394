/** A destination of text: process.stdout and process.stderr, or a test's substitute. */
export interface Sink {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  /** The width of a terminal, in characters. */
  readonly columns?: number | undefined;
}
