/**
 * The sequence of an event: a number that rises strictly, for each entity, with the order in which its events were
 * accepted. A receiver that remembers the highest one knows what is older. Where it is made: docs/design/order.md.
 *
 * It is the microseconds since the epoch at which the event was accepted, or one more than the sequence before it: exact
 * as a double until the year 2255, and of 16 digits until 2286.
 */
export const SEQUENCES_PER_MS = 1000;

/**
 * The sequence of what has no place in the order: a test, and a task of a build that had no sequences. It is older than
 * every event, so a receiver that got it drops nothing because of it.
 */
export const NO_SEQUENCE = 0;
