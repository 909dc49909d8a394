/**
 * Guarantee: the sequences of an entity rise strictly in the order in which hookrail accepted its events, and each event
 * keeps its own, over random histories on real brokers: restarts, kills, rebalances of several routers, an events topic
 * that is created again, more partitions, a backup of the embedded engine that is restored, and the move to Kafka.
 * The seed is printed. The long form has more and longer histories.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Admin, Kafka, logLevel, type Producer } from 'kafkajs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Broker } from '../../../../services/broker/broker.ts';
import { openSqliteBroker } from '../../../../services/broker/sqlite/sqlite-broker.ts';
import { systemClock } from '../../../../services/process/clock.ts';
import { Chance } from '../../../../services/samples/chance.ts';
import { createTopics, metadataOf } from '../../../support/kafka/created-topics.ts';
import { type KafkaInstallation, kafkaInstallation } from '../../../support/kafka/installation.ts';
import { describeWithKafka } from '../../../support/kafka/suites.ts';
import { seedOf, sizeOf } from '../../../support/long-runs.ts';
import { SequenceHistory } from '../../../support/models/sequence-history.ts';

const SEED = seedOf('MODEL_SEED');
const HISTORIES = sizeOf('SEQUENCE_HISTORIES');
const ROUNDS = sizeOf('SEQUENCE_ROUNDS');
const TEST_MS = 300_000;
/** Two events of an entity that goes to another partition or engine are as far apart as the clocks may differ. */
const APART_MS = 5;
/** Where there are two, partitions move whenever one comes or goes. */
const PROCESSES_MIN = 2;
const PROCESSES_MAX = 3;
const BEHIND_MS = 60_000;
const OF_EACH_BEFORE = 4;

type Step = 'restart' | 'kill' | 'join' | 'create again' | 'more partitions';
const STEPS: readonly Step[] = ['restart', 'kill', 'join', 'create again', 'more partitions'];

