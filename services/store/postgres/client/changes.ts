import { FEED_KIND } from '../../log/log-rows.ts';
import type { Statements } from '../../sql/statements.ts';
import type { Transaction as StoreTransaction } from '../../sql/transaction.ts';
import { addFenced, addUnfenced } from './outbox-rows.ts';
import type { FeedItem, Transaction } from './statements.ts';

type Changes = Statements &
  Pick<Transaction, 'feed' | 'sawTimeline'> &
  Pick<
    StoreTransaction,
    'lockMerchant' | 'addToOutbox' | 'addErasure' | 'reportEndpoint' | 'endpointChanged'
  >;

/** Returns the statements of a change, with the hooks of this engine. */
export function changesOn(statements: Statements, sawTimeline: (name: string) => void): Changes {
  const feed: FeedItem[] = [];
  return {
    ...statements,
    feed,
    sawTimeline,
    // The recorder takes no such lock: lock the row of an endpoint before changing it.
    async lockMerchant(merchantId) {
      const name = `hookrail merchant ${merchantId}`;
      await statements.rows('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
    },
    addToOutbox: (change, isKnown = false) =>
      isKnown ? addUnfenced(statements, change) : addFenced(statements, change, sawTimeline),
    addErasure: (order) => addErasure(statements, order),
    reportEndpoint: (merchantId, ref, at) =>
      void feed.push({ merchantId, kind: FEED_KIND.endpoint, at, ref }),
    // An endpoint that is created again gets another number: the failures of a deleted one stay behind.
    async endpointChanged(uuid, failures) {
      if (failures !== 'none') return;
      await statements.change(
        'UPDATE endpoint SET health_generation = health_generation + 1 WHERE uuid = $1',
        [uuid],
      );
    },
  };
}

/** Held by recorders with each other, and alone by an order to erase. */
export const ERASURE_LOCK = "hashtextextended('hookrail erasure', 0)";

async function addErasure(
  { rows, first, change }: Statements,
  { entityId, merchantId, acceptedBefore }: Parameters<StoreTransaction['addErasure']>[0],
): Promise<number> {
  // A batch that runs has not seen the order: it ends first, and the walk sees what it recorded.
  await rows(`SELECT pg_advisory_xact_lock(${ERASURE_LOCK})`);
  if (merchantId !== null)
    await change('INSERT INTO log_merchant (merchant_id) VALUES ($1) ON CONFLICT DO NOTHING', [merchantId]);
  const row = await first<{ readonly erasure_id: number }>(
    `INSERT INTO erasure (entity_id, merchant, accepted_before)
     VALUES ($1, (SELECT seq FROM log_merchant WHERE merchant_id = $2), $3) RETURNING erasure_id`,
    [entityId, merchantId, acceptedBefore],
  );
  if (!row) throw new Error('an erasure got no number');
  return row.erasure_id;
}
