export type EventProblemCode =
  | 'required'
  | 'invalid_type'
  | 'unknown_field'
  | 'invalid_enum'
  | 'invalid_value'
  | 'too_long';

/** One thing that is wrong with an event. */
export interface EventProblem {
  /** RFC 6901, from the event's root: `/data/amountFiat`. */
  pointer: string;
  readonly code: EventProblemCode;
  /** The fault and the remedy; never contains a value of `data`, which may be personal. */
  readonly detail: string;
}

/** The most problems reported of one event, so that a hostile event cannot cause a huge response. */
const EVENT_PROBLEMS_MAX = 20;

/** Adds a problem, unless the limit is reached. */
export function report(
  problems: EventProblem[],
  pointer: string,
  code: EventProblemCode,
  detail: string,
): undefined {
  if (problems.length < EVENT_PROBLEMS_MAX) problems.push({ pointer, code, detail });
  return undefined;
}

/** Quotes and shortens text from the sender for use in a detail. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/** Escapes a member name for a JSON pointer, and cuts it beyond the length of any known field. */
export function pointerPart(name: string): string {
  return name.slice(0, 60).replaceAll('~', '~0').replaceAll('/', '~1');
}
