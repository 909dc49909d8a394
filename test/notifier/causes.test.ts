/** The looks for causes of notices outside the store, each by itself: who is told, and what is left to the next look. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type Gathered, PLATFORM_MERCHANT_ID } from '../../services/domain/notices/notice.ts';
import type { Quarantined } from '../../services/domain/quarantine.ts';
import type { CauseDeps } from '../../services/notifier/cause-deps.ts';
import { CauseWatch } from '../../services/notifier/cause-watch.ts';
import { tellQuarantined } from '../../services/notifier/quarantined.ts';
import { START } from '../support/records/journal-entries.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

const MERCHANT = randomUUID();
const STATES = new Map([
  [MERCHANT, 'active'],
  ['on-hold', 'paused'],
  ['gone', 'closed'],
]);

/** A store and a broker that keep what they are told, and have these records in quarantine. */
function looked(
  quarantined: readonly Partial<Quarantined>[],
  losses: () => Promise<never[]> = async () => [],
) {
  const told: Gathered['notice'][] = [];
  const added: string[] = [];
  const places = new Map<string, string>();
  const record = { reason: 'unknown_merchant', detail: '', at: START, eventId: null, merchantId: MERCHANT };
  const deps = {
    clock: new SimulatedClock(START + 60_000),
    sources: [{ cidr: '203.0.113.0/28', validFrom: null, validUntil: START + 3_600_000 }],
    directory: { merchant: (id: string) => (STATES.has(id) ? { state: STATES.get(id) } : undefined) },
    store: {
      notices: {
        place: async (name: string) => places.get(name) ?? null,
        move: async (name: string, { to }: { readonly to: string }, found: readonly Gathered[]) => {
          places.set(name, to);
          told.push(...found.map(({ notice }) => notice));
          return true;
        },
        add: async ({ type }: { readonly type: string }) => added.push(type),
      },
    },
    broker: {
      status: () => ({ oldestOverdueMs: 0, partitions: [], parked: [] }),
      quarantine: {
        list: async ({ after }: { readonly after?: string }) =>
          after === undefined
            ? quarantined.map((each, n) => ({ position: `${n}`, record: { ...record, ...each } }))
            : [],
      },
      losses: { list: losses },
    },
  };
  return { deps: deps as unknown as CauseDeps, told, added, places };
}

describe('quarantined events', () => {
  test('are told to their merchant, also while it is on hold', async () => {
    const { deps, told } = looked([{}, { merchantId: 'on-hold' }]);
    await tellQuarantined(deps);
    expect(told.map(({ merchantId }) => merchantId)).toEqual([MERCHANT, 'on-hold']);
  });

  test('of no merchant that takes events are told together to the platform, whatever text names one', async () => {
    const { deps, told } = looked([
      { merchantId: null },
      { merchantId: 'gone' },
      { merchantId: '\u0000' },
      { merchantId: 'x'.repeat(10_000) },
    ]);
    await tellQuarantined(deps);
    expect(told).toHaveLength(4);
    expect(new Set(told.map(({ merchantId }) => merchantId))).toEqual(new Set([PLATFORM_MERCHANT_ID]));
    expect(new Set(told.map(({ cause }) => cause)).size).toBe(1);
  });

  test('are not told when they are notices that were put aside themselves, and the next look goes on after them', async () => {
    const { deps, told, places } = looked([{ reason: 'attempt_stalled', type: 'events.quarantined' }]);
    await tellQuarantined(deps);
    expect(told).toEqual([]);
    expect([...places.values()]).toEqual(['0']);
  });
});

test('a cause that cannot be looked at does not hold up the others', async () => {
  const { deps, told, added } = looked([{}], () => Promise.reject(new Error('the broker is away')));
  const broken = {
    ...deps,
    broker: {
      ...deps.broker,
      status: () => {
        throw new Error('not known');
      },
    },
  } as unknown as CauseDeps;
  await expect(new CauseWatch(broken).look()).rejects.toThrow('not known');
  expect(added).toEqual(['source_addresses.changing']);
  expect(told).toHaveLength(1);
});
