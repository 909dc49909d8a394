import { describe, expect, it } from 'vitest';
import { Commits } from '../../../services/kafka-client/consumer/commits.ts';
import { Partition } from '../../../services/kafka-client/consumer/partition.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

/** Returns the commits of a partition with one finished record. `answers`: each request's error, undefined = accepted. */
function commitsAnswered(answers: (Error | undefined)[]) {
  const clock = new SimulatedClock();
  const partition = new Partition('deliver', 0);
  partition.start({ offset: 5, windowStart: 5, done: new Set(), topicId: null, lost: null }, 0);
  const committed: number[] = [];
  const commits = new Commits({
    clock,
    log: createLogger('error', { write: () => {} }),
    topic: 'deliver',
    groupId: 'wh.deliver',
    partitions: () => [partition],
    committed: (_, offset) => void committed.push(offset),
  });
  let requests = 0;
  commits.sendBy(async () => {
    requests += 1;
    const error = answers.shift();
    if (error) throw error;
  });
  return { clock, commits, committed, requests: () => requests };
}

const busy = () => new Error('The coordinator is loading');

describe('the last commit of a consumer', () => {
  it('is repeated while the coordinator refuses it', async () => {
    const { clock, commits, committed, requests } = commitsAnswered([busy(), busy(), undefined]);
    const ended = commits.commitLast(20_000);
    while (requests() < 3) await clock.advance(50);
    await ended;
    expect(committed).toEqual([5]);
    expect(requests()).toBe(3);
  });

  it('is given up after five seconds, or at the deadline', async () => {
    for (const [deadlineMs, heldUpMs] of [
      [20_000, 5000],
      [2000, 2000],
    ] as const) {
      const { clock, commits, committed } = commitsAnswered(Array.from({ length: 1000 }, busy));
      let hasEnded = false;
      const ended = commits.commitLast(deadlineMs).then(() => {
        hasEnded = true;
      });
      await clock.advance(heldUpMs - 200);
      expect(hasEnded).toBe(false);
      await clock.advance(400);
      await ended;
      expect(committed).toEqual([]);
    }
  });

  it('is not repeated when Kafka denies permission', async () => {
    const refusal = Object.assign(new Error('Not authorized'), { type: 'GROUP_AUTHORIZATION_FAILED' });
    const { commits, requests } = commitsAnswered([refusal, refusal]);
    await commits.commitLast(20_000);
    expect(requests()).toBe(1);
  });
});
