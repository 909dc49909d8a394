import type { Dialect } from '../../sql/statements.ts';

export const POSTGRES_DIALECT: Dialect = {
  // Failures counted for an earlier generation no longer count.
  counted: (column) => `CASE WHEN h.generation = e.health_generation THEN h.${column} ELSE 0 END`,
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
