/** The brokers' time where it is this process's. */
export const SAME_TIME = {
  fromClock: (at: number) => at,
  toClock: (at: number) => at,
};
