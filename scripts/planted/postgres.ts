import type { PlantedBug } from './planted-bug.ts';

const MANAGEMENT = 'services/store/postgres/management';
const DATABASE = 'services/store/postgres/client/postgres-database.ts';
const CONTRACT = 'test/store/postgres/contract.test.ts';
const CLIENT = 'test/store/postgres/client/postgres-database.test.ts';
const REQUESTS = 'test/store/postgres/processes/requests.test.ts';
const LEASES = 'test/store/postgres/processes/leases.test.ts';

/** The store on PostgreSQL: what several processes do at the same time. */
export const POSTGRES_BUGS: readonly PlantedBug[] = [
  {
    id: 'postgres-outbox-published-up-to',
    bug: 'changes with a lower number than a published one count as published',
    file: `${MANAGEMENT}/postgres-outbox.ts`,
    text: "'DELETE FROM outbox WHERE outbox_id = ANY($1::bigint[])'",
    replacement: "'DELETE FROM outbox WHERE outbox_id <= (SELECT max(id) FROM unnest($1::bigint[]) AS id)'",
    test: CONTRACT,
    title: 'forgets exactly the changes that are published',
  },
  {
    id: 'postgres-changes-without-merchant-lock',
    bug: 'two processes change the endpoints of a merchant at the same time',
    file: `${MANAGEMENT}/postgres-management.ts`,
    text: '      await lockMerchant(tx, merchantId);\n',
    replacement: '',
    test: REQUESTS,
    title: 'keep the quota',
  },
  {
    id: 'postgres-answer-without-claim',
    bug: 'a request whose claim has ended makes its change all the same',
    file: `${MANAGEMENT}/answer-writes.ts`,
    text: "if (kept === 0) throw new StoreConflict('the claim of this Idempotency-Key has ended');",
    replacement: '',
    test: REQUESTS,
    title: 'take the claim of a process that stalled',
  },
  {
    id: 'postgres-claim-taken-twice',
    bug: 'a claim that has not expired is taken over',
    file: `${MANAGEMENT}/answer-writes.ts`,
    text: 'WHERE answer.expires_at <= $4 RETURNING 1`',
    replacement: 'WHERE answer.expires_at <= $4 OR TRUE RETURNING 1`',
    test: REQUESTS,
    title: 'carry out a request with an Idempotency-Key once',
  },
  {
    id: 'postgres-lease-held-for-ever',
    bug: 'a holder that cannot renew its lease goes on with its jobs',
    file: 'services/store/postgres/requests/postgres-leases.ts',
    text: 'const COUNTS_ITSELF_OUT_MS = 5_000;',
    replacement: 'const COUNTS_ITSELF_OUT_MS = 500_000;',
    test: LEASES,
    title: 'are ended by a holder that cannot renew',
  },
  {
    id: 'postgres-lease-taken-while-held',
    bug: 'a process takes a lease that another one holds',
    file: 'services/store/postgres/requests/postgres-leases.ts',
    text: 'WHERE l.holder = excluded.holder OR l.expires_at < clock_timestamp() RETURNING 1`',
    replacement: 'RETURNING 1`',
    test: LEASES,
    title: 'pass on when the holder is killed',
  },
  {
    id: 'postgres-rolled-back-is-success',
    bug: 'a transaction that the server rolled back counts as committed',
    file: DATABASE,
    text: "if (command !== 'COMMIT')",
    replacement: "if (command === '')",
    test: CLIENT,
    title: 'do not resolve when a statement failed',
  },
  {
    id: 'postgres-unknown-commit-is-not-kept',
    bug: 'a connection lost during a commit says that nothing was kept',
    file: DATABASE,
    text: "if (failureOf(error) !== 'lost') throw error;",
    replacement: 'throw error;',
    test: CLIENT,
    title: 'during a commit leave open whether it was kept',
  },
];
