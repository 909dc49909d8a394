import type { PlantedBug } from '../planted-bug.ts';

const SQLITE_ABOUT = 'services/store/sqlite/lists/about-reads.ts';
const POSTGRES_ABOUT = 'services/store/postgres/log/about-reads.ts';
const EXPLANATION = 'services/domain/failures/explanation.ts';
const SQLITE = 'test/store/sqlite/contract.test.ts';
const POSTGRES = 'test/store/postgres/contract.test.ts';
const STORY = 'test/api/find/story.test.ts';
const QUARANTINED = 'services/api/find/quarantined-events.ts';
const QUARANTINED_STORY = 'test/api/find/quarantined-story.test.ts';

/** Bugs in finding events by what they are about. */
export const FIND_BUGS: readonly PlantedBug[] = [
  {
    id: 'ids-that-end-alike',
    bug: 'an event whose entity and subject have ids that end alike stops the store',
    file: 'services/store/sqlite/log/list-index.ts',
    text: 'INSERT OR IGNORE INTO event_about',
    replacement: 'INSERT INTO event_about',
    test: 'test/store/sqlite/reads.test.ts',
    title: 'reads a bounded number of deliveries',
  },
  {
    id: 'unlisted-deliveries-unread',
    bug: 'deliveries that the index does not have yet are not found by their transaction',
    file: SQLITE_ABOUT,
    text: '...this.#unlistedDeliveries.all({ events: JSON.stringify(seqs), endpoint }),',
    replacement: '',
    test: 'test/store/sqlite/bulk-indexes.test.ts',
    title: 'finds the deliveries of an event in the index and above it',
  },
  {
    id: 'unlisted-subjects-unread',
    bug: 'events that the index does not have yet are not found by their transaction',
    file: SQLITE_ABOUT,
    text: ', ...this.#unlisted.all(unlisted)]',
    replacement: ']',
    test: SQLITE,
    title: 'finds a transaction’s events and deliveries',
  },
  {
    id: 'entity-as-transaction',
    bug: 'an event without a transaction is found as one about the transaction with its entity’s id',
    file: 'services/store/sqlite/log/about-condition.ts',
    text: '(ev.subject_id = :transaction AND',
    replacement: '(coalesce(ev.subject_id, ev.entity_id) = :transaction AND',
    test: SQLITE,
    title: 'takes an event that is about nothing else',
  },
  {
    id: 'busy-entity-cut',
    bug: 'of an entity with very many events only the first thousand are found',
    file: SQLITE_ABOUT,
    text: '    if (rows.length > ABOUT_EVENTS_MAX) return undefined;\n',
    replacement: '',
    test: SQLITE,
    title: 'is complete where very much is about one entity',
  },
  {
    id: 'requested-not-found',
    bug: 'resends and tests are not found by their transaction on PostgreSQL',
    file: POSTGRES_ABOUT,
    text: '  for (const { delivery_id, created_at } of requested) add(delivery_id, created_at);\n',
    replacement: '',
    test: POSTGRES,
    title: 'has what was requested later in its place',
  },
  {
    id: 'hold-unsaid',
    bug: 'the story of a held delivery says that it is due',
    file: EXPLANATION,
    text: 'if (isPaused) return',
    replacement: 'if (isPaused && parkedReason !== null) return',
    test: STORY,
    title: 'says that deliveries are held',
  },
  {
    id: 'quarantined-twice',
    bug: 'an event that was put back from quarantine is in the story twice',
    file: QUARANTINED,
    text: '(await log.event(merchantId, eventId)) === undefined',
    replacement: 'true',
    test: QUARANTINED_STORY,
    title: 'put back and routed is in the story once',
  },
  {
    id: 'erased-in-quarantine',
    bug: 'quarantined events of an erased entity are still in the story',
    file: QUARANTINED,
    text: 'await erasures.isErased({ entityId, merchantId, at })',
    replacement: 'false',
    test: QUARANTINED_STORY,
    title: 'records of an erased entity are not found',
  },
  {
    id: 'pending-taken-for-delivered',
    bug: 'a delivery that waits is missing from the list of pending ones once its index was filled',
    file: 'services/store/sqlite/log/list-index.ts',
    text: 'STATUS.of.delivered',
    replacement: 'STATUS.of.pending',
    test: 'test/store/sqlite/list-facts.test.ts',
    title: 'lists deliveries by status and type',
  },
  {
    id: 'quarantine-of-all',
    bug: 'a merchant sees the quarantined events of another on SQLite',
    file: 'services/broker/sqlite/file/reads.ts',
    text: '(:merchantId IS NULL OR merchant_id = :merchantId)',
    replacement: '(:merchantId IS NULL OR 1)',
    test: QUARANTINED_STORY,
    title: 'no other merchant sees it',
  },
  {
    id: 'quarantine-of-all-kafka',
    bug: 'a merchant sees the quarantined events of another on Kafka',
    file: 'services/broker/quarantine-find.ts',
    text: 'head.merchantId === wanted.merchantId',
    replacement: 'head.merchantId !== null',
    test: 'test/broker/kafka/contract.test.ts',
    title: 'finds what is quarantined about a merchant',
    needsKafka: true,
  },
  {
    id: 'request-forgotten',
    bug: 'the audit does not keep which request changed something',
    file: 'services/store/rules/outbox-writes.ts',
    text: 'requestOf(actor)',
    replacement: 'null',
    test: STORY,
    title: 'says what it is and where it is described',
  },
];
