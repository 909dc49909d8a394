/**
 * Guarantee: while the outcome of an attempt cannot be written, no attempt is begun: a crash, or the loss of its
 * partition, would repeat the request. Attempts resume by themselves once brokers take records again, even when no
 * record waits to be written.
 */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import type { Settlement } from '../../../services/broker/broker.ts';
import type { DeliveryTask } from '../../../services/domain/task.ts';
import type { Brokers } from '../../../services/kafka-client/client/kafkajs-brokers.ts';
import { KafkaProducer } from '../../../services/kafka-client/producer/producer.ts';
import type { Clock } from '../../../services/process/clock.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';
import { eventually } from '../../support/eventually.ts';
import { BreakableLine } from '../../support/faults/breakable-line.ts';
import { kafkaInstallation } from '../../support/kafka/installation.ts';
import { describeWithKafka } from '../../support/kafka/suites.ts';
import { aTask } from '../../support/records/broker-records.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

/** Longer than an acknowledgement is waited for before it is taken for late. */
const LONG_ENOUGH_MS = 1500;
const DELAYED_MS = 500;

const aChange = { kind: 'merchant', id: 'm', version: 1, value: null } as const;

/** A cluster of one leader that connects and takes requests only while it is `up`. */
function aClient() {
  let held = Promise.resolve();
  const client = {
    up: true,
    sent: 0,
    /** What is sent from now on is acknowledged once the answer is called. */
    hold(): () => void {
      let release = () => {};
      held = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
  };
  const whileUp = async () => {
    if (!client.up) throw new Error('no broker answers');
  };
  const send = async () => {
    await whileUp();
    client.sent += 1;
    await held;
    const partitions = [{ partition: 0, errorCode: 0, baseOffset: '0', logAppendTime: '-1' }];
    return { topics: [{ topicName: 'journal', partitions }] };
  };
  const cluster = {
    leadersOf: () => whileUp().then(() => new Map([['journal/0', 1]])),
    send,
    drop: () => {},
    disconnect: async () => {},
  } as unknown as Brokers;
  return { client, cluster };
}

async function openProducer(cluster: Brokers, clock: Clock): Promise<KafkaProducer> {
  const log = createLogger('silent');
  const partitions = new Map([['journal', 1]]);
  const producer = new KafkaProducer({ cluster: () => cluster, clock, log, partitions });
  await producer.open();
  return producer;
}

const RECORD = { topic: 'journal', partition: 0, key: null, value: Buffer.from('x') };

it('a producer that has nothing to write is reachable as soon as leaders answer', async () => {
  const { client, cluster } = aClient();
  const clock = new SimulatedClock();
  const producer = await openProducer(cluster, clock);
  client.up = false;
  const lost = producer.send(RECORD, 1000).catch((error: Error) => error.message);
  for (let waited = 0; waited < 5000; waited += 100) {
    await turn();
    clock.advance(100);
  }
  expect(await lost).toContain('did not acknowledge a record of journal/0 in time');
  expect([producer.isReachable, producer.isPrompt]).toEqual([false, false]);
  client.up = true;
  clock.advance(2000);
  await turn();
  expect([producer.isReachable, producer.isPrompt, client.sent]).toEqual([true, true, 0]);
  await producer.abandon();
});

it('a producer that has waited a second for an acknowledgement does not promise the next in time', async () => {
  const { client, cluster } = aClient();
  const clock = new SimulatedClock();
  const producer = await openProducer(cluster, clock);
  const acknowledge = client.hold();
  const sent = producer.send(RECORD);
  await turn();
  clock.advance(900);
  expect(producer.isPrompt).toBe(true);
  clock.advance(200);
  expect([producer.isReachable, producer.isPrompt]).toEqual([true, false]);
  acknowledge();
  await sent;
  await turn();
  expect(producer.isPrompt).toBe(true);
  await producer.abandon();
});

await describeWithKafka('a process that cannot write', (kafka) => {
  let line: BreakableLine | undefined;

  afterAll(() => line?.close());

  it('begins no attempts, and begins them once it can write again', { timeout: 60_000 }, async () => {
    line = await BreakableLine.open();
    const installation = await kafkaInstallation(kafka);
    const other = await installation.open();
    const broker = await installation.open({ line });
    const begun: string[] = [];
    const standings: string[] = [];
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await broker.tasks.live.consume(
      async ({ deliveryId, endpointId }: DeliveryTask, _signal, standing): Promise<Settlement> => {
        if (endpointId === 'held') {
          await held;
          standings.push(standing());
        } else begun.push(deliveryId);
        return { kind: 'settled', journal: [] };
      },
      { inFlightMax: 100 },
    );
    await other.publishTasks([{ task: aTask({ endpointId: 'held' }), journal: [] }]);
    await sleep(LONG_ENOUGH_MS);

    line.set('cut');
    const published = broker.publishDirectory([aChange]);
    await sleep(LONG_ENOUGH_MS);
    const now = aTask();
    const later = aTask({ dueAt: installation.clock.now() + DELAYED_MS, attempt: 2 });
    await other.publishTasks([now, later].map((task) => ({ task, journal: [] })));
    await sleep(LONG_ENOUGH_MS);
    expect(begun).toEqual([]);
    release();
    await eventually('the waiting attempt is told', () => standings.length === 1);
    expect(standings).toEqual(['unsure']);

    line.set('whole');
    await published;
    await eventually('both attempts have begun', () => begun.length === 2);
    expect(begun.sort()).toEqual([now.deliveryId, later.deliveryId].sort());
    expect(broker.status().reachable).toBe(true);
    await broker.close();
    await other.close();
    await installation.dispose();
  });
});
