/**
 * Guarantee: the id of a topic is as of the question or later, never one that was returned before, and a broker that
 * hangs does not keep it.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Kafka } from 'kafkajs';
import { expect, it } from 'vitest';
import { TopicIds } from '../../../services/kafka-client/client/topic-ids.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

/** Two brokers that return the topic's id as of the request, once they are released. */
function topicOfBrokers() {
  const brokers = { id: 'old', asked: [] as string[], release: () => {} };
  const findBroker = async ({ nodeId }: { readonly nodeId: string }) => {
    const send = async () => {
      brokers.asked.push(nodeId);
      const ids = new Map([['topic', brokers.id]]);
      await new Promise<void>((resolve) => {
        brokers.release = resolve;
      });
      return ids;
    };
    return { versions: { 3: { maxVersion: 12 } }, connectionPool: { send } };
  };
  const cluster = {
    connect: async () => {},
    disconnect: async () => {},
    addMultipleTargetTopics: async () => {},
    getNodeIds: () => ['1', '2'],
    findBroker,
  };
  const kafka = { [Symbol('private:Kafka:createCluster')]: () => cluster } as unknown as Kafka;
  const clock = new SimulatedClock();
  const ids = new TopicIds(kafka, clock, ['topic']);
  const settle = async () => {
    for (let turns = 0; turns < 5; turns += 1) await turn();
  };
  return { brokers, clock, ids, settle };
}

it('an id that is asked for while a broker hangs on an earlier request is that of a new one', async () => {
  const { brokers, ids, settle } = topicOfBrokers();
  const early = [ids.idOf('topic'), ids.idOf('topic')];
  await settle();
  const answerEarly = brokers.release;
  brokers.id = 'new';
  const late = ids.idOf('topic');
  await settle();
  brokers.release();
  answerEarly();
  expect(await late).toBe('new');
  expect(await Promise.all(early)).toEqual(['old', 'old']);
  expect(brokers.asked).toHaveLength(2);
});

it('an id that a broker does not return in time comes from another, which is asked first from then on', async () => {
  const { brokers, clock, ids, settle } = topicOfBrokers();
  const asked = ids.idOf('topic');
  await settle();
  clock.advance(5000);
  await settle();
  brokers.release();
  expect(await asked).toBe('old');
  const again = ids.idOf('topic');
  await settle();
  brokers.release();
  expect(await again).toBe('old');
  expect(brokers.asked).toEqual(['1', '2', '2']);
});
