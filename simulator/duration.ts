const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/** Parses "1500ms", "2s", "1.5m", "3h", "1d" to milliseconds; undefined when it is none of these. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text.trim());
  const unit = match?.[2] as keyof typeof UNITS | undefined;
  return match && unit ? Math.round(Number(match[1]) * UNITS[unit]) : undefined;
}

/** Returns the duration that a text must be: "30" is 30 seconds, "5min" 5m; undefined when it is a guess. */
export function meantDuration(text: string): string | undefined {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim()) ?? [];
  if (number === undefined) return undefined;
  const meant = OTHER_UNITS.find(([words]) => words.test(unit))?.[1];
  return meant && number + meant;
}

const OTHER_UNITS: readonly (readonly [RegExp, keyof typeof UNITS])[] = [
  [/^(|s|secs?|seconds?)$/i, 's'],
  [/^(ms|millis(econds?)?)$/i, 'ms'],
  [/^(m|mins?|minutes?)$/i, 'm'],
  [/^(h|hrs?|hours?)$/i, 'h'],
  [/^(d|days?)$/i, 'd'],
];
