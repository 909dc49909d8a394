/** The daily look at the certificates of all active endpoints: who is looked at, how often, and what is told. */
import { setImmediate } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { NewNotice } from '../../services/domain/notices/notice.ts';
import { CertificateWatch } from '../../services/notifier/certificate-watch.ts';
import type { Store } from '../../services/store/store.ts';
import { START } from '../support/records/journal-entries.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

const STEP_MS = 10_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** A store with so many active endpoints, whose places outlive the watches that move them. */
function someEndpoints(count: number) {
  const urls = Array.from({ length: count }, (_, n) => `https://${n}.example/hooks`);
  const places = new Map<string, string>();
  const told: NewNotice[] = [];
  const looked: string[] = [];
  const ends = new Map<string, number | null>();
  const fault: { store: Error | null } = { store: null };
  const clock = new SimulatedClock(START);
  const store = {
    notices: {
      place: async (name: string) => {
        if (fault.store) throw fault.store;
        return places.get(name) ?? null;
      },
      move: async (name: string, { from, to }: { from: string | null; to: string }, found: NewNotice[]) => {
        if ((places.get(name) ?? null) !== from) return false;
        places.set(name, to);
        told.push(...found);
        return true;
      },
    },
    endpoints: {
      every: async ({ status, limit, after }: { status: string; limit: number; after?: string }) => {
        expect(status).toBe('active');
        const from = after === undefined ? 0 : Number(after) + 1;
        return urls.slice(from, from + limit).map((url, n) => ({
          uuid: `endpoint of ${url}`,
          merchantId: 'merchant',
          url,
          cursor: `${from + n}`,
        }));
      },
    },
  } as unknown as Pick<Store, 'notices' | 'endpoints'>;
  const certificateEnd = async (url: string) => {
    looked.push(url);
    return ends.has(url) ? (ends.get(url) ?? null) : START + 400 * DAY_MS;
  };
  const watch = () => new CertificateWatch({ store, certificateEnd, clock, log: pino({ level: 'silent' }) });
  /** Lets time pass, from one sleep of the watch to the next. */
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= STEP_MS) {
      while (clock.asleep === 0) await setImmediate();
      clock.advance(Math.min(left, STEP_MS));
    }
    while (clock.asleep === 0) await setImmediate();
  };
  return { urls, told, looked, ends, fault, watch, pass };
}

test('a new service looks at nobody for a day, then at every active endpoint once a day', async () => {
  const { urls, looked, watch, pass } = someEndpoints(250);
  const watching = watch();
  await pass(DAY_MS - 10 * MINUTE_MS);
  expect(looked).toEqual([]);
  await pass(20 * MINUTE_MS);
  expect([...looked].sort()).toEqual([...urls].sort());
  await pass(DAY_MS);
  expect(looked).toHaveLength(2 * urls.length);
  await watching.stop();
});

test('a certificate near its end is told with its level, and one that is not reached holds up no other', async () => {
  const { urls, told, looked, ends, watch, pass } = someEndpoints(30);
  const [unreached, month, week, day] = urls as [string, string, string, string];
  ends.set(unreached, null).set(month, START + 20 * DAY_MS);
  ends.set(week, START + 6 * DAY_MS).set(day, START + 1.5 * DAY_MS);
  const watching = watch();
  await pass(DAY_MS + 2 * MINUTE_MS);
  await watching.stop();
  expect(looked).toHaveLength(30);
  expect(told.map(({ endpointId, subType }) => [endpointId, subType]).sort()).toEqual([
    [`endpoint of ${month}`, 'WITHIN_30_DAYS'],
    [`endpoint of ${week}`, 'WITHIN_7_DAYS'],
    [`endpoint of ${day}`, 'WITHIN_1_DAY'],
  ]);
});

test('a pass goes on behind the last step of the process before', async () => {
  const { looked, watch, pass } = someEndpoints(250);
  const first = watch();
  await pass(DAY_MS + MINUTE_MS / 3);
  await first.stop();
  const before = looked.length;
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(250);
  const second = watch();
  await pass(5 * MINUTE_MS);
  await second.stop();
  expect(looked).toHaveLength(250);
});

test('a store that fails is asked again, and no endpoint is left out', async () => {
  const { looked, fault, watch, pass } = someEndpoints(10);
  const watching = watch();
  await pass(DAY_MS / 2);
  fault.store = new Error('the store does not answer');
  await pass(DAY_MS);
  expect(looked).toEqual([]);
  fault.store = null;
  await pass(2 * MINUTE_MS);
  expect(looked).toHaveLength(10);
  await watching.stop();
});
