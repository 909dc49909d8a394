import type { NewReplay, ReplayRecord, Replays } from '../replays.ts';
import { type ReplayRow, toReplay } from '../rows/replay-rows.ts';
import type { Transaction } from '../sql/transaction.ts';
import { NO_OUTBOX_ROW, storeAnswer } from './answer-writes.ts';
import { lockOpenMerchant } from './open-merchant.ts';
import { addToAudit } from './outbox-writes.ts';

/** Replays that ended this long ago are deleted, a few with each new one, so that the table does not grow for ever. */
const KEPT_MS = 365 * 24 * 3_600_000;
const EXPIRED_PER_REPLAY = 10;

export async function createReplay(
  tx: Transaction,
  replay: NewReplay,
  { at, actor, answer }: Parameters<Replays['create']>[1],
): ReturnType<Replays['create']> {
  const { replayId, merchantId, endpointId, only, since, until, types, eventIds, count } = replay;
  const createdAt = Math.floor(at);
  if (merchantId !== null) await lockOpenMerchant(tx, merchantId);
  const row = await tx.first<ReplayRow>(
    `INSERT INTO replay (replay_id, merchant_id, endpoint_id, kind, since, until, types, count, published, left_out,
     status, created_at, event_ids) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, 0, 'running', $9, $10)
     ON CONFLICT (coalesce(endpoint_id, ''), coalesce(merchant_id, '')) WHERE status = 'running' DO NOTHING
     RETURNING *`,
    [
      ...[
        replayId,
        merchantId,
        endpointId,
        only,
        since,
        until,
        types && JSON.stringify(types),
        count,
        createdAt,
      ],
      eventIds && JSON.stringify(eventIds),
    ],
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
  const named = eventIds === null ? {} : { events: eventIds.length };
  const details = { replayId, only, since, until, types, ...named, count };
  const endpoint = endpointId === null ? {} : { endpointId };
  await addToAudit(tx, { at, actor, merchantId, ...endpoint, action: 'replay.create', details });
  if (answer) await storeAnswer(tx, answer, NO_OUTBOX_ROW, at);
  tx.added('replay');
  return { kind: 'ok', record: toReplay(row) };
}

export async function finishReplay(
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

/** Returns false when another process has moved it on, or it has ended. */
export async function advanceReplay(
  { change }: Transaction,
  replayId: string,
  { from, place, published, leftOut }: Parameters<Replays['advance']>[1],
): Promise<boolean> {
  const changed = await change(
    `UPDATE replay SET place = $2, published = published + $3, left_out = left_out + $4
     WHERE replay_id = $1 AND status = 'running' AND place IS NOT DISTINCT FROM $5`,
    [replayId, place, published, leftOut, from],
  );
  return changed > 0;
}
