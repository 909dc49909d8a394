/** An invalid choice for a sample: the message names the choice and the valid ones. */
export class SampleChoiceError extends Error {
  override readonly name = 'SampleChoiceError';
}

/** Throws unless `value` is one of `known`. */
export function mustBeOneOf(what: string, value: string, known: readonly string[]): void {
  if (known.includes(value)) return;
  throw new SampleChoiceError(`${what} "${value}" is not one of: ${known.join(', ')}`);
}
