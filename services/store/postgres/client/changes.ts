import { FEED_KIND } from '../../log/log-rows.ts';
import type { Statements } from '../../sql/statements.ts';
import type { Transaction as StoreTransaction } from '../../sql/transaction.ts';
import { addFenced, addUnfenced } from './outbox-rows.ts';
import type { FeedItem, Transaction } from './statements.ts';

type Changes = Statements &
  Pick<Transaction, 'feed' | 'sawTimeline'> &
  Pick<StoreTransaction, 'lockMerchant' | 'addToOutbox' | 'reportEndpoint' | 'endpointChanged'>;

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
