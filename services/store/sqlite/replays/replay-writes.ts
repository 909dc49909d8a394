import type { Database } from 'better-sqlite3';
import type { NewReplay, ReplayRecord, Replays } from '../../replays.ts';
import { type ReplayRow, toReplay } from '../../rows/replay-rows.ts';
import { type AnswerWrites, NO_OUTBOX_ROW } from '../management/answer-writes.ts';
import type { OutboxWrites } from '../management/outbox-writes.ts';

/** Replays that ended this long ago are deleted, a few with each new one, so that the table does not grow for ever. */
const KEPT_MS = 365 * 24 * 3_600_000;
const EXPIRED_PER_REPLAY = 10;

type Created = Awaited<ReturnType<Replays['create']>>;

/** Changes of replays, in the caller's transaction. */
export class ReplayWrites {
  readonly #outbox: OutboxWrites;
  readonly #answers: AnswerWrites;
  readonly #expire;
  readonly #running;
  readonly #insert;
  readonly #find;
  readonly #advance;
  readonly #finish;

  constructor(db: Database, outbox: OutboxWrites, answers: AnswerWrites) {
    this.#outbox = outbox;
    this.#answers = answers;
    this.#expire = db.prepare(
      `DELETE FROM replay WHERE seq IN (SELECT seq FROM replay ORDER BY seq LIMIT ${EXPIRED_PER_REPLAY})
       AND status <> 'running' AND created_at < ?`,
    );
    this.#running = db
      .prepare(
        "SELECT replay_id FROM replay WHERE status = 'running' AND endpoint_id IS ? AND merchant_id IS ? LIMIT 1",
      )
      .pluck();
    this.#insert = db.prepare(
      `INSERT INTO replay (replay_id, merchant_id, endpoint_id, kind, since, until, types, count, published,
       left_out, status, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 'running', ?)`,
    );
    this.#find = db.prepare('SELECT * FROM replay WHERE replay_id = ?');
    this.#advance = db.prepare(
      `UPDATE replay SET place = ?, published = published + ?, left_out = left_out + ?
       WHERE replay_id = ? AND status = 'running' AND place IS ?`,
    );
    this.#finish = db.prepare(
      `UPDATE replay SET status = ?, cancel_reason = ?, finished_at = ? WHERE replay_id = ? AND status = 'running'`,
    );
  }

  create(replay: NewReplay, { at, actor, answer }: Parameters<Replays['create']>[1]): Created {
    const { replayId, merchantId, endpointId, only, since, until, types, count } = replay;
    const running = this.#running.get(endpointId, merchantId) as string | undefined;
    if (running !== undefined) return { kind: 'running', replayId: running };
    const createdAt = Math.floor(at);
    this.#expire.run(createdAt - KEPT_MS);
    const named = types === null ? null : JSON.stringify(types);
    this.#insert.run(replayId, merchantId, endpointId, only, since, until, named, count, createdAt);
    const details = { replayId, only, since, until, types, count };
    const endpoint = endpointId === null ? {} : { endpointId };
    this.#outbox.audit({ at, actor, merchantId, ...endpoint, action: 'replay.create', details });
    if (answer) this.#answers.store(answer, NO_OUTBOX_ROW, at);
    return { kind: 'ok', record: toReplay(this.#find.get(replayId) as ReplayRow) };
  }

  advance(replayId: string, step: Parameters<Replays['advance']>[1]): boolean {
    const { from, place, published, leftOut } = step;
    return this.#advance.run(place, published, leftOut, replayId, from).changes > 0;
  }

  finish(
    replayId: string,
    { status, reason, at, actor }: Parameters<Replays['finish']>[1],
  ): ReplayRecord | undefined {
    if (this.#finish.run(status, reason, Math.floor(at), replayId).changes === 0) return undefined;
    const record = toReplay(this.#find.get(replayId) as ReplayRow);
    if (status === 'cancelled') {
      const { merchantId, endpointId } = record;
      const endpoint = endpointId === null ? {} : { endpointId };
      const details = { replayId, reason };
      this.#outbox.audit({ at, actor, merchantId, ...endpoint, action: 'replay.cancel', details });
    }
    return record;
  }
}
