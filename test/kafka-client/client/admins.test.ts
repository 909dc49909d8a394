/**
 * Guarantee: bounds that are compared with a commit were requested after it, although a broker that hangs holds up an
 * earlier request, and come from the present leader when it matters.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Kafka } from 'kafkajs';
import { expect, it } from 'vitest';
import { Admins } from '../../../services/kafka-client/client/admins.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const TOPIC = 'wh.deliver';
const PARTITIONS = [0, 1, 2];

/** One broker that leads the topic's partitions; it answers with the end as of the question once it is released. */
function onOneBroker() {
  const broker = { end: 1914, releases: [] as (() => void)[], refreshed: 0, commits: 0, bounds: 0 };
  const cluster = {
    connect: async () => {},
    addMultipleTargetTopics: async () => {},
    refreshMetadata: async () => {
      broker.refreshed += 1;
    },
    refreshMetadataIfNecessary: async () => {},
    findTopicPartitionMetadata: () => PARTITIONS.map((partitionId) => ({ partitionId, leader: 1 })),
    fetchTopicsOffset: async ([{ fromBeginning }]: readonly [{ readonly fromBeginning: boolean }]) => {
      broker.bounds += 1;
      const offset = fromBeginning ? '0' : `${broker.end}`;
      await new Promise<void>((resolve) => void broker.releases.push(resolve));
      return [{ topic: TOPIC, partitions: PARTITIONS.map((partition) => ({ partition, offset })) }];
    },
  };
  const fetchOffsets = async () => {
    broker.commits += 1;
    const partitions = PARTITIONS.map((partition) => ({ partition, offset: '1928', metadata: null }));
    return [{ topic: TOPIC, partitions }];
  };
  const kafka = {
    [Symbol('private:Kafka:createCluster')]: () => cluster,
    admin: () => ({ connect: async () => {}, fetchOffsets }),
  } as unknown as Kafka;
  const admins = new Admins(kafka, new SimulatedClock(), createLogger('silent'));
  const settle = async () => {
    for (let turns = 0; turns < 10; turns += 1) await turn();
  };
  const release = async () => {
    await settle();
    for (const resolve of broker.releases.splice(0)) resolve();
    await settle();
  };
  return { admins, broker, settle, release };
}

it('bounds are not those of a request that began before, while a broker hung', async () => {
  const { admins, broker, settle, release } = onOneBroker();
  const early = admins.boundsOf(TOPIC, 0);
  await settle();
  broker.end = 1928;
  expect((await admins.committedOf('group', TOPIC, 0)).offset).toBe(1928);
  const late = admins.boundsOf(TOPIC, 0);
  await release();
  expect((await early).high).toBe(1914);
  expect((await late).high).toBe(1928);
});

it('bounds and commits of all partitions that are assigned at a time share a request', async () => {
  const { admins, broker, release } = onOneBroker();
  const finding = PARTITIONS.map(async (partition) => {
    await admins.committedOf('group', TOPIC, partition);
    return admins.boundsOf(TOPIC, partition);
  });
  await release();
  expect(await Promise.all(finding)).toEqual(PARTITIONS.map(() => ({ low: 0, high: 1914 })));
  // The oldest and the newest offset are a request each.
  expect([broker.commits, broker.bounds]).toEqual([1, 2]);
});

it('bounds that are requested anew are those of the present leader', async () => {
  const { admins, broker, release } = onOneBroker();
  const cached = admins.boundsOf(TOPIC, 0);
  await release();
  await cached;
  expect(broker.refreshed).toBe(0);
  const anew = admins.boundsOf(TOPIC, 0, { anew: true });
  await release();
  await anew;
  expect(broker.refreshed).toBeGreaterThan(0);
});
