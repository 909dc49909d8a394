/**
 * The runner of replays, disturbed between any two steps: a page whose publishing or place failed is tried again,
 * nothing is missing, and no delivery in the log is sent again. A replay that an earlier runner left is continued.
 */

import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Replayer, type ReplayerDeps, replayedDeliveries } from '../../services/replayer/replayer.ts';
import { REPLAY_PACE } from '../../services/replayer/turns.ts';
import { type RecordedApi, startRecorded } from '../support/api/recorded-api.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { eventually } from '../support/eventually.ts';
import { eventOf } from '../support/records/events.ts';
import {
  createEndpoint,
  delivered,
  failed,
  head,
  journalOf,
  OPERATOR,
  routed,
  START,
} from '../support/records/journal-entries.ts';

const EVENTS = 60;
let api: TestApi;
let recorded: RecordedApi;

beforeAll(async () => {
  api = await startTestApi();
  // The tests have replayers of their own.
  await api.replayer.stop();
  recorded = await startRecorded(api, ['replay']);
  // What is sent a second time fails again, so that it goes on being missed.
  recorded.settle = (task) => [task.attemptsMax === 1 ? failed(task) : delivered(task)];
});
afterAll(async () => {
  await recorded.stop();
  await api.close();
});

/** A replay of an endpoint for which every other event was given up, and which was passed over for the rest. */
async function aReplay(changedAt = START) {
  const uuid = crypto.randomUUID();
  await createEndpoint(api.store, api.merchantId, uuid, {}, changedAt);
  const since = Date.now() - 100_000;
  const events = Array.from({ length: EVENTS }, (_, n) =>
    eventOf(api.merchantId, `${uuid} ${n}`, { occurredAt: since + n }),
  );
  const trace = [{ endpointId: uuid, verdict: 'endpoint_disabled' }] as const;
  const entries = events.flatMap((event, n) =>
    n % 2 === 0
      ? [{ ...routed(event, []), trace }]
      : [routed(event, [uuid]), failed(head(event, uuid, { attempt: 7 }))],
  );
  await journalOf(api.store, uuid)(...entries);
  const replayId = crypto.randomUUID();
  const scope = {
    merchantId: api.merchantId,
    endpointId: uuid,
    only: 'missing',
    types: null,
    eventIds: null,
  } as const;
  const replay = { ...scope, since, until: Date.now(), replayId, count: EVENTS };
  await api.store.replays.create(replay, { at: Date.now(), actor: OPERATOR });
  const sent = () => recorded.sent.filter(({ endpointId }) => endpointId === uuid);
  const ended = () =>
    eventually(
      'the replay has ended',
      async () => (await api.store.replays.get(replayId))?.status === 'completed',
    );
  const onceEach = () => {
    expect(sent().map(({ eventId }) => eventId)).toHaveLength(EVENTS);
    expect(new Set(sent().map(({ eventId }) => eventId)).size).toBe(EVENTS);
  };
  return { sent, ended, onceEach };
}

function runner(change: { store?: object; broker?: object }, log = pino({ level: 'silent' })): Replayer {
  const deps: ReplayerDeps = {
    store: { ...api.store, log: api.store.log, replays: { ...api.store.replays, ...change.store } },
    broker: {
      publishTasks: (tasks) => api.broker.publishTasks(tasks),
      status: () => api.broker.status(),
      ...change.broker,
    },
    clock: api.clock,
    log,
    made: replayedDeliveries(new Registry()),
    pace: { pageEvents: 25, perSecondMax: 100_000 },
  };
  return new Replayer(deps);
}

/** Fails the first so many calls, before or after it did as told. */
function failing<Args extends unknown[], Result>(
  does: (...args: Args) => Promise<Result>,
  when: 'before' | 'after',
) {
  let calls = 0;
  return async (...args: Args): Promise<Result> => {
    calls += 1;
    if (calls === 2 && when === 'before') throw new Error('as the test wants');
    const result = await does(...args);
    if (calls === 2) throw new Error('as the test wants');
    return result;
  };
}

test.each([
  ['publishing failed', { broker: 'before' }],
  ['publishing answered an error but was done', { broker: 'after' }],
  ['the place could not be stored', { store: 'before' }],
  ['the place was stored but the answer lost', { store: 'after' }],
] as const)('a replay sends every delivery once although %s', { timeout: 30_000 }, async (_what, fault) => {
  const { ended, onceEach } = await aReplay();
  const { replays } = api.store;
  const running = runner({
    ...('store' in fault
      ? {
          store: {
            advance: failing(
              (...args: Parameters<typeof replays.advance>) => replays.advance(...args),
              fault.store,
            ),
          },
        }
      : {}),
    ...('broker' in fault
      ? {
          broker: {
            publishTasks: failing(
              (...args: Parameters<typeof api.broker.publishTasks>) => api.broker.publishTasks(...args),
              fault.broker,
            ),
          },
        }
      : {}),
  });
  await ended();
  onceEach();
  await running.stop();
});

test('a replay begins when every sender knows that its endpoint is active', async () => {
  const changedAt = Date.now();
  const { sent, onceEach, ended } = await aReplay(changedAt);
  const running = runner({});
  await eventually('a page is published', () => sent().length > 0);
  expect(Date.now()).toBeGreaterThanOrEqual(changedAt + REPLAY_PACE.afterChangeMs);
  await ended();
  onceEach();
  await running.stop();
});

test('a replay continues after its process ended between publishing a page and storing its place', {
  timeout: 30_000,
}, async () => {
  const { sent, ended, onceEach } = await aReplay();
  const never = new Promise<never>(() => {});
  // Its `stop` would wait for the step for ever: it is left as a killed process leaves its work.
  runner({ store: { advance: () => never } });
  await eventually('a page is published', () => sent().length === 25);
  await eventually('the page is recorded', () => api.broker.status().backlog.journal === 0);
  const next = runner({});
  await ended();
  onceEach();
  await next.stop();
});

test('a store that cannot be read is logged once, and once when it is back, as no failure of a replay', {
  timeout: 30_000,
}, async () => {
  const events: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void events.push(JSON.parse(line).event) });
  let reads = 0;
  const running = () => {
    reads += 1;
    return reads <= 2 ? Promise.reject(new Error('the store does not answer')) : Promise.resolve([]);
  };
  const replayer = runner({ store: { running } }, log);
  await eventually('the store is read again', () => reads > 3, 15_000);
  expect(events).toEqual(['replays_unreadable', 'replays_readable']);
  await replayer.stop();
});
