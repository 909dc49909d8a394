import { isUuid } from '../../../services/domain/ids.ts';
import { visible } from '../../../services/domain/text/visible-text.ts';
import { MerchantApi } from '../../client/merchant-api.ts';
import { parseDuration } from '../../duration.ts';
import { usage } from '../../exit.ts';
import { parsePast, pastTime } from '../../past-time.ts';
import type { Session } from '../../session.ts';
import { findEndpoint } from './find.ts';

const LIMIT_MAX = 10_000;

/** Options of a command that shows only what is about one thing. */
export const ABOUT = {
  transaction: { type: 'string', describe: 'Only about this transaction (uuid)' },
  subject: { type: 'string', describe: 'Only about this: a transaction, account, profile or wallet' },
  entity: { type: 'string', describe: 'Only about this user or corporate (uuid)' },
} as const;

/** Filters of the lists and tails of events and deliveries, as they are typed. */
export interface LogOptions {
  readonly transaction?: string;
  readonly subject?: string;
  readonly entity?: string;
  /** A uuid, digits of one, a description or a URL. */
  readonly endpoint?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit?: number;
}

export type AboutOptions = Pick<LogOptions, 'transaction' | 'subject' | 'entity'>;

export interface AboutQuery {
  readonly transaction_uuid?: string;
  readonly subject_uuid?: string;
  readonly entity_uuid?: string;
}

/** The same filters as parameters of a request. */
export interface LogQuery extends AboutQuery {
  readonly endpoint_uuid: string | undefined;
  /** RFC 3339. */
  readonly since: string | undefined;
  readonly until: string | undefined;
}

/**
 * Returns the filters as parameters of a request, and the client that it goes to; the stream takes only `about`. Throws a
 * usage failure for what cannot be meant, before anything is asked. `command` is shown in the refusal.
 */
export async function logQuery(
  session: Session,
  command: string,
  options: LogOptions,
): Promise<{ readonly api: MerchantApi; readonly about: AboutQuery; readonly query: LogQuery }> {
  if (options.limit !== undefined) checkLimit(options.limit);
  const about = aboutQuery(options);
  const since = parsePast('since', options.since, command);
  const until = parsePast('until', options.until, command);
  const api = new MerchantApi(session.api());
  const query = {
    ...about,
    endpoint_uuid: options.endpoint ? await findEndpoint(api, options.endpoint) : undefined,
    since: since && (await pastTime(since, api)),
    until: until && (await pastTime(until, api)),
  };
  return { api, about, query };
}

/** Returns how long a tail lasts, milliseconds; Infinity = until Ctrl-C. */
export function tailMs(text: string | undefined): number {
  const ms = text === undefined ? Number.POSITIVE_INFINITY : parseDuration(text);
  if (ms === undefined) throw usage(`--for "${text}" is not a duration, such as 30s`);
  return ms;
}

/** Refuses a number of items that is none, or too large. */
function checkLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return;
  throw usage(`--limit must be a whole number from 1 to ${LIMIT_MAX}`);
}

/** Returns the filters by what an event is about. Throws a usage failure for what is no UUID. */
export function aboutQuery({ transaction, subject, entity }: AboutOptions): AboutQuery {
  for (const [name, value] of Object.entries({ transaction, entity }))
    if (value !== undefined && !isUuid(value))
      throw usage(`--${name} "${visible(value)}" is not a UUID`, 'hookrail sim lookup <id>');
  return {
    ...(transaction === undefined ? {} : { transaction_uuid: transaction }),
    ...(subject === undefined ? {} : { subject_uuid: subject }),
    ...(entity === undefined ? {} : { entity_uuid: entity }),
  };
}
