import type { PlantedBug } from './planted-bug.ts';

const MANAGEMENT = 'services/store/postgres/management';
const LOG = 'services/store/postgres/log';
const DATABASE = 'services/store/postgres/client/postgres-database.ts';
const CONTRACT = 'test/store/postgres/contract.test.ts';
const CLIENT = 'test/store/postgres/client/postgres-database.test.ts';
const REQUESTS = 'test/store/postgres/processes/requests.test.ts';
const RECORDERS = 'test/store/postgres/processes/recorders.test.ts';
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
    title: 'take over the claim of a stalled process',
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
    title: 'reject when a statement failed',
  },
  {
    id: 'postgres-unknown-commit-is-not-kept',
    bug: 'a connection lost during a commit says that nothing was kept',
    file: DATABASE,
    text: "if (failureOf(error) !== 'lost') throw error;",
    replacement: 'throw error;',
    test: CLIENT,
    title: 'during a commit reject with an error that says the result is unknown',
  },
  {
    id: 'postgres-position-not-compared',
    bug: 'a batch that another recorder has applied is applied again',
    file: `${LOG}/journal-writes.ts`,
    text: '(positions?.[index] ?? first + index) > stored',
    replacement: '(positions?.[index] ?? first + index) > NOTHING',
    test: RECORDERS,
    title: 'do not apply a batch that another one has applied',
  },
  {
    id: 'postgres-gap-recorded',
    bug: 'the log records a batch although it lacks entries before it',
    file: `${LOG}/journal-writes.ts`,
    text: 'if (after !== undefined && stored < after)',
    replacement: 'if (after === Number.MAX_SAFE_INTEGER)',
    test: RECORDERS,
    title: 'read again from the position in the log',
  },
  {
    id: 'postgres-repeated-row-fails',
    bug: 'a row that another recorder has made first stops the partition',
    file: `${LOG}/journal-writes.ts`,
    text: 'code !== UNIQUE_VIOLATION && ',
    replacement: '',
    test: RECORDERS,
    title: 'record one delivery from two partitions',
  },
  {
    id: 'postgres-erasure-not-locked',
    bug: 'an erasure does not wait for a batch that has not seen it',
    file: 'services/store/postgres/maintenance/postgres-erasures.ts',
    text: 'SELECT pg_advisory_xact_lock(',
    replacement: 'SELECT pg_advisory_xact_lock_shared(',
    test: RECORDERS,
    title: 'keep no body of an entity',
  },
  {
    id: 'postgres-health-not-locked',
    bug: 'two recorders count from the same number of failures',
    file: `${LOG}/health-writes.ts`,
    text: 'ORDER BY endpoint FOR UPDATE`',
    replacement: 'ORDER BY endpoint`',
    test: RECORDERS,
    title: 'count the attempts of one endpoint together',
  },
  {
    id: 'postgres-health-without-generation',
    bug: 'failures at a previous URL count for the present one',
    file: `${MANAGEMENT}/select-endpoint.ts`,
    text: 'CASE WHEN h.generation = e.health_generation THEN h.failure_count ELSE 0 END AS failure_count',
    replacement: 'coalesce(h.failure_count, 0) AS failure_count',
    test: CONTRACT,
    title: 'counts from the last change of the URL on',
  },
  {
    id: 'postgres-replay-advances-from-anywhere',
    bug: 'a replay that somebody else has moved on is moved on again',
    file: 'services/store/postgres/maintenance/postgres-replays.ts',
    text: ' AND place IS NOT DISTINCT FROM $5`',
    replacement: ' AND $5::text IS NOT DISTINCT FROM $5`',
    test: CONTRACT,
    title: 'keep a replay’s place and counts',
  },
];
