import type { PlantedBug } from '../planted-bug.ts';

const CHECKER = 'test/sender/http/check/endpoint-checker.test.ts';

/** Checks of endpoints. */
export const ENDPOINT_CHECK_BUGS: readonly PlantedBug[] = [
  {
    id: 'check-tells-of-the-inside',
    bug: 'a check tells merchants the address of the egress proxy when that is down',
    file: 'services/sender/http/check/endpoint-checker.ts',
    text: 'return facts.ownFault ?',
    replacement: "return facts.ownFault === 'machine_limit' ?",
    test: CHECKER,
    title: 'a fault of our own way out is not the endpoint’s',
  },
  {
    id: 'check-like-a-webhook',
    bug: 'a receiver takes a check for a webhook',
    file: 'services/sender/http/check/ask.ts',
    text: "method: 'HEAD',",
    replacement: "method: 'POST',",
    test: CHECKER,
    title: 'sends it nothing that looks like a webhook',
  },
  {
    id: 'check-of-another-url',
    bug: 'what was found at the URL of before is shown for the new one',
    file: 'services/store/rules/check-writes.ts',
    text: 'AND url = $3 AND deleted_at IS NULL',
    replacement: "AND $3 <> '' AND deleted_at IS NULL",
    test: 'test/api/endpoints/check.test.ts',
    title: 'a check of a URL that was changed meanwhile is answered, and not kept',
  },
];
