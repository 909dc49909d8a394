import { defineConfig } from 'vitest/config';

/**
 * Faults, full disks and what must hold within a second want the machine for themselves: beside other tests they measure
 * these.
 */
const ALONE = [
  'api/schemathesis',
  'guarantees/kafka-kill-loop',
  'guarantees/kafka-outage',
  'guarantees/kafka-failover',
  'guarantees/kafka-rotations',
  'guarantees/kafka-partial-outage',
  'guarantees/kafka-pauses',
  'guarantees/kafka-recovery',
  'guarantees/recovery',
  'guarantees/neighbours',
  'guarantees/connections',
  'guarantees/kill-loop',
  'guarantees/rotations',
  'guarantees/full-disk',
  'guarantees/slow-disk',
].map((name) => `test/${name}.test.ts`);

export default defineConfig({
  test: {
    globalSetup: ['test/support/kafka-setup.ts'],
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 30_000,
    coverage: { provider: 'v8', include: ['services/**', 'simulator/**'], reporter: ['text-summary'] },
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: ALONE,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
