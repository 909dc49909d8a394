/**
 * Guarantee: endpoints that went dark together get their new connections one per turn of the event loop, in turn; other
 * endpoints do not wait for that, and nobody is blamed for the time it takes.
 */
import { beforeEach, expect, test } from 'vitest';
import { LANE_OPTIONS } from '../../../services/sender/lanes/lane-options.ts';
import type { FakeTask } from './fake-task.ts';
import { type BenchOptions, laneBench } from './lane-bench.ts';

const DEMOTED_MS = LANE_OPTIONS.demoteAfterMs + 50;

let turns: (() => void)[];
let { clock, lanes, started, admit, settle } = laneBench();

function build(options: BenchOptions = {}): void {
  turns = [];
  ({ clock, lanes, started, admit, settle } = laneBench({
    // Every attempt opens a connection.
    opened: () => started.length,
    afterTurn: (callback) => void turns.push(callback),
    ...options,
  }));
}
beforeEach(() => build());

const nextTurn = () => {
  for (const callback of turns.splice(0)) callback();
};
/** The endpoints of the attempts started since the last call. */
let seen = 0;
const startedFor = () => {
  const ids = started.slice(seen).map(({ endpointId }) => endpointId);
  seen = started.length;
  return ids.join(' ');
};

/** Turns endpoints slow: an attempt to each has had no response in time. */
function darken(...ids: string[]): FakeTask[] {
  const hanging = ids.map((id) => admit(id));
  clock.advance(DEMOTED_MS);
  seen = started.length;
  return hanging;
}

test('slow endpoints start one attempt per turn, each endpoint in turn', () => {
  darken('a', 'b', 'c');
  for (const id of ['a', 'b', 'c', 'a', 'b', 'c']) admit(id);
  const byTurn = [startedFor()];
  for (let turn = 0; turn < 6; turn += 1) {
    nextTurn();
    byTurn.push(startedFor());
  }
  expect(byTurn).toEqual(['a', 'b', 'c', 'a', 'b', 'c', '']);
  expect(turns).toEqual([]);
});

test('dark endpoints open one connection every few milliseconds, each in turn', () => {
  const hanging = darken('a', 'b', 'c');
  for (const each of hanging) settle(each, 'failure');
  for (const id of ['a', 'b', 'c', 'a', 'b', 'c']) admit(id);
  const byStep = [startedFor()];
  for (let step = 0; step < 6; step += 1) {
    nextTurn();
    clock.advance(LANE_OPTIONS.darkEveryMs - 1);
    byStep.push(startedFor());
    clock.advance(1);
    byStep.push(startedFor());
  }
  expect(byStep).toEqual(['a', '', 'b', '', 'c', '', 'a', '', 'b', '', 'c', '', '']);
});

test('a slow endpoint that answers does not wait for dark ones', () => {
  const [slow, ...hanging] = darken('slow', 'a', 'b');
  settle(slow);
  for (const each of hanging) settle(each, 'failure');
  for (const id of ['a', 'b', 'a', 'b', 'slow', 'slow']) admit(id);
  expect(startedFor()).toBe('a');
  nextTurn();
  expect(startedFor()).toBe('slow');
  nextTurn();
  expect(startedFor()).toBe('slow');
});

test('healthy and new endpoints start at once while slow ones wait for the next turn', () => {
  settle(admit('healthy'));
  darken('a', 'b');
  for (const id of ['a', 'b', 'healthy', 'new', 'healthy', 'new']) admit(id);
  expect(startedFor()).toBe('a healthy new healthy new');
});

test('attempts that open no connection do not wait for the next turn', () => {
  build({ opened: () => 0 });
  darken('a', 'b');
  for (const id of ['a', 'b', 'a', 'b']) admit(id);
  expect(startedFor()).toBe('a b a b');
});

test('the time until its turn does not make an attempt slow', () => {
  const [, hanging] = darken('a', 'b');
  admit('a');
  const waiting = admit('b');
  settle(hanging, 'failure');
  clock.advance(5000);
  expect([waiting.place, waiting.hasTurnedSlow]).toEqual(['waiting', false]);
  nextTurn();
  expect(waiting.place).toBe('slow');
  settle(waiting);
  expect(waiting.hasTurnedSlow).toBe(false);
  expect(admit('b').place).toBe('fast');
});

test('tasks that wait for the next turn are released at a stop, and none starts afterwards', () => {
  darken('a', 'b');
  admit('a');
  const waiting = [admit('a'), admit('b')];
  startedFor();
  expect(lanes.releaseWaiting()).toEqual(waiting);
  nextTurn();
  expect(startedFor()).toBe('');
});
