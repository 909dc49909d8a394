/**
 * Guarantee: the sender sends the tasks of the broker, one first attempt of an entity after the other; it sends
 * nothing by a directory that is not fresh; and when it stops, tasks in flight are finished or released, uncounted.
 */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Broker, Ownership, Settlement } from '../../services/broker/broker.ts';
import { eventually } from '../support/eventually.ts';
import {
  clock,
  endpointId,
  OK,
  openEngine,
  publish,
  readJournal,
  seen,
  start,
  taskOf,
  tempDir,
} from './sender-bench.ts';

test('the sender sends tasks of every trigger, and journals their attempts', async () => {
  const broker = await openEngine(tempDir());
  const journal = await readJournal(broker);
  const { receiver, registry } = await start(broker, (socket) => void socket.write(OK));
  const tasks = (['live', 'test', 'manual', 'replay'] as const).map((trigger) => taskOf({ trigger }));
  await publish(broker, tasks);
  await eventually('four attempts in the journal', () => journal.length === 4);
  expect(new Set(seen(receiver.received))).toEqual(new Set(tasks.map(({ deliveryId }) => deliveryId)));
  const text = await registry.metrics();
  expect(text).toContain('hookrail_attempts_total{result="delivered",attempt="1"} 4');
  expect(text).toContain('hookrail_early_retries_total 0');
  expect(text).toMatch(/hookrail_in_flight\{lane="fast"\} 0/);
  expect(text).not.toContain(endpointId);
});

test('a failed attempt is followed by the next, numbered and not early, and the seventh by a dead letter', async () => {
  const broker = await openEngine(tempDir());
  const journal = await readJournal(broker);
  const { receiver, registry } = await start(
    broker,
    (socket) => void socket.write('HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n'),
    // The gaps of 3 s to 13 h become 0.3 ms to 4.7 s.
    { retryScale: 10_000 },
  );
  await publish(broker, [taskOf({ trigger: 'live' })]);
  await eventually('seven attempts in the journal', () => journal.length === 7, 25_000);
  const numbers = [...receiver.received.matchAll(/webhook-attempt: (\d)/g)].map(([, n]) => n);
  expect(numbers).toEqual(['1', '2', '3', '4', '5', '6', '7']);
  const attempts = journal.flatMap((entry) => (entry.kind === 'attempted' ? [entry] : []));
  for (const [i, { startedAt }] of attempts.entries()) {
    const before = attempts[i - 1];
    if (before?.outcome.kind === 'retry') expect(startedAt).toBeGreaterThanOrEqual(before.outcome.dueAt);
  }
  const dead = await eventually(
    'a dead letter',
    async () => (await broker.deadLetters.list({ limit: 10 }))[0],
  );
  expect(dead.record).toMatchObject({ reason: 'exhausted', failureCode: 'http_5xx' });
  expect(await registry.metrics()).toContain('hookrail_dead_letters_total{reason="exhausted"} 1');
}, 30_000);

test('first attempts of one entity arrive in the order in which they were published', async () => {
  const broker = await openEngine(tempDir());
  let turn = 0;
  const { receiver } = await start(
    broker,
    // Answers take different times, so that attempts made together would overtake one another.
    (socket) => setTimeout(() => socket.write(OK), (turn++ % 3) * 5),
    // Room for all, and no demotion on a busy machine: both may change the order, and do so on purpose.
    { options: { inFlightMax: 1024, lanes: { demoteAfterMs: 15_000 } } },
  );
  const entityId = randomUUID();
  const tasks = Array.from({ length: 25 }, () => taskOf({ trigger: 'live', entityId }));
  for (const task of tasks) await publish(broker, [task]);
  await eventually('all requests have arrived', () => seen(receiver.received).length === tasks.length);
  expect(seen(receiver.received)).toEqual(tasks.map(({ deliveryId }) => deliveryId));
});

test('the sender sends nothing while the directory is not fresh', async () => {
  const broker = await openEngine(tempDir());
  let isFresh = false;
  let asked = 0;
  const ready = () => {
    asked += 1;
    return isFresh;
  };
  const { receiver, sender } = await start(broker, (socket) => void socket.write(OK), { ready });
  await publish(broker, [taskOf({ trigger: 'live' })]);
  await eventually('readiness was looked at several times', () => asked > 3);
  expect(receiver.accepted).toBe(0);
  expect(sender.inFlight()).toEqual({ fast: 1, slow: 0, waiting: 0 });
  isFresh = true;
  await eventually('the request was sent', () => seen(receiver.received).length === 1);
});

test('a task whose ownership is uncertain waits, and is given back once it is lost', async () => {
  const broker = await openEngine(tempDir());
  const ownerships: Ownership[] = [];
  const settled: Settlement[] = [];
  const ownership = () => ownerships[0] ?? 'owned';
  // The real source, of which somebody else takes over the partitions.
  const live: Broker['tasks']['live'] = {
    consume: (handler, limits) =>
      broker.tasks.live.consume(async (task, signal) => {
        const settlement = await handler(task, signal, ownership);
        settled.push(settlement);
        return settlement.kind === 'released' ? { kind: 'settled', journal: [] } : settlement;
      }, limits),
  };
  const { receiver } = await start(broker, (socket) => void socket.write(OK), {
    broker: { tasks: { ...broker.tasks, live } },
  });
  ownerships.push('unsure');
  await publish(broker, [taskOf({ trigger: 'live' })]);
  await clock.sleep(300);
  expect([receiver.accepted, settled.length]).toEqual([0, 0]);
  ownerships[0] = 'lost';
  await eventually('the task was given back', () => settled.length === 1);
  expect(settled).toEqual([{ kind: 'released' }]);
  ownerships[0] = 'owned';
  await publish(broker, [taskOf({ trigger: 'live' })]);
  await eventually('the next task was sent', () => seen(receiver.received).length === 1);
});

test('a stop releases tasks in flight and waiting, uncounted, and a restart sends them', async () => {
  const dir = tempDir();
  const first = await openEngine(dir);
  const journal = await readJournal(first);
  const { receiver, sender } = await start(first, () => {});
  const entityId = randomUUID();
  const tasks = Array.from({ length: 3 }, () => taskOf({ trigger: 'live', entityId }));
  await publish(first, tasks);
  await eventually('one attempt is in flight', () => seen(receiver.received).length === 1);
  await sender.stop(800);
  await sender.stop(800);
  expect(sender.inFlight()).toEqual({ fast: 0, slow: 0, waiting: 0 });
  expect(journal).toEqual([]);
  await first.close();

  const second = await openEngine(dir);
  const again = await readJournal(second);
  const { receiver: next } = await start(second, (socket) => void socket.write(OK));
  await eventually('all three tasks were sent', () => again.length === 3);
  expect(new Set(seen(next.received))).toEqual(new Set(tasks.map(({ deliveryId }) => deliveryId)));
  expect(next.received.match(/webhook-attempt: (\d)/g)).toEqual(Array(3).fill('webhook-attempt: 1'));
});

test('a stop lets an attempt finish that is answered in time', async () => {
  const broker = await openEngine(tempDir());
  const journal = await readJournal(broker);
  const answers: (() => void)[] = [];
  const { sender } = await start(broker, (socket) => void answers.push(() => socket.write(OK)));
  await publish(broker, [taskOf({ trigger: 'live' })]);
  const answer = await eventually('the attempt is in flight', () => answers[0]);
  const stopped = sender.stop(20_000);
  answer();
  await stopped;
  await eventually('the attempt is in the journal', () => journal.length === 1);
  expect(journal).toMatchObject([{ kind: 'attempted', outcome: { kind: 'delivered' } }]);
});
