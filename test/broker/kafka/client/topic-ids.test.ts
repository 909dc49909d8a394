/** Guarantee: the id of a topic is as of the question or later, never one that was returned before. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Kafka } from 'kafkajs';
import { expect, it } from 'vitest';
import { TopicIds } from '../../../../services/broker/kafka/client/topic-ids.ts';

/** Brokers that return the topic's id as of the request, once they are released. */
function topicOfBrokers() {
  const brokers = { id: 'old', requests: 0, release: () => {} };
  const send = async () => {
    brokers.requests += 1;
    const ids = new Map([['topic', brokers.id]]);
    await new Promise<void>((resolve) => {
      brokers.release = resolve;
    });
    return ids;
  };
  const cluster = {
    connect: async () => {},
    addMultipleTargetTopics: async () => {},
    getNodeIds: () => ['1'],
    findBroker: async () => ({ versions: { 3: { maxVersion: 12 } }, connectionPool: { send } }),
  };
  const kafka = { [Symbol('private:Kafka:createCluster')]: () => cluster } as unknown as Kafka;
  const ids = new TopicIds(kafka, ['topic']);
  const settle = async () => {
    for (let turns = 0; turns < 5; turns += 1) await turn();
  };
  return { brokers, ids, settle };
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
  expect(brokers.requests).toBe(2);
});
