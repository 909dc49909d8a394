import { CopyRows } from '../client/copy-rows.ts';
import type { FeedItem, Transaction } from '../client/statements.ts';
import type { Leaf } from '../leaves/leaf.ts';
import { intoLeaf, LEAF_COLUMNS } from '../leaves/leaf-columns.ts';
import type { Leaves } from '../leaves/leaves.ts';
import { ADD_MERCHANTS } from '../log/log-names.ts';

/** Returns a function that writes what a transaction reports. The leaves of its times are there. */
export function feedWriter(leaves: Leaves): (tx: Transaction) => Promise<void> {
  return async (tx) => {
    const last = await takeNumbers(tx, tx.feed);
    const byLeaf = new Map<Leaf, CopyRows>();
    for (const item of tx.feed) {
      const leaf = leaves.of(item.at);
      const rows = byLeaf.get(leaf) ?? new CopyRows(LEAF_COLUMNS.feed.length);
      byLeaf.set(leaf, rows);
      addRow(rows, item, last);
    }
    for (const [leaf, rows] of byLeaf) await tx.copy(intoLeaf('feed', leaf), rows);
  };
}

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
  const found = await countOn(tx, merchants, counts);
  const numbered = new Map(found.map((row) => [row.merchant_id, { seq: row.seq, at: row.before }]));
  const unknown = merchants.filter((merchantId) => !numbered.has(merchantId));
  if (unknown.length > 0) {
    await tx.change(ADD_MERCHANTS, [unknown]);
    for (const row of await countOn(tx, unknown, counts))
      numbered.set(row.merchant_id, { seq: row.seq, at: row.before });
  }
  return numbered;
}

/** Adds what each merchant's feed gets to its counter, and returns where it was. Merchants without a number are left out. */
function countOn(tx: Transaction, merchants: readonly string[], counts: ReadonlyMap<string, number>) {
  return tx.rows<{ readonly merchant_id: string; readonly seq: number; readonly before: number }>(
    `WITH locked AS (
       SELECT m.seq, m.feed_to, u.count FROM log_merchant m
       JOIN unnest($1::text[], $2::bigint[]) AS u (merchant_id, count) USING (merchant_id)
       ORDER BY m.merchant_id FOR UPDATE OF m
     )
     UPDATE log_merchant SET feed_to = locked.feed_to + locked.count FROM locked WHERE log_merchant.seq = locked.seq
     RETURNING merchant_id, log_merchant.seq, locked.feed_to AS before`,
    [merchants, merchants.map((merchantId) => counts.get(merchantId))],
  );
}

function addRow(
  rows: CopyRows,
  { merchantId, eventId, deliveryId, ref, refAt, detail, kind, at }: FeedItem,
  last: ReadonlyMap<string, Numbered>,
): void {
  const merchant = last.get(merchantId);
  if (!merchant) throw new Error(`the merchant ${merchantId} has no number in the log`);
  merchant.at += 1;
  rows
    .row()
    .int(merchant.seq)
    .bigint(merchant.at)
    .bigint(Math.floor(at))
    .smallint(kind)
    .smallint(detail ?? null)
    .id(eventId ?? null)
    .id(deliveryId ?? null)
    .bigint(ref ?? null)
    .bigint(refAt ?? null);
}
