import type { PlantedBug } from '../planted-bug.ts';

const STATUS = 'services/sender/http/status-line.ts';
const EXCHANGE = 'services/sender/http/http-exchange.ts';
const VERDICT = 'test/sender/http/verdict.test.ts';
const HOSTILE = 'test/sender/http/hostile-responses.test.ts';

/** The status line decides, and belongs to one request. */
export const VERDICT_BUGS: readonly PlantedBug[] = [
  {
    id: 'faulty-head-decides',
    bug: 'a fault in the head makes a failure of an acknowledgement',
    file: EXCHANGE,
    text: 'if (!this.#isOver && status >= 200) this.#logOf(status);',
    replacement: '',
    test: VERDICT,
    title: 'does not change the acknowledgement',
  },
  {
    id: 'fault-before-first-header-decides',
    bug: 'the status of a response is forgotten when its first header is faulty',
    file: STATUS,
    text: 'if (!STATUS_LINE_ERRORS.includes(code)) tell();',
    replacement: '',
    test: VERDICT,
    title: 'does not change the acknowledgement',
  },
  {
    id: 'half-a-status-line-decides',
    bug: 'a status line that is cut off counts',
    file: STATUS,
    text: 'if (chunk && end < chunk.length) tell();',
    replacement: 'if (chunk) tell();',
    test: VERDICT,
    title: 'that is the end of the connection',
  },
  {
    id: 'faulty-status-decides',
    bug: 'the beginning of a faulty status line counts',
    file: STATUS,
    text: 'if (!STATUS_LINE_ERRORS.includes(code)) tell();',
    replacement: 'tell();',
    test: VERDICT,
    title: 'in the status line itself',
  },
  {
    id: 'continue-ends-attempt',
    bug: 'an unasked 100 Continue ends the attempt',
    file: STATUS,
    text: 'const known = status === CONTINUE ? SKIPPED : status;',
    replacement: 'const known = status;',
    test: VERDICT,
    title: 'is skipped',
  },
  {
    id: 'surplus-status-credited',
    bug: 'the status of a response that nobody asked for decides the next attempt',
    file: STATUS,
    text: 'isTold = refused !== 0;',
    replacement: 'isTold = false;',
    test: HOSTILE,
    title: 'on a used connection gets the request a fresh one',
  },
  {
    id: 'endless-body-holds-verdict',
    bug: 'a body without an end holds the verdict until the time-out',
    file: 'services/sender/http/transport.ts',
    text: 'const READ_ON_PAUSE_MS = 100;',
    replacement: 'const READ_ON_PAUSE_MS = 100_000;',
    test: VERDICT,
    title: 'without an end is decided long before the time-out',
  },
  {
    id: 'trickle-is-read-for-ever',
    bug: 'a body that trickles is read until the time-out',
    file: 'services/sender/http/response-limits.ts',
    text: 'const READ_ON_MS_MAX = 1000;',
    replacement: 'const READ_ON_MS_MAX = 1_000_000;',
    test: VERDICT,
    title: 'the rest is read for a second',
  },
  {
    id: 'rest-holds-window',
    bug: 'an endpoint’s window is held while the rest of a response is read',
    file: EXCHANGE,
    text: 'if (this.#isHeadRead) this.#answered(log);',
    replacement: '',
    test: VERDICT,
    title: 'the lanes know the answer',
  },
  {
    id: 'rest-delays-next-attempt',
    bug: 'an attempt ends when the rest of its response has been read',
    file: EXCHANGE,
    text: 'endedAt: this.#decidedAt ?? this.#owner.now(),',
    replacement: 'endedAt: this.#owner.now(),',
    test: VERDICT,
    title: 'the attempt has ended',
  },
  {
    id: 'fault-is-not-told',
    bug: 'the log does not tell why a response was not read whole',
    file: EXCHANGE,
    text: 'decidedBy(log.kept(), fault)',
    replacement: 'decidedBy(log.kept(), null)',
    test: VERDICT,
    title: 'does not change the acknowledgement',
  },
];
