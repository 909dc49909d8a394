/**
 * The header of responses that says by how many milliseconds the clock of a sandbox was moved on; absent where it was not
 * (docs/simulator.md, "Move the clock on").
 */
export const CLOCK_AHEAD_HEADER = 'Clock-Ahead-Ms';
