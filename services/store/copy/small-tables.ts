import { unpackId } from '../../sqlite/ids.ts';
import { CopyRows } from '../postgres/client/copy-rows.ts';
import type { Transaction } from '../postgres/client/statements.ts';
import { translatedPlace } from './replay-place.ts';
import type { Sqlite } from './source.ts';

/** Rows of one statement. */
const ROWS_MAX = 2_000;

type Type = 'bigint' | 'smallint' | 'int' | 'float8' | 'text' | 'bytea';
type Values = Readonly<Record<string, unknown>>;

/** A table that both stores have, with its columns in the target. */
interface SmallTable {
  readonly name: string;
  readonly columns: Readonly<Record<string, Type>>;
  /** Selects the rows in the source. */
  readonly select: string;
  /** Returns the columns that are not the source's. */
  readonly change?: (row: Values, source: Sqlite) => Values;
}

const table = (
  name: string,
  columns: SmallTable['columns'],
  more: Partial<Pick<SmallTable, 'select' | 'change'>> = {},
): SmallTable => ({ name, columns, select: `SELECT * FROM ${name}`, ...more });

const AUDIT = table(
  'audit',
  {
    ...{ audit_id: 'bigint', at: 'bigint', actor: 'text', merchant_id: 'text', endpoint_uuid: 'text' },
    ...{ action: 'text', details: 'text', person: 'text' },
  },
  { select: 'SELECT * FROM audit WHERE audit_id > ? AND audit_id <= ? ORDER BY audit_id' },
);

const ERASURE = table(
  'erasure',
  {
    ...{
      erasure_id: 'bigint',
      entity_id: 'text',
      merchant: 'int',
      accepted_before: 'bigint',
      done_at: 'bigint',
    },
  },
  { change: ({ entity_id }) => ({ entity_id: unpackId(entity_id as Uint8Array | string) }) },
);

/** The seal of a merchant or an endpoint, which stays as it is: the record is the same. */
const SEAL = { seal_key_id: 'text', seal_version: 'bigint', seal_mac: 'text' } as const;

/** The tables that are copied as they are when the service was stopped, in the place of what was there. */
const MANAGEMENT: readonly SmallTable[] = [
  table('merchant', {
    ...{ seq: 'bigint', merchant_id: 'text', name: 'text', state: 'text' },
    ...{ sender_account_details: 'smallint', version: 'bigint' },
    ...SEAL,
  }),
  table('api_key', {
    ...{ seq: 'bigint', key_id: 'text', kind: 'text', merchant_id: 'text', hash: 'bytea', hint: 'text' },
    ...{ name: 'text', created_at: 'bigint', revoked_at: 'bigint', last_used_at: 'bigint' },
    ...{ types: 'text', merchants: 'text' },
  }),
  table('endpoint', {
    ...{ seq: 'bigint', uuid: 'text', merchant_id: 'text', url: 'text', description: 'text' },
    ...{ subscribed_events: 'text', status: 'text', api_version: 'text', secret_key_id: 'text' },
    ...{ secret_ciphertext: 'text', secret_hint: 'text', secret_rotated_at: 'bigint', legacy: 'smallint' },
    ...{ version: 'bigint', created_at: 'bigint', updated_at: 'bigint', activated_at: 'bigint' },
    ...{ disabled_at: 'bigint', disabled_reason: 'text', deleted_at: 'bigint' },
    ...SEAL,
  }),
  table(
    'endpoint_health',
    {
      ...{ endpoint: 'bigint', generation: 'int', failure_count: 'bigint', exhausted_count: 'bigint' },
      ...{ last_success_at: 'float8', last_failure_at: 'float8', last_failure_code: 'text' },
      ...{ last_failure_status: 'int' },
    },
    // As the endpoints are copied: of the first generation.
    { change: () => ({ generation: 0 }) },
  ),
  table(
    'answer',
    {
      ...{ scope: 'text', token: 'text', request_hash: 'text', status: 'int', sealed: 'text' },
      ...{ outbox_id: 'bigint', expires_at: 'bigint' },
    },
    // Its claim has ended.
    { change: () => ({ token: '' }) },
  ),
  table('outbox', { outbox_id: 'bigint', change: 'text' }),
  table(
    'replay',
    {
      ...{ seq: 'bigint', replay_id: 'text', merchant_id: 'text', endpoint_id: 'text', kind: 'text' },
      ...{ since: 'bigint', until: 'bigint', types: 'text', count: 'bigint', published: 'bigint' },
      ...{ left_out: 'bigint', place: 'text', status: 'text', cancel_reason: 'text', created_at: 'bigint' },
      ...{ finished_at: 'bigint' },
    },
    { change: ({ place }, source) => ({ place: translatedPlace(source, place as string | null) }) },
  ),
  ERASURE,
];

