import type { Dialect } from '../../sql/statements.ts';
import { SELECT_ENDPOINT_OR_TOMBSTONE } from './select-endpoint.ts';

export const POSTGRES_DIALECT: Dialect = {
  endpoints: SELECT_ENDPOINT_OR_TOMBSTONE,
  // The planner knows how many rows each condition finds.
  notByIndex: (column) => column,
  forUpdate: (of) => `FOR UPDATE${of === undefined ? '' : ` OF ${of}`}`,
  skipLocked: 'FOR UPDATE SKIP LOCKED',
  nextVersion: (version) => `next_version(${version})`,
  newNumber: 'seq = DEFAULT,',
  among: (column, parameter, type) => `${column} = ANY(${parameter}::${type}[])`,
  list: (values) => values,
  answerKeyId: `CASE WHEN sealed LIKE '{%"keyId"%}' THEN sealed::json ->> 'keyId' END`,
};
