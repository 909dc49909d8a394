import { subjectIdFrom } from '../../../domain/catalog/subject.ts';
import { ENDPOINT_STATUSES } from '../../../domain/endpoint.ts';
import { EVENT_TYPES } from '../../../domain/event.ts';
import { CursorInvalid } from '../../../store/change.ts';
import { DELIVERY_STATUSES } from '../../../store/store.ts';
import { type Arguments, type Given, timeOf } from '../arguments.ts';
import { UsageError } from '../operator-error.ts';

/* What the lists of the log may be narrowed to, as the lists of a merchant are. */

export const MERCHANT = {
  merchant: { type: 'text', describe: 'Only of this merchant' },
} as const satisfies Arguments;

/** The page of a list. */
const PAGE = {
  limit: { type: 'number', most: 1000, default: 50, describe: 'Number of rows to list' },
  after: { type: 'text', describe: 'Only older ones than this cursor: the next that the page before names' },
} as const satisfies Arguments;

export const OF_LOG = {
  ...MERCHANT,
  endpoint: { type: 'uuid', describe: 'Only for this endpoint' },
  type: { type: 'text', choices: EVENT_TYPES, describe: 'Only events of this type' },
  transaction: { type: 'uuid', describe: 'Only about this transaction' },
  subject: { type: 'text', describe: 'Only about this transaction, account, user or corporate' },
  entity: { type: 'uuid', describe: 'Only about this user or corporate' },
  since: { type: 'time', describe: 'Only since this time: 2030-01-31T08:00:00Z, or 30m, 2h, 7d ago' },
  until: { type: 'time', describe: 'Only before this time' },
  ...PAGE,
} as const satisfies Arguments;

export const DELIVERY_STATUS = {
  status: { type: 'text', choices: DELIVERY_STATUSES, describe: 'Only with this status' },
} as const satisfies Arguments;

export const ENDPOINT_FILTER = {
  ...MERCHANT,
  status: { type: 'text', choices: ENDPOINT_STATUSES, describe: 'Only with this status' },
  failing: { type: 'flag', describe: 'Only active ones whose newest attempts failed' },
  ...PAGE,
} as const satisfies Arguments;

/** Returns the filter and the page, as the store has them. */
export function logFilterOf(given: Given<typeof OF_LOG>, now: number) {
  const { endpoint, type, transaction, subject, entity, limit, after } = given;
  const since = timeOf(given.since, now);
  const until = timeOf(given.until, now);
  return {
    limit,
    ...(endpoint === undefined ? {} : { endpointId: endpoint.toLowerCase() }),
    ...(type === undefined ? {} : { type }),
    ...(transaction === undefined ? {} : { transactionId: transaction.toLowerCase() }),
    ...(subject === undefined ? {} : { subjectId: subjectIdFrom(subject) ?? subject }),
    ...(entity === undefined ? {} : { entityId: entity.toLowerCase() }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(after === undefined ? {} : { after }),
  };
}

/** Converts a store's error for a text that is no cursor. */
export function refuseCursor(error: unknown): never {
  if (!(error instanceof CursorInvalid)) throw error;
  throw new UsageError('after: must be a cursor that a page of the same list has printed');
}
