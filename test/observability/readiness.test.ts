/** Readiness names stalled partitions with the reason, and other waiting work without becoming unready for it. */
import { expect, test } from 'vitest';
import type { BrokerStatus, PartitionStatus } from '../../services/broker/broker-status.ts';
import { Directory } from '../../services/domain/directory.ts';
import { readinessOf } from '../../services/observability/readiness.ts';

const PARTITION: PartitionStatus = {
  stream: 'tasks',
  topic: 'wh.deliver',
  partition: 3,
  isHeld: true,
  lag: 0,
  oldestMs: 0,
  stalled: null,
  retentionLeftMs: null,
  uncommittedMs: 0,
  commitFailures: 0,
  lost: 0,
  unacknowledged: null,
  outOfRange: 0,
};

function readiness(change: Partial<BrokerStatus>, failing: string | null = null) {
  const status: BrokerStatus = {
    reachable: true,
    joining: [],
    waiting: [],
    get oldestOverdueMs(): never {
      throw new Error('readiness must not ask for the age of other processes’ tasks');
    },
    clockOffsetMs: 0,
    parked: [],
    get backlog(): never {
      throw new Error('readiness must not ask for the backlog of whole streams');
    },
    partitions: [PARTITION],
    producer: { waitingBytes: 0, oldestWaitingMs: 0 },
    schemasWaiting: 0,
    quarantined: new Map(),
    stuck: { count: 0, oldestMs: 0 },
    ...change,
  };
  const parts = {
    broker: { status: () => status },
    store: null,
    follower: { stalenessMs: () => 0 },
    directory: new Directory(),
    descriptors: { shortage: null },
    keyRing: null,
    waysOut: [{ failing: null }, { failing }],
  };
  return readinessOf(parts, 'running');
}

test('a process is ready when nothing waits', () => {
  expect(readiness({})).toEqual({ ready: true, reasons: [], waiting: [] });
});

test.each([
  'the name servers (10.0.0.2) answer no question: ETIMEOUT',
  'the egress proxy at 10.0.0.1:3128 answered 407',
])('a process whose way to the receivers fails is not ready, and says what fails: %s', (failing) => {
  expect(readiness({}, failing)).toMatchObject({
    ready: false,
    reasons: [`no receiver can be reached: ${failing}`],
  });
});

test('a stalled partition makes a process unready, and is named with the reason', () => {
  const stalled = { forMs: 75_000, reason: 'no record arrives at offset 7, although the log ends at 12' };
  expect(readiness({ partitions: [{ ...PARTITION, lag: 5, oldestMs: 80_000, stalled }] })).toEqual({
    ready: false,
    reasons: [
      'wh.deliver/3 has made no progress for 75 s: no record arrives at offset 7, although the log ends at 12',
    ],
    waiting: [],
  });
});

test('lag, failing handlers and missing schemas are reported, and the process stays ready', () => {
  const partitions = [{ ...PARTITION, lag: 40, oldestMs: 31_000 }];
  expect(readiness({ partitions, stuck: { count: 2, oldestMs: 9000 }, schemasWaiting: 1 })).toEqual({
    ready: true,
    reasons: [],
    waiting: [
      '2 inputs whose handler keeps failing, the oldest for 9 s',
      'records wait for 1 schemas of the registry (HOOKRAIL_SCHEMA_REGISTRY_URL)',
      'wh.deliver/3: 40 records wait, the oldest for 31 s',
    ],
  });
});

test('a loss is reported until acknowledged, with the command for that, and the process stays ready', () => {
  const unacknowledged = { from: 40, to: 47, count: 5 };
  expect(readiness({ partitions: [{ ...PARTITION, lost: 0, unacknowledged }] })).toEqual({
    ready: true,
    reasons: [],
    waiting: [
      'wh.deliver/3: at most 5 records, offsets 40 to 46, were deleted before they were read; ' +
        'once that is dealt with: hookrail operator streams acknowledge wh.deliver --partition 3',
    ],
  });
});

test('an answer names ten stalled partitions at most', () => {
  const stalled = { forMs: 75_000, reason: 'no record arrives' };
  const partitions = Array.from({ length: 13 }, (_, partition) => ({ ...PARTITION, partition, stalled }));
  const { reasons } = readiness({ partitions });
  expect(reasons).toHaveLength(11);
  expect(reasons.at(-1)).toBe('and 3 more partitions');
});
