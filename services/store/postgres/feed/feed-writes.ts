import type { FeedItem, Transaction } from '../client/statements.ts';
import type { Leaves } from '../log/leaves.ts';
import { idBytes } from '../log/packed-id.ts';

/** Returns a function that writes what a transaction reports. The leaves of its times are there. */
export function feedWriter(leaves: Leaves): (tx: Transaction) => Promise<void> {
  return async (tx) => {
    const last = await takeNumbers(tx, tx.feed);
    const bySuffix = new Map<string, ReturnType<typeof toRow>[]>();
    for (const item of tx.feed) {
      const row = toRow(item, last);
      const { suffix } = leaves.of(row.created_at);
      const rows = bySuffix.get(suffix) ?? [];
      rows.push(row);
      bySuffix.set(suffix, rows);
    }
    for (const [suffix, rows] of bySuffix)
      await tx.change(insertInto(`feed_${suffix}`), [JSON.stringify(rows)]);
  };
}

const insertInto = (table: string) => `INSERT INTO ${table}
  (merchant, seq, created_at, kind, detail, event_id, delivery_id, ref, ref_at)
  SELECT merchant, seq, created_at, kind, detail, decode(event_id, 'hex'), decode(delivery_id, 'hex'), ref, ref_at
  FROM json_to_recordset($1::json) AS u (merchant int, seq bigint, created_at bigint, kind smallint, detail smallint,
  event_id text, delivery_id text, ref bigint, ref_at bigint)`;

interface Numbered {
  readonly seq: number;
  /** The number of the row before the next. */
  at: number;
}

/** Gives the items of each merchant their numbers: whoever adds to the same merchant's feed waits for this commit. */
async function takeNumbers(
  tx: Transaction,
  items: readonly FeedItem[],
): Promise<ReadonlyMap<string, Numbered>> {
  const counts = new Map<string, number>();
  for (const { merchantId } of items) counts.set(merchantId, (counts.get(merchantId) ?? 0) + 1);
  const merchants = [...counts.keys()].sort();
  await tx.change('INSERT INTO log_merchant (merchant_id) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING', [
    merchants,
  ]);
  const rows = await tx.rows<{ readonly merchant_id: string; readonly seq: number; readonly before: number }>(
    `WITH locked AS (
       SELECT m.seq, m.feed_to, u.count FROM log_merchant m
       JOIN unnest($1::text[], $2::bigint[]) AS u (merchant_id, count) USING (merchant_id)
       ORDER BY m.merchant_id FOR UPDATE OF m
     )
     UPDATE log_merchant SET feed_to = locked.feed_to + locked.count FROM locked WHERE log_merchant.seq = locked.seq
     RETURNING merchant_id, log_merchant.seq, locked.feed_to AS before`,
    [merchants, merchants.map((merchantId) => counts.get(merchantId))],
  );
  return new Map(rows.map(({ merchant_id, seq, before }) => [merchant_id, { seq, at: before }]));
}

function toRow(
  { merchantId, eventId, deliveryId, ref, refAt, detail, kind, at }: FeedItem,
  last: ReadonlyMap<string, Numbered>,
) {
  const merchant = last.get(merchantId);
  if (!merchant) throw new Error(`the merchant ${merchantId} has no number in the log`);
  merchant.at += 1;
  return {
    merchant: merchant.seq,
    seq: merchant.at,
    created_at: Math.floor(at),
    kind,
    detail: detail ?? null,
    event_id: eventId === undefined ? null : idBytes(eventId).toString('hex'),
    delivery_id: deliveryId === undefined ? null : idBytes(deliveryId).toString('hex'),
    ref: ref ?? null,
    ref_at: refAt ?? null,
  };
}