/** Copies the tables that the api changes, in the place of an earlier copy. */
export async function copyManagement(tx: Transaction, source: Sqlite): Promise<void> {
  for (const each of MANAGEMENT) {
    await tx.change(`DELETE FROM ${each.name}`);
    await copyRows(tx, source, each, []);
  }
}

/** Copies the orders to erase an entity, as the snapshot has them. */
export function copyErasures(tx: Transaction, source: Sqlite): Promise<void> {
  return copyRows(tx, source, ERASURE, []);
}

/** Copies the positions up to which the log has the journal. */
export async function copyJournalPositions(tx: Transaction, source: Sqlite): Promise<void> {
  await copyRows(tx, source, table('journal_position', { partition: 'text', last: 'bigint' }), []);
}

/** Copies audit entries. */
export async function copyAudit(
  tx: Transaction,
  source: Sqlite,
  { after, to }: { readonly after: number; readonly to: number },
): Promise<void> {
  await copyRows(tx, source, AUDIT, [after, to]);
}

async function copyRows(
  tx: Transaction,
  source: Sqlite,
  { name, columns, select, change }: SmallTable,
  values: readonly unknown[],
): Promise<void> {
  const types = Object.entries(columns);
  const into = `${name} (${types.map(([column]) => column).join(', ')})`;
  let rows = new CopyRows(types.length);
  for (const found of source.prepare(select).iterate(...values) as Iterable<Values>) {
    const row = { ...found, ...change?.(found, source) };
    rows.row();
    for (const [column, type] of types) rows[type]((row[column] ?? null) as never);
    if (rows.count < ROWS_MAX) continue;
    await tx.copy(into, rows);
    rows = new CopyRows(types.length);
  }
  await tx.copy(into, rows);
}

/** Copies the log's names of merchants and endpoints. `feedTo`: the newest row of the feed. */
export async function copyNames(tx: Transaction, source: Sqlite, feedTo: number): Promise<void> {
  const merchants = source.prepare('SELECT * FROM log_merchant ORDER BY seq').all();
  for (const part of parts(merchants))
    await tx.change(
      `INSERT INTO log_merchant (seq, merchant_id, feed_to, feed_removed_to) OVERRIDING SYSTEM VALUE
       SELECT seq, merchant_id, $2, feed_removed_to
       FROM json_to_recordset($1::json) AS u (seq int, merchant_id text, feed_removed_to bigint)
       ON CONFLICT (seq) DO UPDATE SET feed_to = excluded.feed_to`,
      [JSON.stringify(part), feedTo],
    );
  const endpoints = source.prepare('SELECT * FROM log_endpoint ORDER BY seq').all();
  for (const part of parts(endpoints))
    await tx.change(
      `INSERT INTO log_endpoint (seq, endpoint_id, merchant) OVERRIDING SYSTEM VALUE SELECT seq, endpoint_id, merchant
       FROM json_to_recordset($1::json) AS u (seq int, endpoint_id text, merchant int) ON CONFLICT DO NOTHING`,
      [JSON.stringify(part)],
    );
}

function* parts<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let at = 0; at < rows.length; at += ROWS_MAX) yield rows.slice(at, at + ROWS_MAX);
}

/** Columns that the target numbers itself, beginning above what was copied. */
const NUMBERED: readonly (readonly [table: string, column: string])[] = [
  ['merchant', 'seq'],
  ['api_key', 'seq'],
  ['endpoint', 'seq'],
  ['outbox', 'outbox_id'],
  ['audit', 'audit_id'],
  ['log_merchant', 'seq'],
  ['log_endpoint', 'seq'],
  ['erasure', 'erasure_id'],
  ['replay', 'seq'],
];

/** Numbers of rows of the log that the target gives out together (postgres/log/numbers.ts). */
const BLOCK = 1000;

/** Sets the target's next numbers above those of the source. */
export async function setSequences(tx: Transaction, source: Sqlite): Promise<void> {
  for (const [name, column] of NUMBERED) {
    const last = source.prepare(`SELECT coalesce(max(${column}), 0) FROM ${name}`).pluck().get() as number;
    const used = name === 'outbox' ? Math.max(last, lastOutboxId(source)) : last;
    await tx.rows(
      'SELECT setval(pg_get_serial_sequence($1, $2)::regclass, greatest($3::bigint, 1), $3::bigint > 0)',
      [name, column, used],
    );
  }
  const rows = source
    .prepare(
      'SELECT max((SELECT coalesce(max(seq), 0) FROM event), (SELECT coalesce(max(seq), 0) FROM delivery))',
    )
    .pluck()
    .get() as number;
  await tx.rows("SELECT setval('log_block', $1)", [Math.floor(rows / BLOCK) + 1]);
}

/** An id that was published is not given again: a stored answer may wait for it. */
function lastOutboxId(source: Sqlite): number {
  const last = source.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'").pluck().get();
  return (last as number | undefined) ?? 0;
}
