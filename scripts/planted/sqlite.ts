import type { PlantedBug } from './planted-bug.ts';

const PUBLISHER = 'services/broker/sqlite/event-publisher.ts';
const COMMIT = 'services/broker/sqlite/file/commit.ts';
const QUEUE = 'services/broker/sqlite/commit-queue.ts';
const CONTRACT = 'test/broker/sqlite/contract.test.ts';
const ROUTED = 'test/broker/sqlite/routed-events.test.ts';
const LISTS = 'test/store/sqlite/lists.test.ts';
const ERASED = 'test/guarantees/erased.test.ts';
const ROLES = 'test/store/postgres/roles.test.ts';
const RUNNING = 'no file has it while the service runs';
const ANY_ROW = 'have every row once and in order';

/** The embedded engine: events whose tasks are committed in their place. */
export const SQLITE_BUGS: readonly PlantedBug[] = [
  {
    id: 'routed-events-overtake',
    bug: 'an event that is routed at once overtakes those that wait in the stream',
    file: PUBLISHER,
    text: 'if (stream.pending + this.#streaming > 0) return undefined;',
    replacement: '',
    test: CONTRACT,
    title: 'keeps the order of an entity behind the events that a crash left',
  },
  {
    id: 'journal-entry-of-another-place',
    bug: 'every journal entry of a commit gives the recorder the bytes of the first one',
    file: 'services/broker/sqlite/commit-half.ts',
    text: 'Buffer.from(writer.written.subarray(start))',
    replacement: 'Buffer.from(writer.written.subarray(0, writer.length - start))',
    test: 'test/recorder/encoded-journal.test.ts',
    title: 'a store that takes the bytes has every event',
  },
  {
    id: 'repeated-event-is-routed',
    bug: 'the tasks of a repeated event are written',
    file: COMMIT,
    text: 'return work.refused.length === 0;',
    replacement: 'return true;',
    test: ROUTED,
    title: 'a repeated event leaves no trace',
  },
  {
    id: 'refused-events-remembered',
    bug: 'events of a commit with a repeat count as known when they are written again',
    file: COMMIT,
    text: 'if (work.refused.length > 0) this.#seen.forgetFresh();',
    replacement: '',
    test: ROUTED,
    title: 'a repeated event leaves no trace',
  },
  {
    id: 'refused-publications-dropped',
    bug: 'publications beside a repeated event are acknowledged and never written',
    file: QUEUE,
    text: 'if (isRefused) this.#publishAgain(running.publishers, reply.refused);',
    replacement: 'if (isRefused) for (const { resolve } of running.publishers) resolve(reply);',
    test: ROUTED,
    title: 'a repeated event leaves no trace',
  },
  {
    id: 'listed-numbers-used-again',
    bug: 'a new row gets the number of a deleted one, up to which the index of the list counts as complete',
    file: 'services/store/sqlite/log/next-seq.ts',
    text: "_listed_to')`",
    replacement: "_unknown')`",
    test: LISTS,
    title: ANY_ROW,
  },
  {
    id: 'unlisted-rows-unread',
    bug: 'deliveries that the index does not have yet are missing from the lists',
    file: 'services/store/sqlite/lists/list-reads.ts',
    text: '[UNLISTED, ...endpoints]',
    replacement: 'endpoints',
    test: LISTS,
    title: ANY_ROW,
  },
  {
    id: 'list-filled-without-note',
    bug: 'rows go into the index of a list, and the file does not say so',
    file: 'services/store/sqlite/log/list-index.ts',
    text: '    this.#setListedTo.run();\n',
    replacement: '',
    test: LISTS,
    title: ANY_ROW,
  },
  {
    id: 'removed-content-kept',
    bug: 'the content of an erased event stays in its group',
    file: 'services/store/sqlite/log/contents.ts',
    text: 'if (left.has(each)) group.contents.delete(each);',
    replacement: '',
    test: LISTS,
    title: 'are removed from their group',
  },
  {
    id: 'contents-written-late',
    bug: 'the contents of a batch are written with a later one, and lost in a crash before that',
    file: 'services/store/sqlite/log/journal-writer.ts',
    text: '    this.events.contents.flush();\n',
    replacement: '',
    test: 'test/store/sqlite/contract.test.ts',
    title: 'events apart when they have one id',
  },
  {
    id: 'gap-in-the-journal-recorded',
    bug: 'the log records a batch although it lacks entries before it',
    file: 'services/store/sqlite/log/journal-writer.ts',
    text: 'if (after !== undefined && (stored === undefined || stored < after))',
    replacement: 'if (after === Number.MAX_SAFE_INTEGER)',
    test: 'test/store/sqlite/contract.test.ts',
    title: 'keeps nothing of a batch while it lacks entries before it',
  },
  {
    id: 'revoked-key-still-known',
    bug: 'a revoked key that was looked up before is still accepted',
    file: 'services/store/sqlite/management/known-keys.ts',
    text: '      this.#changes += 1;\n      this.#known.clear();\n',
    replacement: '',
    test: 'test/api/access.test.ts',
    title: 'a revoked key is refused from the next request on',
  },
  {
    id: 'outbox-forgotten-up-to',
    bug: 'a published change takes every earlier row of the outbox with it',
    file: 'services/store/sqlite/management/outbox-writes.ts',
    text: 'DELETE FROM outbox WHERE outbox_id = ?',
    replacement: 'DELETE FROM outbox WHERE outbox_id <= ?',
    test: 'test/store/sqlite/contract.test.ts',
    title: 'forgets exactly the changes that are published',
  },
  {
    id: 'published-elsewhere-unnoticed',
    bug: 'a change that another process published is waited for until the time is up',
    file: 'services/relay/published-changes.ts',
    text: 'await this.#outbox.isPublished(waiter.outboxId).catch(() => false)',
    replacement: 'false',
    test: 'test/relay/relay.test.ts',
    title: 'a change that another process publishes ends the wait',
  },
  {
    id: 'answer-without-claim',
    bug: 'a request whose claim has ended stores its change and its answer',
    file: 'services/store/sqlite/management/answer-writes.ts',
    text: "throw new StoreConflict('the claim of this Idempotency-Key has ended');",
    replacement: '{}',
    test: 'test/store/sqlite/contract.test.ts',
    title: 'change nothing for a request whose claim has ended meanwhile',
  },
  {
    id: 'replay-advances-from-anywhere',
    bug: 'a runner of replays that stalled counts its page although another has gone on',
    file: 'services/store/sqlite/replays/replay-writes.ts',
    text: "status = 'running' AND place IS ?`",
    replacement: "status = 'running' AND ? IS NOT 0`",
    test: 'test/store/sqlite/contract.test.ts',
    title: 'keep a replay’s place and counts',
  },
];