await describeWithKafka('the sequences of an entity', (kafka) => {
  let admin: Admin;
  let producer: Producer;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hookrail-sequences-'));
    const client = new Kafka({ brokers: kafka.brokers, logLevel: logLevel.NOTHING });
    [admin, producer] = [client.admin(), client.producer()];
    await Promise.all([admin.connect(), producer.connect()]);
  });
  afterAll(async () => {
    await Promise.all([admin?.disconnect(), producer?.disconnect()]);
    rmSync(folder, { recursive: true, force: true });
  });

  const openEmbedded = (name: string) =>
    openSqliteBroker({ file: join(folder, name, 'broker.db'), clock: systemClock(), retryScale: 1000 });

  /** Lives on the embedded engine: events that are routed at once, or wait; restarts, kills, and a restored backup. */
  async function embedded(history: SequenceHistory, chance: Chance, name: string): Promise<void> {
    const open = () => openEmbedded(name);
    const live = async (rounds: number) => {
      for (let round = 0; round < rounds; round += 1) {
        const broker: Broker = await open();
        const isStreamed = chance.below(2) === 0;
        const process = isStreamed ? undefined : await history.join(broker, true);
        for (let n = chance.between(1, 3); n > 0; n -= 1) await history.publish({ broker });
        history.told.push(`embedded ${isStreamed ? 'streamed' : 'routed'}`);
        if (process) await history.leave(process);
        else await broker.close();
      }
      await history.drained(open);
    };
    await live(ROUNDS);
    const [place, backup] = [join(folder, name), join(folder, `${name}-backup`)];
    cpSync(place, backup, { recursive: true });
    await live(1);
    await sleep(APART_MS);
    rmSync(place, { recursive: true });
    cpSync(backup, place, { recursive: true });
    history.told.push('backup restored');
    await live(1);
  }

  async function joinUpTo(count: number, history: SequenceHistory, installation: KafkaInstallation) {
    while (history.processes.length < count) await history.join(await installation.open());
  }

  const topicOf = ({ prefix }: KafkaInstallation) => `${prefix}events.in`;

  async function createAgain(
    topic: string,
    numPartitions: number,
    timestamps: 'LogAppendTime' | 'CreateTime',
  ) {
    await admin.deleteTopics({ topics: [topic] });
    const configEntries = [{ name: 'message.timestamp.type', value: timestamps }];
    await createTopics(admin, [{ topic, numPartitions, replicationFactor: 1, configEntries }]);
  }

  /** Does a step to a history on Kafka. */
  async function happen(
    step: Step,
    history: SequenceHistory,
    installation: KafkaInstallation,
    chance: Chance,
  ): Promise<void> {
    history.told.push(step);
    if (step === 'join') return joinUpTo(PROCESSES_MAX, history, installation);
    const one = chance.pick(history.processes);
    if (step === 'restart') await history.leave(one);
    else if (step === 'kill') {
      history.forget(one);
      await installation.crash(one.broker);
    } else {
      await history.drained(() => installation.open());
      const topic = topicOf(installation);
      const [{ partitions } = { partitions: [] }] = await metadataOf(admin, [topic]);
      if (step === 'create again') await createAgain(topic, partitions.length, 'LogAppendTime');
      else await admin.createPartitions({ topicPartitions: [{ topic, count: partitions.length + 1 }] });
      await metadataOf(admin, [topic]);
      await sleep(APART_MS);
    }
    await joinUpTo(PROCESSES_MIN, history, installation);
  }

  it(`rise over ${HISTORIES} histories of both engines (seed ${SEED})`, {
    timeout: TEST_MS * HISTORIES,
  }, async () => {
    for (let number = 0; number < HISTORIES; number += 1) {
      const chance = new Chance('sequence histories', `${SEED}`, `${number}`);
      const history = new SequenceHistory(chance);
      await embedded(history, chance, `history-${number}`);
      const installation = await kafkaInstallation(kafka);
      try {
        history.told.push('moved to Kafka');
        await sleep(APART_MS);
        await joinUpTo(PROCESSES_MIN, history, installation);
        for (let round = 0; round < ROUNDS; round += 1) {
          // Each kind once in each round, in any order.
          const left = [...STEPS];
          while (left.length > 0) {
            const [step = 'join'] = left.splice(chance.below(left.length), 1);
            for (let n = chance.between(1, 3); n > 0; n -= 1)
              await history.publish(chance.pick(history.processes));
            await happen(step, history, installation, chance);
          }
        }
        await history.publish(chance.pick(history.processes));
        await history.drained(() => installation.open());
      } finally {
        for (const { broker } of history.processes) await installation.crash(broker);
        await installation.dispose();
      }
      history.expectRising();
      expect(history.held).toBeGreaterThan(0);
      console.log(`sequences: ${history.events} events rise after: ${history.told.join(', ')}`);
    }
  });

  it('rise in a topic that is created again under the routers, though its records are a minute behind', {
    timeout: TEST_MS,
  }, async () => {
    const chance = new Chance('behind', `${SEED}`);
    const history = new SequenceHistory(chance, false);
    const installation = await kafkaInstallation(kafka);
    const topic = topicOf(installation);
    const [{ partitions } = { partitions: [] }] = await metadataOf(admin, [topic]);
    try {
      await joinUpTo(PROCESSES_MIN, history, installation);
      // The old log is longer than the new one gets: so a router sees at its first fetch that it is another.
      await history.publish(chance.pick(history.processes), history.ofEach(OF_EACH_BEFORE));
      await history.untilRouted();
      await createAgain(topic, partitions.length, 'CreateTime');
      const events = history.ofEach(1);
      const messages = events.map((event) => ({
        key: event.entityId,
        value: installation.records.encodeEvent(event),
        timestamp: `${Date.now() - BEHIND_MS}`,
      }));
      await producer.send({ topic, messages });
      history.accept(events);
      await history.untilRouted();
    } finally {
      for (const { broker } of history.processes) await installation.crash(broker);
      await installation.dispose();
    }
    history.expectRising();
  });
});
