import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { isIn, tierOf } from './test/tiers.ts';

const tier = tierOf(process.env.TEST_TIER);
const SUITES = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name}`)
  .filter((path) => path.endsWith('.test.ts'));
/** Suites of the other tier. */
const LEFT_OUT = SUITES.filter((path) => !isIn(tier, path));
/** In a suite, what lasts longer than it, or counts what was before it. */
const CHANGES_PROCESS =
  /\bvi\.(mock|doMock|useFakeTimers|stubEnv|stubGlobal)\(|\bprocess\.(chdir|memoryUsage|setuid|umask)\b/;

/** Throws for a suite that does not exist: it would silently run among the others after a move. */
function files(names: readonly string[]): string[] {
  return names.map((name) => {
    const path = `test/${name}.test.ts`;
    if (!existsSync(path)) throw new Error(`vitest.config.ts names ${path}, which does not exist`);
    return path;
  });
}

/**
 * Suites of many processes that mostly wait, and whose assertions do not depend on how fast the machine is. The quick tier
 * has few of them and runs them beside its other suites: alone at the end they would leave a core idle.
 */
const FEW_AT_ONCE = files([
  'api/schemathesis',
  'guarantees/full-disk',
  'guarantees/kafka/failover',
  'guarantees/kafka/kill-loop',
  'guarantees/kafka/notices',
  'guarantees/kafka/outage',
  'guarantees/kafka/partial-outage',
  'guarantees/kafka/pauses',
  'guarantees/kafka/recovery',
  'guarantees/kafka/unread/alert',
  'guarantees/kill-loop',
  'guarantees/notices-kill-loop',
  'guarantees/postgres/failover',
  'guarantees/postgres/full-disk',
  'guarantees/postgres/kill-loop',
  'guarantees/postgres/move',
  'guarantees/postgres/outage',
  'guarantees/postgres/schemathesis',
  'guarantees/recovery',
  'guarantees/silent/hung-broker',
  'guarantees/silent/postgres',
  'guarantees/silent/registry',
  'guarantees/stalls',
]);

/** Suites with assertions on latency. Other tests beside them would slow them down. */
const ALONE = files([
  'guarantees/connections',
  'guarantees/kafka/rotations',
  'guarantees/neighbours',
  'guarantees/own-slowness',
  'guarantees/rotations',
  'guarantees/slow-disk',
]);

/**
 * Suites that change their process (its folder, its time, a module, a variable, a global), or measure its memory. The
 * others of the group share processes, so that each module is loaded once in each.
 */
const OWN_PROCESS = SUITES.filter((path) =>
  FEW_AT_ONCE.includes(path)
    ? tier === 'quick'
    : !ALONE.includes(path) && CHANGES_PROCESS.test(readFileSync(path, 'utf8')),
);

/** Suites that take long although their files are short. */
const LONG = files([
  'broker/kafka/contract',
  'guarantees/clock-steps',
  'guarantees/kafka/producers',
  'guarantees/kafka/access/secured',
  'guarantees/kafka/start',
  'guarantees/stream',
  'simulator/failing-pipeline',
  'simulator/kafka',
  'simulator/sandbox',
  'simulator/scenario/check',
  'store/postgres/contract',
  'store/sqlite/contract',
]);

/** Whether suites of a project share processes. */
const sharesOf = ({ project }: TestSpecification) => project.config.isolate === false;

/**
 * Runs LONG first, then larger files first, as Vitest does: otherwise the slowest suites run alone at the end. Suites with
 * a process of their own come before: a process is kept while the next suite shares it.
 */
class LongFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const inOrder = await super.sort(specifications);
    const isLong = ({ moduleId }: TestSpecification) => LONG.some((file) => moduleId.endsWith(`/${file}`));
    const groupOf = ({ project }: TestSpecification) => project.config.sequence.groupOrder;
    return inOrder.sort(
      (one, other) =>
        groupOf(one) - groupOf(other) ||
        Number(sharesOf(one)) - Number(sharesOf(other)) ||
        Number(isLong(other)) - Number(isLong(one)),
    );
  }
}

interface Group {
  readonly name: string;
  readonly order: number;
  readonly workers: number;
  readonly suites: readonly string[];
  readonly except?: readonly string[];
  readonly isolate?: boolean;
}

const group = ({ name, order, workers, suites, except = [], isolate = true }: Group) => ({
  extends: true as const,
  test: {
    ...{ name, isolate, maxWorkers: workers, sequence: { groupOrder: order } },
    ...{ include: [...suites], exclude: [...except, ...LEFT_OUT] },
    // Fewer generated requests than the suite's own number.
    env: tier === 'quick' ? { SCHEMATHESIS_EXAMPLES: '10' } : {},
  },
});

/** Suites of the thorough tier wait more than others. */
const AT_ONCE = tier === 'thorough' ? 4 : 3;
const ELSEWHERE = [...OWN_PROCESS, ...FEW_AT_ONCE, ...ALONE];

export default defineConfig({
  resolve: {
    alias: [
      // The threads of a service that runs inside a test.
      {
        find: /^(\.\.\/)+process\/worker-thread\.ts$/,
        replacement: `${import.meta.dirname}/test/support/built/worker-thread.ts`,
      },
    ],
  },
  test: {
    globalSetup: [
      'test/support/built/setup.ts',
      'test/support/kafka/setup.ts',
      'test/support/postgres/setup.ts',
    ],
    pool: 'forks',
    // Bounds against hanging: a busy machine takes three times as long as a quiet one.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    sequence: { sequencer: LongFirst },
    coverage: {
      provider: 'v8',
      include: ['client/**/*.ts', 'console/**/*.{ts,tsx}', 'services/**/*.ts', 'simulator/**/*.ts'],
      reporter: ['text-summary'],
    },
    projects: [
      group({ name: 'own process', order: 0, workers: AT_ONCE, suites: OWN_PROCESS }),
      group({
        ...{ name: 'together', order: 0, workers: AT_ONCE, isolate: false },
        ...{ suites: ['test/**/*.test.ts'], except: ELSEWHERE },
      }),
      group({ name: 'few at once', order: 1, workers: 2, suites: FEW_AT_ONCE, except: OWN_PROCESS }),
      group({ name: 'alone', order: 2, workers: 1, suites: ALONE }),
    ],
  },
});
