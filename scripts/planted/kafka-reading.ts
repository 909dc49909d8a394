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

/** Positions: gaps, logs that are others, what was deleted, and what is committed. */
export const KAFKA_READING_BUGS: readonly PlantedBug[] = [
  {
    id: 'transactions-only-passed',
    bug: 'a fetch of nothing but markers and aborted records does not move the position',
    file: CONSUMER,
    text: 'partition.skipTo(last + 1);',
    replacement: 'void last;',
    test: FOREIGN,
    title: 'in transactions are read once committed',
    needsKafka: true,
  },
  {
    id: 'gap-by-first-record',
    bug: 'a gap is judged by the first record and not by where the fetch began',
    file: CONSUMER,
    text: 'const fetchedFrom = fetchedOffset(batch);',
    replacement: 'const fetchedFrom = Number(batch.firstOffset() ?? fetchedOffset(batch));',
    test: FOREIGN,
    title: 'in transactions are read once committed',
    needsKafka: true,
  },
  {
    id: 'marker-at-end-waited-for',
    bug: 'what is behind the last record of a fetch counts as unread',
    file: CONSUMER,
    text: 'partition.skipTo(Number(batch.lastOffset()) + 1);',
    replacement: '',
    test: FOREIGN,
    title: 'in transactions are read once committed',
    needsKafka: true,
  },
  {
    id: 'recreated-topic-id-unverified',
    bug: 'it is not verified that the topic is still the same one',
    file: CONSUMER,
    text: 'if (partition.next !== null && partition.topicId !== null && partition.topicId !== id)',
    replacement: 'if (partition.next === null && id === undefined)',
    test: LOST,
    title: 'reads all of the new one',
    needsKafka: true,
  },
  {
    id: 'recreated-topic-id-unnoted',
    bug: 'the id of the topic is not kept with the position',
    file: PARTITION,
    text: 'done: this.#done, topicId, lost: this.#lost }',
    replacement: 'done: this.#done, topicId: topicId && null, lost: this.#lost }',
    test: PARTITION_TEST,
    title: 'nor when it was taken away',
  },
  {
    id: 'recreated-topic-note-believed',
    bug: 'a position that was committed in an earlier topic of the name is believed',
    file: START,
    text: 'const isElsewhere = startOf ? false : isOther;',
    replacement: 'const isElsewhere = false;',
    test: POSITION,
    title: 'however long the new one is',
  },
  {
    id: 'journal-earlier-position-believed',
    bug: 'a journal that was made again goes on where the store was in the earlier one',
    file: JOURNAL,
    text: 'if (position === undefined && (isCommitted || topicId === null)) {',
    replacement: 'if (position === undefined) {',
    test: POSITION,
    title: 'begins anew in a topic that was created again',
  },
  {
    id: 'position-beyond-end-kept',
    bug: 'a position beyond the end of the log is waited for',
    file: START,
    text: 'if (isElsewhere || position > end) {',
    replacement: 'if (isElsewhere) {',
    test: POSITION,
    title: 'is the oldest record when the committed one is beyond the end',
  },
  {
    id: 'retention-skips-silently',
    bug: 'what retention deleted while nothing ran is skipped without a word',
    file: 'services/broker/kafka/losses/lost-range.ts',
    text: 'return count > 0 ? { from, to: first, count } : null;',
    replacement: 'return count < 0 ? { from, to: first, count } : null;',
    test: PARTITION_TEST,
    title: 'starts at the oldest record',
  },
  {
    id: 'loss-forgotten-at-restart',
    bug: 'what was lost is forgotten with the next commit',
    file: NOTE,
    text: 'const known = topicId || range ?',
    replacement: 'const known = topicId && !range ?',
    test: PARTITION_TEST,
    title: 'comes back as it was written',
  },
  {
    id: 'commit-beyond-waiting',
    bug: 'a record that is done is committed past one that is not',
    file: PARTITION,
    text: 'while (this.#done.delete(this.#prefix)) this.#prefix += 1;',
    replacement: 'for (const one of this.#done) this.#prefix = Math.max(this.#prefix, one + 1);',
    test: PARTITION_TEST,
    title: 'commits the contiguous prefix',
  },
  {
    id: 'dead-partition-commits',
    bug: 'a partition that was taken away is still committed',
    file: PARTITION,
    text: 'if (this.next === null || !this.isAlive) return null;',
    replacement: 'if (this.next === null) return null;',
    test: PARTITION_TEST,
    title: 'nor when it was taken away',
  },
  {
    id: 'journal-name-without-topic-id',
    bug: 'the journal of a topic that was made again passes for the old one',
    file: JOURNAL,
    text: 'return topicId === null ? name : `',
    replacement: 'return topicId !== undefined ? name : `',
    test: 'test/broker/kafka/consumer/start-position.test.ts',
    title: 'continues where the store is in this very topic',
  },
  {
    id: 'partitions-added-unnoticed',
    bug: 'partitions that are added to a topic are noticed after five minutes',
    file: SUPERVISED,
    text: 'const METADATA_MS_MAX = 10_000;',
    replacement: 'const METADATA_MS_MAX = 300_000;',
    test: HOLD_UPS,
    title: 'are read within seconds',
    needsKafka: true,
  },
  {
    id: 'tier-holds-up-tiers',
    bug: 'a tier whose consumer is out of its group holds up the other tiers',
    file: 'services/broker/kafka/streams/delayed-feed.ts',
    text: '(first.record.partition.isAlive && !tier.isTrusted)) continue;',
    replacement:
      'false) continue;\n      if (first.record.partition.isAlive && !tier.isTrusted) return undefined;',
    test: HOLD_UPS,
    title: 'do not hold up due ones of other tiers',
  },
  {
    id: 'failing-commit-untold',
    bug: 'positions that can never be committed are told at debug level only',
    file: 'services/broker/kafka/consumer/commits.ts',
    text: 'if (this.#isReported || (!isRefused',
    replacement: 'if (true || this.#isReported || (!isRefused',
    test: HOLD_UPS,
    title: 'are logged once, with the missing right',
  },
  {
    id: 'schema-failing-for-ever-untold',
    bug: 'a schema that the registry never tells is named once and never again',
    file: 'services/broker/kafka/registry/registry-schemas.ts',
    text: 'if (now - waiting.loggedAt < TELL_AGAIN_MS) return;',
    replacement: 'if (now >= waiting.loggedAt) return;',
    test: HOLD_UPS,
    title: 'is named every minute',
  },
  {
    id: 'journal-waits-for-ever-once-unsure',
    bug: 'records read while membership is unsure are never handed over',
    file: JOURNAL,
    text: '      this.#lookAgain();\n',
    replacement: '',
    test: 'test/broker/kafka/streams/journal-waits.test.ts',
  },
];
