/**
 * Guarantee: an up-to-date directory is known to be fresh, even when brokers take seconds to answer: questions do not
 * wait for each other, and answers out of order prove the newest question.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Admins } from '../../../services/kafka-client/client/admins.ts';
import { EndQuestions } from '../../../services/kafka-client/client/end-questions.ts';
import { Freshness } from '../../../services/kafka-client/client/freshness.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

describe('the freshness of a follower', () => {
  it('is that of the newest question whose end was reached, whatever the order of the answers', () => {
    const freshness = new Freshness(0);
    freshness.asked(2000, 5);
    freshness.asked(1000, 5);
    expect(freshness.reached(4)).toBe(false);
    expect(freshness.provedAt).toBe(0);
    expect(freshness.reached(5)).toBe(true);
    expect(freshness.provedAt).toBe(2000);
    freshness.asked(1500, 5);
    expect(freshness.reached(5)).toBe(false);
    expect(freshness.provedAt).toBe(2000);
  });
});

describe('questions for the end of a log', () => {
  /** Asks for this long of brokers that take so long to answer; answers the greatest staleness, and how often it asked and changed line. */
  async function asked(forMs: number, answerMs: number) {
    const clock = new SimulatedClock();
    const found = { staleMs: 0, renewed: 0, asked: 0 };
    const offset = async (at: number) => {
      await clock.sleep(answerMs);
      return new Map([['directory', new Map([[0, at]])]]);
    };
    const admins = {
      endsOf: () => {
        found.asked += 1;
        return offset(3);
      },
      startsOf: () => offset(0),
      renew: () => {
        found.renewed += 1;
      },
    } as unknown as Admins;
    const freshness = new Freshness(clock.now());
    const questions = new EndQuestions({
      admins,
      clock,
      log: createLogger('silent'),
      topic: 'directory',
      position: () => 3,
      answered: ({ askedAt, high }) => {
        freshness.asked(askedAt, high);
        freshness.reached(3);
      },
    });
    questions.start();
    for (let passed = 0; passed < forMs; passed += 100) {
      clock.advance(100);
      await turn();
      found.staleMs = Math.max(found.staleMs, clock.now() - freshness.provedAt);
    }
    questions.close();
    return found;
  }

  it('prove freshness within five seconds when an answer takes nearly three', async () => {
    const { staleMs, renewed } = await asked(30_000, 2800);
    expect(staleMs).toBeLessThan(4000);
    expect(renewed).toBe(0);
  });

  it('use another connection while none is answered, and are never more than a few', async () => {
    const { staleMs, renewed, asked: times } = await asked(80_000, 1_000_000);
    expect([staleMs, times]).toEqual([80_000, 40]);
    // After three seconds, and three seconds after what was asked over the new one.
    expect(renewed).toBeGreaterThan(8);
    expect(renewed).toBeLessThan(30);
  });

  /** Answers of so many seconds, one after the other or as `answer` orders them; resolves with what was passed on. */
  async function answered(ends: readonly number[], inOrder = ends.map((_, index) => index)) {
    const clock = new SimulatedClock();
    const asked: ((offsets: Map<string, Map<number, number>>) => void)[] = [];
    const passed: { readonly high: number; readonly isReplaced: boolean }[] = [];
    const found = { passed, renewed: 0 };
    const admins = {
      endsOf: () => new Promise((resolve) => void asked.push(resolve)),
      startsOf: async () => new Map([['directory', new Map([[0, 0]])]]),
      renew: () => {
        found.renewed += 1;
      },
    } as unknown as Admins;
    const questions = new EndQuestions({
      admins,
      clock,
      log: createLogger('silent'),
      topic: 'directory',
      position: () => 8,
      answered: ({ high, isReplaced }) => void passed.push({ high, isReplaced }),
    });
    questions.start();
    const answer = (index: number) =>
      asked[index]?.(new Map([['directory', new Map([[0, ends[index] ?? 0]])]]));
    for (const [second] of ends.entries()) {
      if (inOrder[second] === second) answer(second);
      await turn();
      clock.advance(1000);
    }
    for (const [second, index] of inOrder.entries()) if (second !== index) answer(index);
    await turn();
    questions.close();
    return found;
  }

  it('pass on an answer that comes after a later one, and do not take its log for another', async () => {
    const { passed } = await answered([8, 10], [1, 0]);
    expect(passed).toEqual([
      { high: 10, isReplaced: false },
      { high: 8, isReplaced: false },
    ]);
  });

  it('do not pass on an end before a known one, until it is certain, and ask another leader', async () => {
    const old = Array.from({ length: 20 }, () => 9);
    const { passed, renewed } = await answered([10, ...old, 10]);
    expect(passed).toEqual([
      { high: 10, isReplaced: false },
      { high: 10, isReplaced: false },
    ]);
    expect(renewed).toBe(20);
    const shorter = Array.from({ length: 31 }, () => 9);
    expect((await answered([10, ...shorter])).passed.at(-1)).toEqual({ high: 9, isReplaced: true });
  });
});