/** What was erased and is still there, and rights that the running role of PostgreSQL should not have. */
export const ERASURE_BUGS: readonly PlantedBug[] = [
  {
    id: 'erased-bytes-in-pages',
    bug: 'removed rows stay in unused parts of pages',
    file: 'services/sqlite/purge.ts',
    text: "if (isSmall) db.exec('VACUUM');",
    replacement: '',
    test: ERASED,
    title: RUNNING,
  },
  {
    id: 'erased-bytes-in-log',
    bug: 'the write-ahead log keeps pages of before an erasure',
    file: 'services/sqlite/purge.ts',
    text: 'wal_checkpoint(TRUNCATE)',
    replacement: 'wal_checkpoint(PASSIVE)',
    test: ERASED,
    title: RUNNING,
  },
  {
    id: 'restore-forgets-erasures',
    bug: 'a restored store has again what was erased after the backup',
    file: 'services/store/sqlite/maintenance/carry-over.ts',
    text: '...(readManifest(resolve(from))?.erasedSince ?? []), ',
    replacement: '',
    test: ERASED,
    title: 'a restore erases again what was erased since',
  },
  {
    id: 'postgres-running-role-changes-audit',
    bug: 'the running role may change the audit',
    file: 'services/store/postgres/migrations/grants.ts',
    text: "EXECUTE format('GRANT SELECT, INSERT ON %s TO %I', found.name, role);\n      EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE, TRIGGER ON %s FROM %I, PUBLIC', found.name, role);",
    replacement: "EXECUTE format('GRANT SELECT, INSERT, UPDATE ON %s TO %I', found.name, role);",
    test: ROLES,
    title: 'adds to the audit, and cannot change',
  },
  {
    id: 'postgres-leaf-function-of-caller',
    bug: 'objects of the caller take the place of the store’s in a function with the owner’s rights',
    file: 'services/store/postgres/migrations/003-running-role.ts',
    text: 'SET search_path = %I, pg_temp',
    replacement: 'SET search_path = pg_temp, %I',
    test: ROLES,
    title: 'makes and drops leaves of the log only',
  },
];
