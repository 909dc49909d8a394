/**
 * The first hop may be skipped: an engine may pass an input on, and take what follows from it, before the input is
 * durable. It may as well not do so.
 */
export interface Inline<In, Out> {
  /** Whether this input will be settled soon: an engine may keep another input open for it. */
  readonly isPrompt?: (input: In) => boolean;
  /** The handler does nothing but answer: an engine may call it before the input is durable, and drop the result. */
  readonly isPure?: boolean;
  /** Called with each result that is used. */
  readonly used?: (out: Out) => void;
}
