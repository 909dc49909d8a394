import type { PlantedBug } from './planted-bug.ts';

const PUBLISHER = 'services/broker/sqlite/event-publisher.ts';
const COMMIT = 'services/broker/sqlite/file/commit.ts';
const QUEUE = 'services/broker/sqlite/commit-queue.ts';
const CONTRACT = 'test/broker/sqlite/contract.test.ts';
const ROUTED = 'test/broker/sqlite/routed-events.test.ts';

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
    id: 'journal-row-of-another-place',
    bug: 'every batch row of a commit gives the recorder the bytes of the first one',
    file: 'services/broker/sqlite/commit-half.ts',
    text: 'return this.#journal.subarray(offset, offset + length);',
    replacement: 'return this.#journal.subarray(0, length);',
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
];
