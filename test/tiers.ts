/**
 * Two tiers of suites: `npm test` runs the quick one in some twenty minutes, `npm run test:all` everything. A suite is quick
 * unless a row here says otherwise. CONTRIBUTING.md shows this table.
 */

/** Suites that only `npm run test:all` runs, and why a change need not wait for them. */
interface Thorough {
  readonly what: string;
  /** Of the path below `test`, without `.test.ts`. */
  readonly suites: RegExp;
  readonly why: string;
}

export const THOROUGH: readonly Thorough[] = [
  {
    what: 'faults on Kafka and PostgreSQL',
    suites:
      /^guarantees\/(kafka\/(?!(recovery|roles)$)|postgres\/(?!same-answers$)|silent\/)|^store\/(postgres\/(?!(contract|migrations|roles)$)|copy\/)|^console\/killed-api$/,
    why: 'they kill, suspend and cut off servers, and wait until everything has arrived',
  },
  {
    what: 'the Kafka engine beside its contract',
    suites: /^broker\/kafka\/(?!contract$)|^kafka-client\/(client\/silent-brokers|consumer\/lost-positions)$/,
    why: 'each waits for leaders, groups and time-outs of real brokers',
  },
  {
    what: 'promises on isolation and latency',
    suites: /^guarantees\/(connections|neighbours|own-slowness|rotations|slow-disk)$/,
    why: 'they run alone on the machine',
  },
  {
    what: 'long promises of the embedded engine',
    suites:
      /^guarantees\/(abandoned-streams|changes-while-stopped|clock-steps|endpoint-limit|costly-responses|erased|full-disk|log-output|notices-kill-loop|ordinary-traffic|platform-signature|seals\/.*|stalls|stream)$/,
    why: 'they start and end many services, or wait for time-outs',
  },
  {
    what: 'what README and docs print, the image, the servers of docs/deploy.md',
    suites: /^(docs\/(typed\/(?!sandbox$)|receivers-behind-servers$)|deploy|local-kafka)/,
    why: 'they install, build and start what a reader would',
  },
  {
    what: 'screens of the consoles in a browser, beside `console-in-browser` and `keyboard`',
    suites:
      /^console\/(attacks\/texts|(endpoints|missed|operator)-in-browser|catalogue|frames|play|verify|white-label)$/,
    why: 'each opens every screen in four layouts',
  },
  {
    what: 'whole flows of the simulator, the operator and the executable',
    suites:
      /^(simulator\/(dead-ends|failing-pipeline|kafka|listen\/listen|scenario\/check|two-apis)|operator\/(audited|store-copy|streams)|executable\/(executable|launcher))$/,
    why: 'they start a service for each case; parts of them are quick suites',
  },
];

const TIERS = ['quick', 'thorough', 'all'] as const;
export type Tier = (typeof TIERS)[number];

/** Returns the tier that TEST_TIER names, `all` by default. */
export function tierOf(value: string | undefined): Tier {
  const tier = TIERS.find((each) => each === (value || 'all'));
  if (tier === undefined) throw new Error(`TEST_TIER must be one of ${TIERS.join(', ')}, not "${value}"`);
  return tier;
}

/** Returns whether a tier has the suite at this path, such as `test/api/access.test.ts`. */
export function isIn(tier: Tier, path: string): boolean {
  const name = path.replace(/^test\//, '').replace(/\.test\.ts$/, '');
  if (tier === 'all') return true;
  return THOROUGH.some(({ suites }) => suites.test(name)) === (tier === 'thorough');
}
