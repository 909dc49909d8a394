import type { PlantedBug } from '../planted-bug.ts';

const CONTRACT = 'test/broker/sqlite/contract.test.ts';

/** Commands that do something else than the person who types them meant. */
export const MISTAKEN_COMMAND_BUGS: readonly PlantedBug[] = [
  {
    id: 'conflict-replayed-with-all',
    bug: 'a replay of many puts events back whose ids belong to other events',
    file: 'services/operator/commands/quarantine-replay.ts',
    text: 'if (id !== null && !this.#asNewEvent) {',
    replacement: 'if (id !== null && id === null) {',
    test: CONTRACT,
    title: 'leaves conflicts out of a replay',
  },
  {
    id: 'new-event-under-old-id',
    bug: 'a conflict is published as a new event under the id that it had',
    file: 'services/domain/quarantine.ts',
    text: "return uuidV5('as-new-event', eventId ?? '', hash('sha256', bytes, 'hex'));",
    replacement: 'return eventId;',
    test: CONTRACT,
    title: 'publishes a conflict under a new id',
  },
  {
    id: 'part-of-a-name-changes',
    bug: 'a part of a name is enough to change an endpoint',
    file: 'simulator/commands/endpoints.ts',
    text: 'run === get ? findEndpoint : findEndpointToChange',
    replacement: 'run === get ? findEndpoint : findEndpoint',
    test: 'test/simulator/dead-ends.test.ts',
    title: 'a dead end names what is wrong',
  },
  {
    id: 'guess-for-a-command',
    bug: 'a word that only resembles a command is taken for it',
    file: 'services/messages/did-you-mean.ts',
    text: '(candidate.length >= LONG_NAME ? 2 : 1)',
    replacement: '(candidate.length >= LONG_NAME ? 2 : 3)',
    test: 'test/messages/did-you-mean.test.ts',
    title: 'can only be one of',
  },
  {
    id: 'corrected-line-lost',
    bug: 'a refusal does not end in the typed line, put right',
    file: 'simulator/line/refused-line.ts',
    text: 'const isPutRight = right?.some((arg, index) => arg !== args[index]);',
    replacement: 'const isPutRight = false;',
    test: 'test/simulator/dead-ends.test.ts',
    title: 'a dead end names what is wrong',
  },
  {
    id: 'meant-line-of-other-option',
    bug: 'what is typed for another line is put right for no option',
    file: 'services/messages/meant-lines.ts',
    text: 'rest.splice(at, value === undefined || isJoined ? 1 : 2);',
    replacement: 'rest.splice(at, 1);',
    test: 'test/simulator/dead-ends.test.ts',
    title: 'a dead end names what is wrong',
  },
  {
    id: 'empty-list-silent',
    bug: 'an empty list prints nothing into a pipe',
    file: 'simulator/output.ts',
    text: 'if (items.length === 0) this.advise({ says: empty, next: [] });',
    replacement: 'if (items.length === 0) this.remark(empty);',
    test: 'test/simulator/dead-ends.test.ts',
    title: 'an empty list says so',
  },
  {
    id: 'one-of-several-sandboxes',
    bug: 'a command goes to one of several sandboxes that run',
    file: 'simulator/sandbox-place.ts',
    text: 'if (one && others.length > 0) {',
    replacement: 'if (one && others.length > 99) {',
    test: 'test/executable/sandbox-place.test.ts',
    title: 'several that run are named',
  },
];
