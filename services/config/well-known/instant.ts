const INSTANT = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** An instant as settings write it, for messages. */
export const INSTANT_EXAMPLE = '2027-01-31 or 2027-01-31T12:00:00Z';

/** Returns the milliseconds of a date, which means midnight UTC, or of a time with an offset; undefined for other text. */
export function parseInstant(text: string): number | undefined {
  const [, date] = INSTANT.exec(text) ?? [];
  const at = Date.parse(text);
  if (date === undefined || Number.isNaN(at)) return undefined;
  // The parser takes the 30th of February for a day in March.
  const midnight = Date.parse(date);
  return new Date(midnight).toISOString().startsWith(date) ? at : undefined;
}
