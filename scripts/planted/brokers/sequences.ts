import type { PlantedBug } from '../planted-bug.ts';

const OF_KAFKA = 'test/broker/kafka/streams/sequences.test.ts';
const OF_SQLITE = 'test/broker/sqlite/sequences.test.ts';
const HISTORIES = 'test/broker/kafka/streams/sequence-histories.test.ts';

/** The order of an entity's events, as webhook-sequence says it. */
export const SEQUENCE_BUGS: readonly PlantedBug[] = [
  {
    id: 'lead-forgotten-at-restart',
    bug: 'the position is stored without the lead, so an event that is routed again gets another sequence',
    file: 'services/kafka-client/consumer/partition.ts',
    text: 'const mark = this.markAt(this.#prefix);',
    replacement: 'const mark = undefined;',
    test: OF_KAFKA,
    title: 'are the same for every reader from every committed position',
  },
  {
    id: 'sequence-follows-the-clock',
    bug: 'the highest sequence is not stored, so it falls after a restart when the clock was set back',
    file: 'services/broker/sqlite/file/commit.ts',
    text: '[...work.next, work.delayedNext, request.sequence]',
    replacement: '[...work.next, work.delayedNext, 0]',
    test: OF_SQLITE,
    title: 'have a higher sequence than those before, though the clock was set back',
  },
  {
    id: 'lead-lost-with-the-topic',
    bug: 'a router forgets the lead of a topic that is created again, so sequences fall where the new records are behind',
    file: 'services/kafka-client/consumer/start-position.ts',
    text: 'const remembered = earlier?.markAt(earlier.reach);',
    replacement: 'const remembered = undefined;',
    test: OF_KAFKA,
    title: 'deleted with its positions',
  },
  {
    id: 'sequence-without-the-time-on-kafka',
    bug: 'sequences are the offsets, so they fall after a move to Kafka, more partitions, or another topic',
    file: 'services/broker/kafka/streams/sequences.ts',
    text: 'return Math.floor(Math.max(0, timestamp) * SEQUENCES_PER_MS) - offset;',
    replacement: 'return 0 * timestamp * offset;',
    test: HISTORIES,
    title: 'histories of both engines',
    needsKafka: true,
  },
  {
    id: 'sequence-without-the-time',
    bug: 'the embedded engine counts on from its file, so a restored backup gives numbers a second time',
    file: 'services/broker/sqlite/file/sequencer.ts',
    text: 'Math.max(this.#last + 1, Math.floor(this.#clock.wall() * SEQUENCES_PER_MS))',
    replacement: 'Math.max(this.#last + 1, this.#clock.wall() > 0 ? 0 : SEQUENCES_PER_MS)',
    test: HISTORIES,
    title: 'histories of both engines',
    needsKafka: true,
  },
];
