/** Whether an attempt is slow. The lanes decide it, and nothing else does. */
export interface Pace {
  readonly isSlow: boolean;
  /** Called when a running attempt turns slow; set by the transport. */
  onSlow: () => void;
  /** Called when the attempt has to wait for a connection of ours: no time of its receiver passes until `stepped`. */
  held(): void;
  /** Called when our part is done: from now on the attempt waits for the receiver. */
  stepped(): void;
}
