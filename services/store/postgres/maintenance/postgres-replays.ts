import { Listeners } from '../../../process/listeners.ts';
import type { NewReplay, ReplayRecord, Replays } from '../../replays.ts';
import { type ReplayRow, toReplay } from '../../rows/replay-rows.ts';
import type { Reads } from '../../rules/reads.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';
import type { Transaction } from '../client/statements.ts';
import { NO_OUTBOX_ROW, storeAnswer } from '../management/answer-writes.ts';
import { addToAudit } from '../management/outbox-writes.ts';
import { missed } from './missed-reads.ts';

/** Replays that ended this long ago are deleted, a few with each new one, so that the table does not grow for ever. */
const KEPT_MS = 365 * 24 * 3_600_000;
const EXPIRED_PER_REPLAY = 10;

export class PostgresReplays implements Replays {
  readonly #database: PostgresDatabase;
  readonly #listeners = new Listeners();

  readonly get: Replays['get'];
  readonly list: Replays['list'];
  readonly running: Replays['running'];

  constructor(database: PostgresDatabase, { replays }: Reads) {
    this.#database = database;
    ({ get: this.get, list: this.list, running: this.running } = replays);
  }

  /** A transaction of this process that created a replay was committed. */
  added(): void {
    this.#listeners.call();
  }

  onAdded(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  create(...[replay, options]: Parameters<Replays['create']>): ReturnType<Replays['create']> {
    return this.#database.transaction((tx) => create(tx, replay, options));
  }

  async advance(replayId: string, step: Parameters<Replays['advance']>[1]): Promise<boolean> {
    const { from, place, published, leftOut } = step;
    const changed = await this.#database.transaction(({ change }) =>
      change(
        `UPDATE replay SET place = $2, published = published + $3, left_out = left_out + $4
         WHERE replay_id = $1 AND status = 'running' AND place IS NOT DISTINCT FROM $5`,
        [replayId, place, published, leftOut, from],
      ),
    );
    return changed > 0;
  }

  finish(replayId: string, end: Parameters<Replays['finish']>[1]): Promise<ReplayRecord | undefined> {
    return this.#database.transaction((tx) => finish(tx, replayId, end));
  }

  missed(...args: Parameters<Replays['missed']>): ReturnType<Replays['missed']> {
    return this.#database.read((statements) => missed(statements, ...args));
  }
}

async function create(
  tx: Transaction,
  replay: NewReplay,
  { at, actor, answer }: Parameters<Replays['create']>[1],
): ReturnType<Replays['create']> {
  const { replayId, merchantId, endpointId, only, since, until, types, count } = replay;
  const createdAt = Math.floor(at);
  const row = await tx.first<ReplayRow>(
    `INSERT INTO replay (replay_id, merchant_id, endpoint_id, kind, since, until, types, count, published, left_out,
     status, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, 0, 'running', $9)
     ON CONFLICT (coalesce(endpoint_id, ''), coalesce(merchant_id, '')) WHERE status = 'running' DO NOTHING
     RETURNING *`,
    [replayId, merchantId, endpointId, only, since, until, types && JSON.stringify(types), count, createdAt],
  );
  if (!row) {
    const running = await tx.first<{ readonly replay_id: string }>(
      `SELECT replay_id FROM replay WHERE status = 'running' AND endpoint_id IS NOT DISTINCT FROM $1
       AND merchant_id IS NOT DISTINCT FROM $2`,
      [endpointId, merchantId],
    );
    // It may have ended since: the caller asks again.
    return { kind: 'running', replayId: running?.replay_id ?? replayId };
  }
  await tx.change(
    `DELETE FROM replay WHERE seq IN (SELECT seq FROM replay ORDER BY seq LIMIT ${EXPIRED_PER_REPLAY})
     AND status <> 'running' AND created_at < $1`,
    [createdAt - KEPT_MS],
  );
  const details = { replayId, only, since, until, types, count };
  const endpoint = endpointId === null ? {} : { endpointId };
  await addToAudit(tx, { at, actor, merchantId, ...endpoint, action: 'replay.create', details });
  if (answer) await storeAnswer(tx, answer, NO_OUTBOX_ROW, at);
  tx.added('replay');
  return { kind: 'ok', record: toReplay(row) };
}

async function finish(
  tx: Transaction,
  replayId: string,
  { status, reason, at, actor }: Parameters<Replays['finish']>[1],
): Promise<ReplayRecord | undefined> {
  const row = await tx.first<ReplayRow>(
    `UPDATE replay SET status = $2, cancel_reason = $3, finished_at = $4
     WHERE replay_id = $1 AND status = 'running' RETURNING *`,
    [replayId, status, reason, Math.floor(at)],
  );
  if (!row) return undefined;
  const record = toReplay(row);
  if (status === 'cancelled') {
    const { merchantId, endpointId } = record;
    const endpoint = endpointId === null ? {} : { endpointId };
    const details = { replayId, reason };
    await addToAudit(tx, { at, actor, merchantId, ...endpoint, action: 'replay.cancel', details });
  }
  return record;
}
