/**
 * Guarantee: the embedded engine commits what the router makes of an event in place of the event, wherever the router has
 * nothing to catch up with.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSqliteBroker, type SqliteBroker } from '../../../services/broker/sqlite/sqlite-broker.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { anEvent, routed, taskOf } from '../../support/records/broker-records.ts';

const TASKS_PER_EVENT = 100;
let folder: string;
let broker: SqliteBroker;

const open = async () => {
  broker = await openSqliteBroker({
    file: join(folder, 'broker.db'),
    clock: systemClock(),
    retryScale: 1000,
  });
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hookrail-broker-'));
  await open();
});

afterEach(async () => {
  await broker.close();
  rmSync(folder, { recursive: true, force: true });
});

const startRouter = (tasks = 1) =>
  broker.events.consume(
    ({ decoded }) => {
      if (!decoded.ok) throw new Error('not decoded');
      const { event } = decoded;
      const made = Array.from({ length: tasks }, (_, i) => ({ ...taskOf(event), deliveryId: `${i}` }));
      return { kind: 'routed', tasks: made, journal: routed(event) };
    },
    { inFlightMax: 10, inline: { isPure: true } },
  );

it('the tasks of an event are durable when its publication has been answered', async () => {
  await startRouter();
  await broker.publishEvents([anEvent(), anEvent()]);
  await broker.abandon();
  await open();
  expect(broker.status().backlog).toMatchObject({ events: 0, tasks: 2, journal: 2 });
});

it('a repeated event leaves no trace, and the others of its commit are written', async () => {
  await startRouter();
  const known = anEvent();
  await broker.publishEvents([known]);
  const others = [anEvent(), anEvent()];
  await Promise.all([broker.publishEvents([known]), broker.publishEvents(others)]);
  await broker.abandon();
  await open();
  expect(broker.status().backlog).toMatchObject({ events: 0, tasks: 3, journal: 3 });
  expect(await broker.publishEvents([known, ...others])).toEqual(Array(3).fill('duplicate'));
});

it('events wait as events, not as tasks, while the sender is far behind', async () => {
  await startRouter(TASKS_PER_EVENT);
  let isOpen = false;
  const done = { kind: 'settled', journal: [] } as const;
  let handled = 0;
  const waiting: (() => void)[] = [];
  await broker.tasks.live.consume(
    async () => {
      handled += 1;
      if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve));
      return done;
    },
    { inFlightMax: 10 },
  );
  const events = Array.from({ length: 60 }, () => anEvent());
  for (const event of events) await broker.publishEvents([event]);
  const { backlog } = broker.status();
  expect(backlog.events).toBeGreaterThan(30);
  expect(backlog.events + backlog.tasks / TASKS_PER_EVENT).toBe(60);
  isOpen = true;
  for (const resolve of waiting) resolve();
  await eventually('every task is done', () => handled === 60 * TASKS_PER_EVENT, 30_000);
});
