import type { PlantedBug } from '../planted-bug.ts';

const OF_KAFKA = 'test/broker/kafka/streams/sequences.test.ts';
const OF_SQLITE = 'test/broker/sqlite/sequences.test.ts';

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
];
