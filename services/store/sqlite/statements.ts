import type { Database } from 'better-sqlite3';
import type { Dialect, Statements } from '../sql/statements.ts';

export const SQLITE_DIALECT: Dialect = {
  counted: (column) => `coalesce(h.${column}, 0)`,
  notByIndex: (column) => `+${column}`,
  // One thread writes.
  forUpdate: () => '',
  skipLocked: '',
  nextVersion: (version) => `${version} + 1`,
  newNumber: '',
  among: (column, parameter) => `${column} IN (SELECT value FROM json_each(${parameter}))`,
  list: (values) => JSON.stringify(values),
  answerKeyId: "CASE WHEN json_valid(sealed) THEN sealed ->> '$.keyId' END",
};

/**
 * The statements of a connection to the file. Each is carried out at once, so a rule that awaits them ends within the
 * same turn of the event loop: nothing else uses the connection meanwhile.
 */
export function statementsOf(db: Database): Statements {
  const prepared = new Map<string, ReturnType<Database['prepare']>>();
  const statement = (text: string) => {
    const known = prepared.get(text) ?? db.prepare(text);
    prepared.set(text, known);
    return known;
  };
  return {
    dialect: SQLITE_DIALECT,
    rows: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      statement(text).all(named(values)) as Row[],
    first: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      statement(text).get(named(values)) as Row | undefined,
    change: async (text, values = []) => statement(text).run(named(values)).changes,
  };
}

/** $1 is a parameter with the name 1. */
function named(values: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(values.map((value, index) => [index + 1, stored(value)]));
}

function stored(value: unknown): unknown {
  return typeof value === 'boolean' ? Number(value) : (value ?? null);
}
