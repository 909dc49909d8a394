import type { PlantedBug } from './planted-bug.ts';

const CONSUMER = 'services/broker/kafka/consumer/topic-consumer.ts';
const PARTITION = 'services/broker/kafka/consumer/partition.ts';
const START = 'services/broker/kafka/consumer/start-position.ts';
const NOTE = 'services/broker/kafka/consumer/commit-note.ts';
const JOURNAL = 'services/broker/kafka/streams/journal-source.ts';
const SUPERVISED = 'services/broker/kafka/consumer/supervised-consumer.ts';

const PARTITION_TEST = 'test/broker/kafka/consumer/partition.test.ts';
const FOREIGN = 'test/broker/kafka/foreign-producers.test.ts';
const POSITION = 'test/broker/kafka/consumer/start-position.test.ts';
const LOST = 'test/broker/kafka/consumer/lost-positions.test.ts';
const HOLD_UPS = 'test/broker/kafka/hold-ups.test.ts';

/** Positions: gaps, recreated topics, deleted records, and commits. */
export const KAFKA_READING_BUGS: readonly PlantedBug[] = [
  {
    id: 'transactions-only-passed',
    bug: 'a fetch with only markers and aborted records does not advance the position',
    file: CONSUMER,
    text: 'partition.skipTo(last + 1);',
    replacement: 'void last;',
    test: FOREIGN,
    title: 'in transactions are read once committed',
    needsKafka: true,
  },
  {
    id: 'gap-by-first-record',
    bug: 'a gap is measured from the first record instead of the fetched offset',
    file: CONSUMER,
    text: 'const fetchedFrom = fetchedOffset(batch);',
    replacement: 'const fetchedFrom = Number(batch.firstOffset() ?? fetchedOffset(batch));',
    test: FOREIGN,
    title: 'in transactions are read once committed',
    needsKafka: true,
  },
  {
    id: 'marker-at-end-waited-for',
    bug: 'offsets after the last record of a fetch count as unread',
    file: CONSUMER,
    text: 'partition.skipTo(Number(batch.lastOffset()) + 1);',
    replacement: '',
    test: FOREIGN,
    title: 'in transactions are read once committed',
    needsKafka: true,
  },
  {
    id: 'recreated-topic-id-unverified',
    bug: 'a topic that was recreated is not recognised by its id',
    file: CONSUMER,
    text: 'if (partition.next !== null && partition.topicId !== null && partition.topicId !== id)',
    replacement: 'if (partition.next === null && id === undefined)',
    test: LOST,
    title: 'reads all of the new one',
    needsKafka: true,
  },
  {
    id: 'recreated-topic-id-unnoted',
    bug: 'the topic id is not stored with the position',
    file: PARTITION,
    text: 'done: this.#done, topicId, lost: this.#lost }',
    replacement: 'done: this.#done, topicId: topicId && null, lost: this.#lost }',
    test: PARTITION_TEST,
    title: 'nor when it was taken away',
  },
  {
    id: 'recreated-topic-note-believed',
    bug: 'a position committed in an earlier topic of the same name is used',
    file: START,
    text: 'const isElsewhere = startOf ? false : isOther;',
    replacement: 'const isElsewhere = false;',
    test: POSITION,
    title: 'however long the new one is',
  },
  {
    id: 'journal-earlier-position-believed',
    bug: 'a recreated journal continues at the store’s position in the earlier one',
    file: JOURNAL,
    text: 'if (position === undefined && (isCommitted || topicId === null)) {',
    replacement: 'if (position === undefined) {',
    test: POSITION,
    title: 'begins anew in a topic that was created again',
  },
  {
    id: 'position-beyond-end-kept',
    bug: 'the consumer waits for a position beyond the end of the log',
    file: START,
    text: 'if (isElsewhere || position > end) {',
    replacement: 'if (isElsewhere) {',
    test: POSITION,
    title: 'is the oldest record when the committed one is beyond the end',
  },
  {
    id: 'retention-skips-silently',
    bug: 'records that retention deleted while nothing ran are skipped silently',
    file: 'services/broker/kafka/losses/lost-range.ts',
    text: 'return count > 0 ? { from, to: first, count } : null;',
    replacement: 'return count < 0 ? { from, to: first, count } : null;',
    test: PARTITION_TEST,
    title: 'starts at the oldest record',
  },
  {
    id: 'loss-forgotten-at-restart',
    bug: 'a lost range is forgotten at the next commit',
    file: NOTE,
    text: 'const known = topicId || range ?',
    replacement: 'const known = topicId && !range ?',
    test: PARTITION_TEST,
    title: 'comes back as it was written',
  },
  {
    id: 'commit-beyond-waiting',
    bug: 'the committed position passes a record that is not done',
    file: PARTITION,
    text: 'while (this.#done.delete(this.#prefix)) this.#prefix += 1;',
    replacement: 'for (const one of this.#done) this.#prefix = Math.max(this.#prefix, one + 1);',
    test: PARTITION_TEST,
    title: 'commits the contiguous prefix',
  },
  {
    id: 'dead-partition-commits',
    bug: 'a revoked partition is still committed',
    file: PARTITION,
    text: 'if (this.next === null || !this.isAlive) return null;',
    replacement: 'if (this.next === null) return null;',
    test: PARTITION_TEST,
    title: 'nor when it was taken away',
  },
  {
    id: 'journal-name-without-topic-id',
    bug: 'the journal of a recreated topic has the same name as the old one',
    file: JOURNAL,
    text: 'return topicId === null ? name : `',
    replacement: 'return topicId !== undefined ? name : `',
    test: 'test/broker/kafka/consumer/start-position.test.ts',
    title: 'continues where the store is in this very topic',
  },
  {
    id: 'partitions-added-unnoticed',
    bug: 'partitions added to a topic are noticed only after five minutes',
    file: SUPERVISED,
    text: 'const METADATA_MS_MAX = 10_000;',
    replacement: 'const METADATA_MS_MAX = 300_000;',
    test: HOLD_UPS,
    title: 'are read within seconds',
    needsKafka: true,
  },
  {
    id: 'tier-holds-up-tiers',
    bug: 'a tier whose consumer has left its group delays the other tiers',
    file: 'services/broker/kafka/streams/delayed-feed.ts',
    text: '(first.record.partition.isAlive && !tier.isTrusted)) continue;',
    replacement:
      'false) continue;\n      if (first.record.partition.isAlive && !tier.isTrusted) return undefined;',
    test: HOLD_UPS,
    title: 'do not hold up due ones of other tiers',
  },
  {
    id: 'failing-commit-untold',
    bug: 'a permanent commit failure is logged at debug level only',
    file: 'services/broker/kafka/consumer/commits.ts',
    text: 'if (this.#isReported || (!isRefused',
    replacement: 'if (true || this.#isReported || (!isRefused',
    test: HOLD_UPS,
    title: 'are logged once, with the missing right',
  },
  {
    id: 'schema-failing-for-ever-untold',
    bug: 'a schema that the registry never returns is logged only once',
    file: 'services/broker/kafka/registry/registry-schemas.ts',
    text: 'if (now - waiting.loggedAt < TELL_AGAIN_MS) return;',
    replacement: 'if (now >= waiting.loggedAt) return;',
    test: HOLD_UPS,
    title: 'is named every minute',
  },
  {
    id: 'journal-waits-for-ever-once-unsure',
    bug: 'records read while group membership is unsure are never handed over',
    file: JOURNAL,
    text: '      this.#lookAgain();\n',
    replacement: '',
    test: 'test/broker/kafka/streams/journal-waits.test.ts',
  },
];
