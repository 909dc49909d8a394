/** Guarantee: time in which a response waits in this process's own socket is not counted as its receiver's. */
import { expect, it } from 'vitest';
import { LoopTurns } from '../../../services/sender/blame/loop-turns.ts';
import { eventually } from '../../support/eventually.ts';

const START = 1000;

/** An event loop whose turns, idle time and busy time the test decides. */
function loop() {
  let now = START;
  let idleMs = 0;
  let ends: (() => void)[] = [];
  const turns = new LoopTurns({ now: () => now, idleMs: () => idleMs }, (callback) => ends.push(callback));
  return {
    turns,
    idle(ms: number) {
      now += ms;
      idleMs += ms;
    },
    busy(ms: number) {
      now += ms;
    },
    endTurn() {
      const ended = ends;
      ends = [];
      for (const each of ended) each();
    },
  };
}

it('a piece that ends a wait arrived at its end, however long the pieces before it take', () => {
  const { turns, idle, busy } = loop();
  idle(50);
  // Something else of the same turn is handled first.
  busy(30);
  expect(turns.caughtUpAt()).toBe(START + 50);
  busy(20);
  expect(turns.caughtUpAt()).toBe(START + 50);
});

it('a piece may have arrived at any time during the last turn while the loop is never idle', () => {
  const { turns, idle, busy, endTurn } = loop();
  idle(10);
  expect(turns.caughtUpAt()).toBe(START + 10);
  busy(300);
  endTurn();
  expect(turns.caughtUpAt()).toBe(START + 10);
  busy(200);
  endTurn();
  expect(turns.caughtUpAt()).toBe(START + 310);
});

it('a wait that ends at once proves nothing: something had arrived before it', () => {
  const { turns, idle, busy, endTurn } = loop();
  idle(10);
  turns.caughtUpAt();
  busy(100);
  endTurn();
  idle(0.1);
  expect(turns.caughtUpAt()).toBe(START + 10);
});

it('the real loop reports a moment after its last wait began, and not in the future', async () => {
  const turns = new LoopTurns({
    now: () => performance.now(),
    idleMs: () => performance.nodeTiming.idleTime,
  });
  turns.caughtUpAt();
  const began = performance.now();
  let caughtUpAt = 0;
  await eventually('a wait of the loop is seen', () => {
    caughtUpAt = turns.caughtUpAt();
    return caughtUpAt > began;
  });
  expect(caughtUpAt).toBeLessThanOrEqual(performance.now());
});
