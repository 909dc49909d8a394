/** Formats milliseconds for a person: "4 ms", "3 s", "12 m 11 s", "12 h 57 m". */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${Number(seconds.toFixed(seconds < 10 ? 1 : 0))} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return parts(Math.floor(whole / 60), 'm', whole % 60, 's');
  const minutes = Math.round(seconds / 60);
  if (minutes < 24 * 60) return parts(Math.floor(minutes / 60), 'h', minutes % 60, 'm');
  const hours = Math.round(seconds / 3600);
  return parts(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

/** Formats the time that is left, in whole seconds: a countdown. */
export function formatCountdown(ms: number): string {
  return formatDuration(Math.max(1, Math.ceil(ms / 1000)) * 1000);
}

function parts(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}
