import type { PlantedBug } from '../planted-bug.ts';

/** Headers of a merchant's own, and the limit of an endpoint. */
export const ENDPOINT_CONTROL_BUGS: readonly PlantedBug[] = [
  {
    id: 'own-header-line-break',
    bug: 'the value of a header of a merchant’s own may have line breaks, and so adds headers of hookrail',
    file: 'services/domain/controls/custom-headers.ts',
    text: 'const VALUE = /^[!-~](?:[\\t -~]*[!-~])?$/;',
    replacement: 'const VALUE = /^[!-~](?:[\\s -~]*[!-~])?$/;',
    test: 'test/domain/controls/custom-headers.test.ts',
    title: 'of any text is accepted only if it is one line',
  },
  {
    id: 'own-header-in-response',
    bug: 'the delivery log keeps the key of a gateway that the receiver has sent back',
    file: 'services/sender/request.ts',
    text: 'new SecretMask(secret, ...others, ...secretsOf(headers))',
    replacement: 'new SecretMask(secret, ...others)',
    test: 'test/sender/custom-headers.test.ts',
    title: 'a response that sends a value back',
  },
  {
    id: 'own-headers-lost',
    bug: 'two requests that change headers at once lose the values of one another',
    file: 'services/store/rules/endpoint-writes.ts',
    text: "if (change.headers && areOthers(row, change.headers)) return { kind: 'headers_changed' };",
    replacement: '',
    test: 'test/store/sqlite/contract.test.ts',
    title: 'replaces all headers by the change that has seen them',
  },
  {
    id: 'limit-of-its-own-bursts',
    bug: 'an endpoint with a limit gets a burst after a rest',
    file: 'services/sender/lanes/paces.ts',
    text: 'Math.max(nextAt, now - LATE_MS)',
    replacement: 'Math.max(nextAt, now - 1000)',
    test: 'test/sender/lanes/paces.test.ts',
    title: 'no burst after a rest',
  },
  {
    id: 'limit-of-its-own-overtaken',
    bug: 'a later event of an entity overtakes one that is parked because of a limit',
    file: 'services/sender/lanes/lanes.ts',
    text: 'if (this.#pacing.mustFollow(endpoint, task, now) || this.#waiting.isFull(endpoint, now)) {',
    replacement:
      'this.#pacing.mustFollow(endpoint, task, now);\n    if (this.#waiting.isFull(endpoint, now)) {',
    test: 'test/sender/lanes/paces.test.ts',
    title: 'does not overtake one that is parked',
  },
];
