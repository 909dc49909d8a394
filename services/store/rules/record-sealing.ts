import type { DirectoryChange } from '../../domain/directory.ts';
import { mayExceed } from '../../domain/seals/record-seals.ts';
import type { RecordsSealed, Sealings } from '../maintenance.ts';
import type { RecordAbove } from '../outbox.ts';
import { toDirectoryChange } from '../rows/directory-rows.ts';
import { MERCHANT_COLUMNS } from '../rows/merchant-rows.ts';
import { isSound, requiredSeals } from '../rows/record-seals.ts';
import { parseRecordCursor, recordCursor } from '../rows/sealing-cursor.ts';
import type { Dialect } from '../sql/statements.ts';
import type { Transaction } from '../sql/transaction.ts';
import { addToOutbox } from './outbox-writes.ts';
import { selectEveryEndpoint } from './select-endpoint.ts';

type Kind = DirectoryChange['kind'];
type Numbered = { readonly seq: number };

const isDue = (table: string) =>
  `(${table}seal_key_id IS DISTINCT FROM $2 OR ${table}seal_version <> ${table}version)`;

/** Locked in the order of their numbers, so that two that seal do not wait in a circle. */
const selectDue = (kind: Kind, dialect: Dialect) =>
  kind === 'merchant'
    ? `SELECT seq, ${MERCHANT_COLUMNS} FROM merchant WHERE seq > $1 AND ${isDue('')} ORDER BY seq LIMIT $3
       ${dialect.forUpdate()}`
    : `${selectEveryEndpoint(dialect)} WHERE e.seq > $1 AND ${isDue('e.')} ORDER BY e.seq LIMIT $3 ${dialect.forUpdate('e')}`;

const selectOne = (kind: Kind, dialect: Dialect) =>
  kind === 'merchant'
    ? `SELECT ${MERCHANT_COLUMNS} FROM merchant WHERE merchant_id = $1 ${dialect.forUpdate()}`
    : `${selectEveryEndpoint(dialect)} WHERE e.uuid = $1 ${dialect.forUpdate('e')}`;

/** Seals records anew, deleted endpoints included, whose seal is of another key than the active or of another version. */
export async function sealRecords(
  tx: Transaction,
  { limit, after }: Parameters<Sealings['sealRecords']>[0],
): Promise<RecordsSealed> {
  const seals = requiredSeals(tx.seals);
  const { kind, row } = parseRecordCursor(after);
  const found = await tx.rows<Numbered>(selectDue(kind, tx.dialect), [row, seals.active, limit]);
  const refused: string[] = [];
  for (const each of found) {
    const change = toDirectoryChange(kind, each);
    if (isSound(seals, change)) await sealOne(tx, change, change.version);
    else refused.push(`${kind}:${change.id}`);
  }
  const next = recordCursor(kind, found.at(-1)?.seq, found.length === limit);
  return { sealed: found.length - refused.length, refused, next };
}

/** Adds records again with versions above these. Returns how many were added. */
export async function addAbove(tx: Transaction, records: readonly RecordAbove[]): Promise<number> {
  let added = 0;
  // In one order, so that two processes that do so cannot deadlock.
  for (const { kind, id, above } of [...records].sort((one, other) => (one.id < other.id ? -1 : 1))) {
    const row = await tx.first<object>(selectOne(kind, tx.dialect), [id]);
    const change = row && toDirectoryChange(kind, row);
    if (!change || !isSound(tx.seals, change) || !mayExceed(above)) continue;
    await sealOne(tx, change, Math.max(change.version, above));
    added += 1;
  }
  return added;
}

async function sealOne(tx: Transaction, { kind, id, value }: DirectoryChange, above: number): Promise<void> {
  const [table, key] = kind === 'merchant' ? ['merchant', 'merchant_id'] : ['endpoint', 'uuid'];
  const raised = await tx.first<{ readonly version: number }>(
    `UPDATE ${table} SET version = ${tx.dialect.nextVersion('$2')} WHERE ${key} = $1 RETURNING version`,
    [id, above],
  );
  if (!raised) throw new Error(`${kind} ${id} is gone within its own change`);
  const { version } = raised;
  if (kind === 'endpoint') await tx.endpointChanged(id, 'kept');
  await addToOutbox(tx, { kind, id, version, value: value && { ...value, version } } as DirectoryChange);
}
