import { randomUUID } from 'node:crypto';
import { type AnswerToStore, StoreConflict } from '../change.ts';
import type { Transaction } from '../sql/transaction.ts';
import { CLAIM_MS, type Claim } from '../store.ts';

/* The responses kept for a repeated Idempotency-Key, and the claims of running requests, over all processes. */

/** Expired responses deleted with each new one, so that the table does not grow beyond the valid ones. */
const EXPIRED_PER_ANSWER = 10;
/** For a stored response that waits for no directory change. */
export const NO_OUTBOX_ROW = 0;

export async function claim({ first }: Transaction, scope: string, now: number): Promise<Claim> {
  const token = randomUUID();
  const at = Math.floor(now);
  // A claim or response that has expired is taken over; one that has not is left as it is, and read.
  const taken = await first(
    `INSERT INTO answer (scope, token, expires_at) VALUES ($1, $2, $3)
     ON CONFLICT (scope) DO UPDATE SET token = excluded.token, expires_at = excluded.expires_at,
     request_hash = NULL, status = NULL, sealed = NULL, outbox_id = NULL
     WHERE answer.expires_at <= $4 RETURNING 1`,
    [scope, token, at + CLAIM_MS, at],
  );
  if (taken) return { kind: 'claimed', token };
  const stored = await first<Extract<Claim, { readonly kind: 'stored' }>>(
    `SELECT 'stored' AS kind, request_hash AS "requestHash", status, sealed, outbox_id AS "outboxId"
     FROM answer WHERE scope = $1 AND status IS NOT NULL`,
    [scope],
  );
  return stored ?? { kind: 'running' };
}

export async function release({ change }: Transaction, scope: string, token: string): Promise<void> {
  await change('DELETE FROM answer WHERE scope = $1 AND token = $2 AND status IS NULL', [scope, token]);
}

export async function keep(tx: Transaction, answer: AnswerToStore, at: number): Promise<void> {
  await storeAnswer(tx, answer, NO_OUTBOX_ROW, at);
}

/**
 * Stores a response in the transaction of the change that it reports. `outboxId`: the change, so that a repeated request
 * can wait for it as well. Throws StoreConflict.
 */
export async function storeAnswer(
  { dialect, change }: Transaction,
  { scope, token, requestHash, status, sealed, expiresAt }: AnswerToStore,
  outboxId: number,
  now: number,
): Promise<void> {
  const kept = await change(
    `UPDATE answer SET request_hash = $3, status = $4, sealed = $5, outbox_id = $6, expires_at = $7
     WHERE scope = $1 AND token = $2 AND status IS NULL`,
    [scope, token, requestHash, status, sealed, outboxId, Math.floor(expiresAt)],
  );
  if (kept === 0) throw new StoreConflict('the claim of this Idempotency-Key has ended');
  // Those that another transaction holds are left to it.
  await change(
    `DELETE FROM answer WHERE scope IN (SELECT scope FROM answer WHERE expires_at <= $1 ORDER BY expires_at
     LIMIT ${EXPIRED_PER_ANSWER} ${dialect.skipLocked})`,
    [Math.floor(now)],
  );
}
