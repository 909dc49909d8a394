import { unitHint } from '../../domain/content/event-time.ts';

const EXAMPLE = '2026-01-31T12:00:00Z';
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/;
/** `+01:00` after a query was decoded in which the `+` was not encoded. */
const SPACE_FOR_PLUS = /^(\S+) (\d{2}:\d{2})$/;
const NUMBER = /^-?\d{1,19}(?:\.\d+)?$/;

/** Returns what is wrong with a text that should be a time, and how to write it. */
export function timeDetail(value: string, place: 'query' | 'body'): string {
  const rule = `must be a time with an offset, such as ${EXAMPLE} (RFC 3339)`;
  const [, before, offset] = SPACE_FOR_PLUS.exec(value) ?? [];
  if (place === 'query' && before !== undefined && before.includes('T') && offset !== undefined)
    return `${rule}: write + as %2B in a URL, ${before}%2B${offset}`;
  if (DATE.test(value)) return `${rule}: ${value} is a date without a time; its begin is ${value}T00:00:00Z`;
  if (DATE_TIME.test(value)) return `${rule}: "${value}" has no offset, or no T between date and time`;
  if (NUMBER.test(value)) return `${rule}, not a number${unitOf(Number(value))}`;
  return rule;
}

function unitOf(value: number): string {
  const at = [1, 1000, 1 / 1000, 1 / 1_000_000].map((factor) => value * factor).find(isLikely);
  const unit = unitHint(value) || (isLikely(value) ? '; this looks like milliseconds' : '');
  return at === undefined ? unit : `${unit}: ${new Date(at).toISOString()}`;
}

/** Whether milliseconds since 1970 are a time from 2009 to 2099. */
function isLikely(at: number): boolean {
  return at >= Date.UTC(2009, 0, 1) && at < Date.UTC(2100, 0, 1);
}
