import { RFC_3339_MS_MAX, unitHint } from '../domain/content/event-time.ts';
import { isUuid } from '../domain/ids.ts';
import { canonicalDecimal } from '../domain/text/decimal.ts';
import { type EventProblem, report } from './event-problem.ts';

/** Limits on what an event may hold. Decimals: what Avro `decimal(38, 18)` holds. */
const STRING_CHARACTERS_MAX = 2_000;
export const ARRAY_ITEMS_MAX = 100;
const DECIMAL_INTEGER_DIGITS_MAX = 20;
const DECIMAL_FRACTION_DIGITS_MAX = 18;

/** Any surrogate. A second check finds lone ones: they have no UTF-8, so bytes and text would differ. */
const SURROGATE = /[\ud800-\udfff]/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** RFC 3339: date, time, fraction, offset. */
const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/** Returns the value in its canonical form, or undefined after reporting what is wrong. */
export type CheckScalar<T> = (value: unknown, pointer: string, problems: EventProblem[]) => T | undefined;

export const checkString: CheckScalar<string> = (value, pointer, problems) => {
  if (typeof value !== 'string') return report(problems, pointer, 'invalid_type', 'must be a string');
  if (value.length === 0) return report(problems, pointer, 'invalid_value', 'must not be empty');
  if (value.length > STRING_CHARACTERS_MAX) {
    const detail = `must have at most ${STRING_CHARACTERS_MAX} characters`;
    return report(problems, pointer, 'invalid_value', detail);
  }
  if (SURROGATE.test(value) && LONE_SURROGATE.test(value)) {
    return report(
      problems,
      pointer,
      'invalid_value',
      'must be well-formed Unicode: it has an unpaired surrogate',
    );
  }
  return value;
};

/** The form of a status or another value of an open list: a longer or stranger one is a mistake. */
const OPEN_VALUE = /^[A-Z][A-Z0-9_]{0,63}$/;

/**
 * Checks a value of a list that may grow: one that is not `known` passes, because the platform may have it before this
 * build does (docs/decisions.md, "Event data").
 */
export function checkOpenValue(known: readonly string[]): CheckScalar<string> {
  const detail =
    `must be a value such as ${known.join(' or ')}: a capital letter, then capital letters, digits and ` +
    'underscores, at most 64 characters';
  return (value, pointer, problems) => {
    if (typeof value !== 'string') return report(problems, pointer, 'invalid_type', 'must be a string');
    return OPEN_VALUE.test(value) ? value : report(problems, pointer, 'invalid_value', detail);
  };
}

const COUNTRY = /^[A-Z]{2}$/;
const CURRENCY = /^[A-Z]{3}$/;

export const checkCountry: CheckScalar<string> = (value, pointer, problems) => {
  if (typeof value !== 'string') return report(problems, pointer, 'invalid_type', 'must be a string');
  if (COUNTRY.test(value)) return value;
  return report(problems, pointer, 'invalid_value', 'must be a country: two capital letters, such as DE');
};

export const checkCurrency: CheckScalar<string> = (value, pointer, problems) => {
  if (typeof value !== 'string') return report(problems, pointer, 'invalid_type', 'must be a string');
  if (CURRENCY.test(value)) return value;
  return report(problems, pointer, 'invalid_value', 'must be a currency: three capital letters, such as EUR');
};

/** Ids are compared as text, so they are kept in lower case. */
export const checkUuid: CheckScalar<string> = (value, pointer, problems) => {
  if (typeof value !== 'string') return report(problems, pointer, 'invalid_type', 'must be a string, a UUID');
  if (!isUuid(value)) return report(problems, pointer, 'invalid_value', 'must be a UUID');
  return value.toLowerCase();
};

export const checkDecimal: CheckScalar<string> = (value, pointer, problems) => {
  if (typeof value !== 'string') {
    const detail = 'must be an amount as a string, for example "250.5": a JSON number would be rounded';
    return report(problems, pointer, 'invalid_type', detail);
  }
  // Zeros beyond these digits do not change the value; this only bounds the work.
  const decimal = value.length <= 100 ? canonicalDecimal(value) : undefined;
  if (decimal === undefined) {
    const detail = 'must be a plain decimal such as "250.5": digits, no exponent, no plus sign';
    return report(problems, pointer, 'invalid_value', detail);
  }
  if (decimal.startsWith('-')) return report(problems, pointer, 'invalid_value', 'must not be below zero');
  if (decimal.length > DECIMAL_FRACTION_DIGITS_MAX && !hasRoom(decimal)) {
    const detail =
      `must have at most ${DECIMAL_INTEGER_DIGITS_MAX} digits before the point ` +
      `and ${DECIMAL_FRACTION_DIGITS_MAX} after it`;
    return report(problems, pointer, 'invalid_value', detail);
  }
  return decimal;
};

function hasRoom(decimal: string): boolean {
  const point = decimal.indexOf('.');
  const integers = point === -1 ? decimal.length : point;
  const fractions = point === -1 ? 0 : decimal.length - point - 1;
  return integers <= DECIMAL_INTEGER_DIGITS_MAX && fractions <= DECIMAL_FRACTION_DIGITS_MAX;
}

export const checkInteger: CheckScalar<number> = (value, pointer, problems) => {
  if (typeof value !== 'number') return report(problems, pointer, 'invalid_type', 'must be a number');
  if (!Number.isSafeInteger(value)) {
    return report(problems, pointer, 'invalid_value', 'must be an integer within ±(2^53 − 1)');
  }
  return value;
};

export const checkBoolean: CheckScalar<boolean> = (value, pointer, problems) => {
  if (typeof value !== 'boolean') return report(problems, pointer, 'invalid_type', 'must be true or false');
  return value;
};

/** The latest time that JavaScript's Date can represent (ECMA-262, time values). */
const DATE_MS_MAX = 8.64e15;

/** Checks a moment of `data`, as milliseconds since the epoch. Accepts RFC 3339 text or milliseconds. */
export const checkTime = checkTimeUpTo(RFC_3339_MS_MAX);
/** Checks only the form of `occurredAt`: its bounds depend on the present time (domain/content/event-time.ts). */
export const checkOccurredAt = checkTimeUpTo(DATE_MS_MAX);

function checkTimeUpTo(latest: number): CheckScalar<number> {
  return (value, pointer, problems) => {
    if (typeof value === 'string') {
      const at = parseTime(value);
      if (at !== undefined) return at;
      const detail = 'must be a time such as "2025-01-31T12:00:00.000Z" (RFC 3339, with an offset)';
      return report(problems, pointer, 'invalid_value', detail);
    }
    if (typeof value !== 'number') {
      const detail = 'must be a time: RFC 3339 text, or milliseconds as a number';
      return report(problems, pointer, 'invalid_type', detail);
    }
    if (!Number.isInteger(value) || value < 0 || value > latest) {
      const detail = `must be whole milliseconds since 1970, not after the year 9999${unitHint(value)}`;
      return report(problems, pointer, 'invalid_value', detail);
    }
    return value;
  };
}

function parseTime(text: string): number | undefined {
  const match = RFC_3339.exec(text);
  if (match === null) return undefined;
  const at = Date.parse(text);
  // The offset may lead beyond the years that the output can write.
  if (Number.isNaN(at) || at < 0 || at > RFC_3339_MS_MAX) return undefined;
  // Date.parse reads 30 February as 1 or 2 March.
  const day = Number(match[3]);
  if (day <= 28) return at;
  const daysInMonth = new Date(Date.UTC(Number(match[1]), Number(match[2]), 0)).getUTCDate();
  return day <= daysInMonth ? at : undefined;
}
