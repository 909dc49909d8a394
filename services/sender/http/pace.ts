import type { ReceiverTime } from '../blame/blame.ts';

/** A response whose status and headers have arrived. */
export interface Answer {
  readonly status: number;
  /** Retry-After, where it is a number. */
  readonly retryAfterSeconds: number | null;
  /** How long the receiver certainly took, milliseconds. */
  readonly receiverMs: number;
}

/** An attempt that the lanes have started. */
export interface Pace {
  /** Whether it starts slow. */
  readonly isSlow: boolean;
  /** Whose time passes in it. It tells when the attempt turns slow. */
  readonly time: ReceiverTime;
  /** Called when the receiver has answered although the exchange goes on: the rest of the response is read for the log. */
  answered(answer: Answer): void;
}
