/** A response whose status and headers have arrived. */
export interface Answer {
  readonly status: number;
  /** Retry-After, where it is a number. */
  readonly retryAfterSeconds: number | null;
  /** How long the receiver certainly took, milliseconds. */
  readonly receiverMs: number;
}

/** Whether an attempt is slow. The lanes decide it, and nothing else does. */
export interface Pace {
  readonly isSlow: boolean;
  /** Called when a running attempt turns slow; set by the transport. */
  onSlow: () => void;
  /** Called when the attempt has to wait for a connection of ours: no time of its receiver passes until `stepped`. */
  held(): void;
  /** Called when our part is done: from now on the attempt waits for the receiver. */
  stepped(): void;
  /** Called when the receiver has answered although the exchange goes on: the rest of the response is read for the log. */
  answered(answer: Answer): void;
}
