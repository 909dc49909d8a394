/** The copy cannot begin or go on; the message gives the reason, and `next` what to do about it. */
export class CopyRefused extends Error {
  override readonly name = 'CopyRefused';
  readonly next: readonly string[];

  constructor(message: string, ...next: readonly string[]) {
    super(message);
    this.next = next;
  }
}
