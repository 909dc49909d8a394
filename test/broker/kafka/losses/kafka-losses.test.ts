/** Guarantee: a topic that is created again while losses are listed has lost nothing. */
import { expect, it } from 'vitest';
import { KafkaLosses } from '../../../../services/broker/kafka/losses/kafka-losses.ts';
import type { Admins } from '../../../../services/kafka-client/client/admins.ts';
import { writeNote } from '../../../../services/kafka-client/consumer/commit-note.ts';
import { createLogger } from '../../../../services/telemetry/logger.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';

const TOPIC = 'wh.deliver';

/** The losses that are listed while the topic, whose oldest record is 1000, is created again before commits are read. */
async function listed(committedIn: 'old' | 'new') {
  let id = 'old';
  const note = { offset: 3, windowStart: 3, done: new Set<number>(), lost: null };
  const admins = {
    startsOf: async () => {
      id = 'new';
      return new Map([[TOPIC, new Map([[0, 1000]])]]);
    },
    groups: async () => new Set<string>(),
    commitsOf: async () =>
      new Map([[0, { offset: 3, metadata: writeNote({ ...note, topicId: committedIn }) }]]),
  } as unknown as Admins;
  const losses = new KafkaLosses({
    admins,
    log: createLogger('silent'),
    clock: new SimulatedClock(),
    groupPrefix: 'wh.',
    directory: 'wh.directory',
    topics: [{ stream: 'tasks', topic: TOPIC, groupId: TOPIC, delayMs: 0 }],
    partitions: new Map([[TOPIC, 1]]),
    topicId: async () => id,
    consumers: new Set(),
  });
  return (await losses.list()).flatMap((one) => one.losses);
}

it('a commit in a new topic is not compared with the oldest record of the earlier one', async () => {
  expect(await listed('new')).toEqual([]);
  expect(await listed('old')).toEqual([
    { partition: 0, from: 3, to: 1000, count: 997, isAcknowledged: false },
  ]);
});
