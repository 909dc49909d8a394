import type { Transaction } from '../client/statements.ts';

/** Notes when keys were last used. In one order: two processes that do so wait for each other, and no more. */
export async function touchKeys(tx: Transaction, used: ReadonlyMap<string, number>): Promise<void> {
  const entries = [...used].sort(([one], [other]) => (one < other ? -1 : 1));
  await tx.change(
    `WITH used AS (
       SELECT k.seq, u.at FROM api_key k JOIN unnest($1::text[], $2::bigint[]) AS u (key_id, at) USING (key_id)
       ORDER BY k.key_id FOR UPDATE OF k
     )
     UPDATE api_key SET last_used_at = greatest(last_used_at, used.at) FROM used WHERE api_key.seq = used.seq`,
    [entries.map(([keyId]) => keyId), entries.map(([, at]) => Math.floor(at))],
  );
}
