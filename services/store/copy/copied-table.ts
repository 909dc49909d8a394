import { hash } from 'node:crypto';
import type Database from 'better-sqlite3';
import { messageOf } from '../../messages/error-message.ts';
import { unpackId } from '../../sqlite/ids.ts';
import { CopyRows } from '../postgres/client/copy-rows.ts';
import { idBytes } from '../postgres/client/packed-id.ts';
import type { Statements } from '../sql/statements.ts';
import { FORMS } from './table-forms.ts';

/** A table of PostgreSQL, as its catalogue has it. */
export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
}

interface Column {
  readonly name: string;
  readonly type: string;
  /** The database numbers its rows. */
  readonly isNumbered: boolean;
}

/** The number of a table's rows, and the sum of their checksums: in whatever order they are read, it is the same. */
interface Tally {
  readonly rows: number;
  readonly sum: bigint;
}

interface ColumnType {
  add(rows: CopyRows, value: never): CopyRows;
  /** Returns the SQL of the bytes that `add` writes, without their length. */
  bytes(column: string): string;
}

/** By PostgreSQL's names. SQLite has an id as 16 bytes or text; PostgreSQL in a column of bytes or of text. */
const TYPES: Readonly<Record<string, ColumnType>> = {
  int2: { add: (rows, value: number | null) => rows.smallint(value), bytes: (name) => `int2send(${name})` },
  int4: { add: (rows, value: number | null) => rows.int(value), bytes: (name) => `int4send(${name})` },
  int8: { add: (rows, value: number | null) => rows.bigint(value), bytes: (name) => `int8send(${name})` },
  float8: {
    add: (rows, value: number | null) => rows.float8(value),
    bytes: (name) => `float8send(${name})`,
  },
  text: {
    add: (rows, value: Uint8Array | string | null) => rows.text(value && unpackId(value)),
    bytes: (name) => `convert_to(${name}, 'UTF8')`,
  },
  bytea: {
    add: (rows, value: Uint8Array | string | null) =>
      rows.bytea(typeof value === 'string' ? idBytes(value) : value),
    bytes: (name) => name,
  },
};

/** Rows are sent in parts of this size, so that memory stays bounded. */
const PART_BYTES = 256 * 1024;

/** A table as it is copied and compared. */
export class CopiedTable {
  readonly name: string;
  /** The table with its columns, as COPY names them. */
  readonly into: string;
  readonly #columns: readonly Column[];
  readonly #types: readonly ColumnType[];
  readonly #selects: readonly Database.Statement[];

  /** Throws when the SQLite store does not have what the table needs. */
  constructor(db: Database.Database, { name, columns }: Table) {
    this.name = name;
    this.#columns = columns;
    this.into = `${name} (${columns.map((column) => column.name).join(', ')})`;
    this.#types = columns.map(({ type, name: column }) => {
      const known = TYPES[type];
      if (!known) throw new Error(`the column ${name}.${column} has the type ${type}: TYPES lacks it`);
      return known;
    });
    this.#selects = (FORMS[name] ?? [{ from: `${name} t` }]).map(({ from, columns: other }) => {
      const selected = columns.map((column) => other?.[column.name] ?? `t.${column.name}`).join(', ');
      try {
        return db.prepare(`SELECT ${selected} FROM ${from}`).raw();
      } catch (error) {
        throw new Error(
          `the SQLite store lacks what the table ${name} needs: ${messageOf(error)}: add its form to services/store/copy/table-forms.ts`,
        );
      }
    });
  }

  /** The columns that the database numbers. */
  get numbered(): readonly string[] {
    return this.#columns.filter(({ isNumbered }) => isNumbered).map(({ name }) => name);
  }

  /** Reads the SQLite store. Returns what COPY is given, part by part. `seen`: called with the bytes of each row. */
  *parts(seen: (row: Buffer, count: number) => void): Generator<Buffer> {
    const rows = new CopyRows(this.#types.length);
    for (const select of this.#selects)
      for (const row of select.iterate() as Iterable<readonly never[]>) {
        rows.row();
        for (const [at, type] of this.#types.entries()) type.add(rows, row[at] as never);
        seen(rows.last, rows.count);
        if (rows.size >= PART_BYTES) yield rows.take();
      }
    yield rows.end();
  }

  /** Reads the SQLite store. Returns what the rows are in PostgreSQL. */
  async expected(told: (count: number) => void): Promise<Tally> {
    const tally = { rows: 0, sum: 0n };
    const parts = this.parts((row, count) => {
      tally.rows = count;
      tally.sum += hash('sha256', row, 'buffer').readBigInt64BE(0);
      told(count);
    });
    // What comes in meanwhile, such as the answer of PostgreSQL, has its turn.
    for (const _ of parts) await new Promise(setImmediate);
    return tally;
  }

  /** Reads PostgreSQL. Returns what its rows are. */
  async found({ first }: Statements): Promise<Tally> {
    const bytes = this.#columns.map(({ name }, at) => this.#types[at]?.bytes(name));
    const row = bytes.map((each) => `coalesce(int4send(length(${each})) || ${each}, '\\xffffffff')`);
    const checksum = `('x' || encode(substr(sha256(${row.join(' || ')}), 1, 8), 'hex'))::bit(64)::bigint`;
    const tally = await first<{ readonly rows: number; readonly sum: string }>(
      `SELECT count(*) AS rows, coalesce(sum(${checksum}), 0)::text AS sum FROM ${this.name}`,
    );
    return { rows: tally?.rows ?? 0, sum: BigInt(tally?.sum ?? 0) };
  }
}
