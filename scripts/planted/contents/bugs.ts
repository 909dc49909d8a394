import type { PlantedBug } from '../planted-bug.ts';

const PRODUCER_TEST = 'test/api/routes/producer.test.ts';
const HARMLESS_TEST = 'test/api/requests/harmless.test.ts';
const STORES_TEST = 'test/guarantees/postgres/same-answers.test.ts';

/** The rules for the contents of events and requests, and the words of their refusals. */
export const CONTENT_BUGS: readonly PlantedBug[] = [
  {
    id: 'null-character-is-accepted',
    bug: 'texts with U+0000 are accepted: PostgreSQL refuses them, and the request ends with 500',
    file: 'services/domain/text/text-fault.ts',
    text: "if (text.includes('\\0'))",
    replacement: "if (text.includes('\\0\\0\\0'))",
    test: STORES_TEST,
    title: 'give the same answer',
  },
  {
    id: 'query-text-is-not-checked',
    bug: 'U+0000 in a query parameter reaches the store',
    file: 'services/api/reading/texts.ts',
    text: '...textFaultsIn(value, pointer)].slice(0, 1)',
    replacement: '].slice(0, 1)',
    test: HARMLESS_TEST,
    title: 'say what to write',
  },
  {
    id: 'command-texts-are-not-checked',
    bug: 'U+0000 in an argument of an operator command reaches the store',
    file: 'services/operator/commands/arguments.ts',
    text: 'const [fault] = textFaultsIn(given);',
    replacement: 'const [fault] = textFaultsIn({});',
    test: 'test/operator/texts.test.ts',
    title: 'every command refuses',
  },
  {
    id: 'occurred-at-has-no-upper-bound',
    bug: 'an event two days ahead of now is accepted',
    file: 'services/domain/content/event-time.ts',
    text: 'if (at >= OCCURRED_FROM_MS && at <= until) return undefined;',
    replacement: 'if (at >= OCCURRED_FROM_MS) return undefined;',
    test: PRODUCER_TEST,
    title: 'refuses an event alone with',
  },
  {
    id: 'status-of-another-subtype-is-delivered',
    bug: 'an event with the status of another subType is delivered',
    file: 'services/domain/content/contradictions.ts',
    text: 'if (subTypes === undefined || subTypes.includes(subType)) continue;',
    replacement: 'continue;',
    test: PRODUCER_TEST,
    title: 'refuses an event alone with',
  },
  {
    id: 'status-update-about-another-entity',
    bug: 'a status update about somebody else than the event’s entity is delivered',
    file: 'services/domain/content/contradictions.ts',
    text: 'data.uuid.toLowerCase() !== entityId',
    replacement: 'false',
    test: PRODUCER_TEST,
    title: 'somebody else than its entity',
  },
  {
    id: 'router-does-not-judge-contents',
    bug: 'an event from Kafka whose content breaks a rule is routed',
    file: 'services/domain/quarantine.ts',
    text: 'if (contentFaults(event, known.now).length > 0) return',
    replacement: 'if (contentFaults(event, known.now).length > 99) return',
    test: 'test/router/contents.test.ts',
    title: 'quarantines',
  },
  {
    id: 'name-twice-is-accepted',
    bug: 'an object with a name twice is accepted, with the last value',
    file: 'services/api/body.ts',
    text: "if (fault?.kind !== 'repeated') return undefined;",
    replacement: "if (fault?.kind !== 'malformed') return undefined;",
    test: HARMLESS_TEST,
    title: 'about an amount that is given twice',
  },
  {
    id: 'empty-chunked-body-is-a-body',
    bug: 'a DELETE with an empty chunked body is refused for its Content-Type',
    file: 'services/api/body.ts',
    text: 'if (bytes.length > 0 && read.fault !== undefined)',
    replacement: 'if (read.fault !== undefined)',
    test: HARMLESS_TEST,
    title: 'is no body, with the headers',
  },
  {
    id: 'node-refuses-by-itself',
    bug: 'a request without Host is answered by Node, without a problem document',
    file: 'services/api/server.ts',
    text: 'requireHostHeader: false,',
    replacement: 'requireHostHeader: true,',
    test: HARMLESS_TEST,
    title: 'is a problem document',
  },
];
