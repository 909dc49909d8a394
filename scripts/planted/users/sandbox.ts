import type { PlantedBug } from '../planted-bug.ts';

const CLOCK = 'test/simulator/clock.test.ts';

/** A sandbox, its clock and its listeners, as a developer meets them in the first hours. */
export const SANDBOX_BUGS: readonly PlantedBug[] = [
  {
    id: 'keys-of-another-store-lost',
    bug: 'a store that does not know the keys of sandbox.env gets new ones',
    file: 'simulator/commands/sandbox/keys.ts',
    text: 'if (found === undefined) key = known;',
    replacement: '',
    test: 'test/simulator/sandbox.test.ts',
    title: 'a store that is new gets the merchant and the keys',
  },
  {
    id: 'verified-held-for-kyc',
    bug: 'the transaction of a verified user waits for a KYC that cannot come',
    file: 'simulator/machines/world.ts',
    text: "if (process.hold === 'ON_HOLD_KYC' && to === 'IN_PROGRESS' && !this.#isVerified()) {",
    replacement: "if (process.hold === 'ON_HOLD_KYC' && to === 'IN_PROGRESS') {",
    test: 'test/simulator/machines.test.ts',
    title: 'no hold of a verified entity waits for a verification',
  },
  {
    id: 'clock-by-whole-seconds',
    bug: 'responses do not say by how much the clock was moved on, only which second it shows',
    file: 'services/api/service-date.ts',
    text: 'response.setHeader(CLOCK_AHEAD_HEADER, String(aheadMs));',
    replacement: '',
    test: CLOCK,
    title: 'responses say exactly by how much the clock was moved on',
  },
  {
    id: 'cancelled-without-a-line',
    bug: 'a move of the clock says nothing of the deliveries that it cancelled',
    file: 'services/operator/commands/clock.ts',
    text: "case 'cancelled':",
    replacement: "case 'skipped' as 'cancelled':",
    test: CLOCK,
    title: 'a delivery that ends without an attempt has a line',
  },
  {
    id: 'sent-before-it-happened',
    bug: 'a scenario that is played quickly has events of the future',
    file: 'simulator/scenario/plan.ts',
    text: 'return now - Math.ceil(spanMs * Math.max(0, 1 - 1 / speed));',
    replacement: 'return now;',
    test: 'test/simulator/scenario/plan.test.ts',
    title: 'no event of any scenario is sent before it happened',
  },
  {
    id: 'idle-listeners-in-the-way',
    bug: 'events list names the listeners that do not run, for ever',
    file: 'simulator/listen/listen-endpoint.ts',
    text: "return verdict === 'endpoint_disabled' && isOfListener(endpoint);",
    replacement: "return verdict === '' && isOfListener(endpoint);",
    test: 'test/simulator/listen/forget.test.ts',
    title: 'beside an endpoint of the developer they are not named',
  },
  {
    id: 'two-installations',
    bug: 'a command installs although an npm installs in the same checkout',
    file: 'scripts/ensure-dependencies.mjs',
    text: 'await othersInstalled(root);',
    replacement: '',
    test: 'test/executable/dependencies.test.ts',
    title: 'is waited for, and what it has installed is not installed again',
  },
];
