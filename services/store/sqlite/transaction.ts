import type { Database } from 'better-sqlite3';
import type { RecordSeals } from '../../domain/seals/record-seals.ts';
import type { Transaction } from '../sql/transaction.ts';
import type { FeedWrites } from './feed/feed-writes.ts';
import type { EndpointHealth } from './log/endpoint-health.ts';
import type { ErasureRows } from './maintenance/erasure-rows.ts';
import type { Names } from './names.ts';
import { statementsOf } from './statements.ts';

interface Parts {
  readonly feed: FeedWrites;
  /** Null in a process without the key ring. */
  readonly seals: RecordSeals | null;
  readonly health: Pick<EndpointHealth, 'forget'>;
  readonly erasures: Pick<ErasureRows, 'add'>;
  readonly names: Pick<Names, 'merchant'>;
}

/** The changes of rules on the writer's connection. The thread begins and ends the transactions. */
export class Changes {
  /** Rows were added to the outbox since this was last set to false. */
  hasAdded = false;
  readonly #base: Omit<Transaction, 'at'>;

  constructor(db: Database, { feed, seals, health, erasures, names }: Parts) {
    const addToOutbox = db.prepare('INSERT INTO outbox (change) VALUES (?)');
    const resetFailures = db.prepare(
      `UPDATE endpoint_health SET failure_count = 0, exhausted_count = 0
       WHERE endpoint = (SELECT seq FROM endpoint WHERE uuid = ?)`,
    );
    const removeFailures = db.prepare(
      'DELETE FROM endpoint_health WHERE endpoint = (SELECT seq FROM endpoint WHERE uuid = ?)',
    );
    this.#base = {
      ...statementsOf(db),
      seals,
      // One thread writes, so nobody changes the merchant's endpoints meanwhile.
      lockMerchant: async () => {},
      addToOutbox: async (change) => Number(addToOutbox.run(change).lastInsertRowid),
      addErasure: async ({ entityId, merchantId, acceptedBefore }) => {
        const merchant = merchantId === null ? null : names.merchant(merchantId);
        return erasures.add({ entityId, merchant, acceptedBefore });
      },
      reportEndpoint: (merchantId, ref, at) => feed.add(merchantId, 'endpoint', { ref, at }),
      async endpointChanged(uuid, failures) {
        health.forget(uuid);
        if (failures === 'none') resetFailures.run(uuid);
        if (failures === 'deleted') removeFailures.run(uuid);
      },
      added: (what) => {
        if (what === 'outbox') this.hasAdded = true;
      },
    };
  }

  /** Returns the running transaction for a change that was asked for at this time. */
  at(at: number): Transaction {
    return { ...this.#base, at };
  }
}
