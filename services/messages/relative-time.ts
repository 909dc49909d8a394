/** Returns how long ago a time was, or how long it is until then: "3 min ago", "in 2 h". Both are in milliseconds. */
export function relativeTime(at: number, now: number): string {
  const text = durationText(Math.abs(now - at) / 1000);
  return at <= now ? `${text} ago` : `in ${text}`;
}

/** Returns a duration in the unit that a person would use: "42 s", "3 min", "5 h", "12 d". */
export function durationText(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}
