import type { Exchange } from '../domain/attempt.ts';
import { failureCodeOf } from './http/failure-names.ts';
import type { AttemptEnding } from './lanes/queued-task.ts';

const BUSY: ReadonlySet<number> = new Set([429, 503]);

/** Returns the result of an exchange for the lanes. */
export function resultOf(exchange: Exchange): AttemptEnding {
  if (exchange.kind === 'interrupted') return 'uncounted';
  return exchange.response ? resultOfStatus(exchange.response.status) : 'failure';
}

/** The same of a response with this status. */
export function resultOfStatus(status: number): AttemptEnding {
  if (failureCodeOf(status) === null) return 'success';
  return BUSY.has(status) ? 'busy' : 'rejected';
}
