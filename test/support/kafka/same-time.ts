/** A broker time that equals the time of this process. */
export const SAME_TIME = {
  fromClock: (at: number) => at,
  toClock: (at: number) => at,
};
