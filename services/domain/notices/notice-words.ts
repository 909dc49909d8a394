import type { NoticeData } from './notice.ts';

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

/** Returns a duration as people read it. */
function durationText(seconds: number): string {
  if (seconds >= 2 * DAY_SECONDS) return `${Math.floor(seconds / DAY_SECONDS)} days`;
  if (seconds >= 2 * HOUR_SECONDS) return `${Math.floor(seconds / HOUR_SECONDS)} hours`;
  return `${Math.floor(seconds / 60)} minutes`;
}

/** Returns the time that is left, of data with `secondsLeft`. */
export function timeLeft({ secondsLeft }: NoticeData): string {
  return durationText(Number(secondsLeft));
}
