const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** The windows that the screen has, by hours, with the length of a column of the time line. */
export const WINDOWS = [
  { hours: 24, stepMs: 15 * MINUTE_MS, label: 'Last 24 hours' },
  { hours: 168, stepMs: 2 * HOUR_MS, label: 'Last 7 days' },
  { hours: 720, stepMs: 8 * HOUR_MS, label: 'Last 30 days' },
] as const;

/** The choices of the screen are in its address: a reload keeps them, and a colleague sees the same. */
export interface MissedSearch {
  readonly endpoint?: string;
  readonly hours?: number;
  /** The range that is counted and brought back, as the API has times. */
  readonly since?: string;
  readonly until?: string;
}

const timeIn = (value: unknown) =>
  typeof value === 'string' && Number.isFinite(Date.parse(value)) ? new Date(value).toISOString() : undefined;

/** Returns the choices in an address; what it does not know is left out. */
export function missedSearchIn(search: Record<string, unknown>): MissedSearch {
  const { endpoint, hours } = search;
  const [since, until] = [timeIn(search.since), timeIn(search.until)];
  const isRange = since !== undefined && until !== undefined && since < until;
  return {
    ...(typeof endpoint === 'string' && endpoint !== '' ? { endpoint } : {}),
    ...(WINDOWS.some((one) => one.hours === hours) ? { hours: hours as number } : {}),
    ...(isRange ? { since, until } : {}),
  };
}

/** A period. Times are milliseconds since the epoch. */
export interface Window {
  readonly hours: number;
  readonly from: number;
  readonly to: number;
  readonly stepMs: number;
}

/** Returns the window that ends with the present column. It is the chosen one, or a longer one that has the range. */
export function windowOf({ hours = 24, since }: MissedSearch, now: number): Window {
  const reachesBack = (window: { readonly hours: number }) =>
    since === undefined || now - window.hours * HOUR_MS <= Date.parse(since);
  const found =
    WINDOWS.find((window) => window.hours >= hours && reachesBack(window)) ?? WINDOWS[WINDOWS.length - 1];
  const { hours: length = 24, stepMs = MINUTE_MS } = found ?? {};
  const to = (Math.floor(now / stepMs) + 1) * stepMs;
  return { hours: length, from: to - length * HOUR_MS, to, stepMs };
}
