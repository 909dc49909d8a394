/** One thing that is wrong with an event's content. `detail` never has a value of `data` that may be personal. */
export interface ContentFault {
  /** RFC 6901, from the event's root. */
  readonly pointer: string;
  readonly detail: string;
}
