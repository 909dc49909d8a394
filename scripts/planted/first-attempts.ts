import type { PlantedBug } from './planted-bug.ts';

const DIRECT = 'services/broker/kafka/streams/direct-tasks.ts';
const CONTRACT = 'test/broker/kafka/contract.test.ts';
const UNIT = 'test/broker/kafka/streams/direct-tasks.test.ts';

/** First attempts that the sender gets without a topic. */
export const FIRST_ATTEMPT_BUGS: readonly PlantedBug[] = [
  {
    id: 'event-done-before-its-attempt',
    bug: 'an event is acknowledged while its first attempt is in flight',
    file: 'services/broker/kafka/streams/stream-feed.ts',
    text: '    this.#open += 1;',
    replacement: '',
    test: CONTRACT,
    title: 'repeats after a crash the attempts that were not settled, and no others',
  },
  {
    id: 'several-tasks-without-topic',
    bug: 'a task goes without a topic although its event has others',
    file: DIRECT,
    text: 'task && others.length === 0 && ',
    replacement: 'task && others.length < 2 && ',
    test: UNIT,
    title: 'unless the event has several tasks, or none',
  },
  {
    id: 'released-attempt-dropped',
    bug: 'a first attempt that a stopping sender gives back is not written to a topic',
    file: 'services/broker/kafka/streams/sources.ts',
    text: "if (item.ownership !== 'lost') return [outgoing.task(item.value, clock.now())];",
    replacement: "if (item.ownership !== 'lost') return [];",
    test: CONTRACT,
    title: 'gives attempts that a stopped sender has not made to the next one',
  },
  {
    id: 'direct-overtakes-topic',
    bug: 'a task goes to the sender at once although an earlier one is on the topic',
    file: DIRECT,
    text: 'const QUIET_MS = 5000;',
    replacement: 'const QUIET_MS = 0;',
    test: UNIT,
    title: 'not before those of its endpoint that went by the topic',
  },
  {
    id: 'event-waits-for-ever',
    bug: 'events wait for a full sender without limit',
    file: DIRECT,
    text: 'const WAIT_MS_MAX = 2000;',
    replacement: 'const WAIT_MS_MAX = 2_000_000;',
    test: UNIT,
    title: 'for two seconds, then others may take their tasks',
  },
  {
    id: 'event-done-before-its-trace',
    bug: 'an event is acknowledged while the trace of its routing is not durable',
    file: DIRECT,
    text: 'if (this.#isTraceDurable) super.durable();',
    replacement: 'super.durable();',
    test: UNIT,
    title: 'alone, and its event is done when results and trace are durable, in either order',
  },
  {
    id: 'trace-waits-for-ever',
    bug: 'the trace of a routing waits for the results of its attempt, however long that takes',
    file: DIRECT,
    text: 'const TRACE_MS_MAX = 500;',
    replacement: 'const TRACE_MS_MAX = 500_000;',
    test: UNIT,
    title: 'waits for the results of its attempt, half a second at the most',
  },
];
