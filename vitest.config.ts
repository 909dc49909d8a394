import { existsSync, readdirSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { isIn, tierOf } from './test/tiers.ts';

const tier = tierOf(process.env.TEST_TIER);
/** Suites of the other tier. */
const LEFT_OUT = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name}`)
  .filter((path) => path.endsWith('.test.ts') && !isIn(tier, path));

/** Throws for a suite that does not exist: it would silently run among the others after a move. */
function files(names: readonly string[]): string[] {
  return names.map((name) => {
    const path = `test/${name}.test.ts`;
    if (!existsSync(path)) throw new Error(`vitest.config.ts names ${path}, which does not exist`);
    return path;
  });
}

/** Suites that mostly wait, and whose assertions do not depend on how fast the machine is. */
const FEW_AT_ONCE = files([
  'api/schemathesis',
  'guarantees/full-disk',
  'guarantees/kafka/failover',
  'guarantees/kafka/kill-loop',
  'guarantees/kafka/outage',
  'guarantees/kafka/partial-outage',
  'guarantees/kafka/pauses',
  'guarantees/kafka/recovery',
  'guarantees/kafka/unread/alert',
  'guarantees/kill-loop',
  'guarantees/postgres/failover',
  'guarantees/postgres/full-disk',
  'guarantees/postgres/kill-loop',
  'guarantees/postgres/move',
  'guarantees/postgres/outage',
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

/** Runs LONG first, then larger files first, as Vitest does: otherwise the slowest suites run alone at the end. */
class LongFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const inOrder = await super.sort(specifications);
    const isLong = ({ moduleId }: TestSpecification) => LONG.some((file) => moduleId.endsWith(`/${file}`));
    const groupOf = ({ project }: TestSpecification) => project.config.sequence.groupOrder;
    return inOrder.sort(
      (one, other) => groupOf(one) - groupOf(other) || Number(isLong(other)) - Number(isLong(one)),
    );
  }
}

const group = (
  name: string,
  groupOrder: number,
  maxWorkers: number,
  suites: readonly string[],
  except: readonly string[] = [],
) => ({
  extends: true as const,
  test: {
    ...{
      name,
      maxWorkers,
      sequence: { groupOrder },
      include: [...suites],
      exclude: [...except, ...LEFT_OUT],
    },
    // Fewer generated requests than the suite's own number.
    env: tier === 'quick' ? { SCHEMATHESIS_EXAMPLES: '10' } : {},
  },
});

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
    testTimeout: 90_000,
    hookTimeout: 90_000,
    sequence: { sequencer: LongFirst },
    coverage: {
      provider: 'v8',
      include: ['client/**/*.ts', 'console/**/*.{ts,tsx}', 'services/**/*.ts', 'simulator/**/*.ts'],
      reporter: ['text-summary'],
    },
    projects: [
      // Suites of the thorough tier mostly wait: three of them keep little more than one core busy.
      group('together', 0, tier === 'thorough' ? 5 : 3, ['test/**/*.test.ts'], [...FEW_AT_ONCE, ...ALONE]),
      group('few at once', 1, 3, FEW_AT_ONCE),
      group('alone', 2, 1, ALONE),
    ],
  },
});
