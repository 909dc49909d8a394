import type { Dialect } from '../../sql/statements.ts';
import { SELECT_ENDPOINT_OR_TOMBSTONE } from './select-endpoint.ts';

export const POSTGRES_DIALECT: Dialect = {
  endpoints: SELECT_ENDPOINT_OR_TOMBSTONE,
  // The planner knows how many rows each condition finds.
  notByIndex: (column) => column,
  answerKeyId: `CASE WHEN sealed LIKE '{%"keyId"%}' THEN sealed::json ->> 'keyId' END`,
};
