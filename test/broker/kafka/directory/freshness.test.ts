/**
 * Guarantee: an up-to-date directory is known to be fresh, even when brokers take seconds to answer: questions do not
 * wait for each other, and answers out of order prove the newest question.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Admins } from '../../../../services/broker/kafka/client/admins.ts';
import { EndQuestions } from '../../../../services/broker/kafka/client/end-questions.ts';
import { Freshness } from '../../../../services/broker/kafka/directory/freshness.ts';
import { createLogger } from '../../../../services/telemetry/logger.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';

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
});
