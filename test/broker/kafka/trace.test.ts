/**
 * Guarantee: every record on Kafka that belongs to a traced event or task has the trace in its `traceparent` header, where
 * other programs look for it; a malformed one that comes in is ignored.
 */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { KafkaRecords } from '../../../services/broker/kafka/registry/records.ts';
import { SchemaRegistry } from '../../../services/broker/kafka/registry/registry.ts';
import { IdsBudget } from '../../../services/broker/kafka/seen/ids-budget.ts';
import { EventsTopic } from '../../../services/broker/kafka/streams/events-topic.ts';
import { Publisher } from '../../../services/broker/kafka/streams/publisher.ts';
import { Outgoing } from '../../../services/broker/kafka/streams/settle.ts';
import { taskMark } from '../../../services/broker/kafka/streams/task-wire.ts';
import { topicNames } from '../../../services/broker/kafka/topics/topics.ts';
import type { DeliveryTask } from '../../../services/domain/task.ts';
import { Partition } from '../../../services/kafka-client/consumer/partition.ts';
import type { TopicConsumer } from '../../../services/kafka-client/consumer/topic-consumer.ts';
import type { OutgoingRecord } from '../../../services/kafka-client/producer/record-sender.ts';
import { systemClock } from '../../../services/process/clock.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';
import { eventually } from '../../support/eventually.ts';
import { startFakeRegistry } from '../../support/kafka/fake-registry.ts';
import { kafkaInstallation } from '../../support/kafka/installation.ts';
import { SAME_TIME } from '../../support/kafka/same-time.ts';
import { describeWithKafka } from '../../support/kafka/suites.ts';
import {
  anEvent,
  aTask,
  attempted,
  deadLetter,
  requested,
  routed,
} from '../../support/records/broker-records.ts';

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const OF_ROUTE = '00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-01';
const NOW = 1_700_000_000_010;
const topics = topicNames('wh.', 'payments.events');
const clock = systemClock();

let records: KafkaRecords;
let outgoing: Outgoing;
let close: () => Promise<unknown>;
beforeAll(async () => {
  const fake = await startFakeRegistry();
  const registry = new SchemaRegistry({ url: fake.url, auth: null, ca: null, clock });
  const log = createLogger('silent');
  records = await KafkaRecords.open(registry, { clock, log, mayRegister: true, giveUpMs: 10_000 });
  outgoing = new Outgoing({ records, topics, partitionOf: () => 0, retryScale: 1, time: SAME_TIME });
  close = () => Promise.all([registry.close(), fake.down()]);
});
afterAll(() => close());

/** `topic → traceparent` of each record, in order. */
const tracesOf = (sent: readonly OutgoingRecord[] | null) =>
  sent?.map(({ topic, headers }) => [topic, headers?.traceparent]);

/** A publisher whose records are kept instead of sent. */
function publisher() {
  const sent: OutgoingRecord[] = [];
  const sender = {
    send: async (record: OutgoingRecord) => {
      sent.push(record);
      return { partition: 0, offset: sent.length, timestamp: NOW };
    },
    partitionOf: () => 0,
  };
  return { sent, publisher: new Publisher({ sender, outgoing, records, clock, eventsTopic: topics.events }) };
}

describe('the trace header is written', () => {
  it('on published events, and on tasks with their journal', async () => {
    const { sent, publisher: one } = publisher();
    await one.publishEvents([anEvent(), anEvent()], { traceparent: TRACEPARENT });
    await one.publishEvents([anEvent()]);
    const task = aTask({ trigger: 'manual', traceparent: TRACEPARENT });
    await one.publishTasks([{ task, journal: [requested(task)] }]);
    expect(tracesOf(sent)).toEqual([
      [topics.events, TRACEPARENT],
      [topics.events, TRACEPARENT],
      [topics.events, undefined],
      [topics.journal, TRACEPARENT],
      [topics.test, TRACEPARENT],
    ]);
  });

  it('on the tasks and journal of a routed event, also when no endpoint gets it', () => {
    const journal = routed(anEvent());
    const received = { traceparent: TRACEPARENT };
    const tasks = [aTask({ traceparent: OF_ROUTE })];
    expect(
      tracesOf(
        outgoing.ofRouted({ kind: 'routed', tasks, journal }, { received, now: NOW, direct: undefined }),
      ),
    ).toEqual([
      [topics.deliver, OF_ROUTE],
      [topics.journal, OF_ROUTE],
    ]);
    expect(
      tracesOf(
        outgoing.ofRouted({ kind: 'routed', tasks: [], journal }, { received, now: NOW, direct: undefined }),
      ),
    ).toEqual([[topics.journal, TRACEPARENT]]);
  });

  it('on the journal, retry, parked task and dead letter of an attempt', () => {
    const task = aTask({ traceparent: TRACEPARENT });
    const next = { ...task, attempt: 2, dueAt: NOW + 3000, linkedSpan: OF_ROUTE };
    const journal = [attempted(task, { kind: 'retry', dueAt: next.dueAt })];
    const retried = outgoing.ofSettlement({ kind: 'settled', journal, next }, task, NOW);
    expect(tracesOf(retried)).toEqual([
      [topics.journal, TRACEPARENT],
      [topics.retry[3], TRACEPARENT],
    ]);
    // The link to the attempt before is in the record itself: every engine carries it.
    expect(records.decode('task', retried?.[1]?.value ?? Buffer.alloc(0))).toEqual(next);
    expect(
      tracesOf(outgoing.ofSettlement({ kind: 'parked', tier: 66, reason: 'endpoint_full' }, task, NOW)),
    ).toEqual([[topics.retry[66], TRACEPARENT]]);
    const dead = { kind: 'settled', journal: [], dead: deadLetter(task) } as const;
    expect(tracesOf(outgoing.ofSettlement(dead, task, NOW))).toEqual([[topics.dead, TRACEPARENT]]);
  });

  it('on nothing that is not traced', () => {
    const sent = outgoing.ofSettlement(
      { kind: 'settled', journal: [], next: aTask({ attempt: 2 }) },
      aTask(),
      NOW,
    );
    expect(Object.keys(sent?.[0]?.headers ?? {})).toEqual(['hookrail-task']);
    expect(outgoing.journal(routed(anEvent()), undefined)).not.toHaveProperty('headers');
  });
});

describe('the trace header is read', () => {
  /** The event as the router gets it, of a record with these headers. */
  function received(headers: Record<string, Buffer | Buffer[]>) {
    const stream = new EventsTopic({
      records,
      clock,
      topic: topics.events,
      open: () => ({ isTrusted: true, start: async () => {}, done: () => {} }) as unknown as TopicConsumer,
      seen: { windowMs: 3_600_000, budget: new IdsBudget(1000) },
      brokersNow: () => clock.now(),
      closing: new AbortController().signal,
    });
    void stream.start();
    const partition = new Partition(topics.events, 0);
    const value = records.encodeEvent(anEvent());
    stream.feed.add({ partition, offset: 0, key: null, value, timestamp: 1, headers, bytes: 1 });
    return stream.feed.take()?.value;
  }

  it('so that an event continues the trace of its producer, if it is valid', () => {
    expect(received({ traceparent: Buffer.from(TRACEPARENT) })).toMatchObject({
      traceparent: TRACEPARENT,
      decoded: { ok: true },
    });
    for (const headers of [
      {},
      { traceparent: Buffer.from('00-trace-span-01') },
      { traceparent: Buffer.alloc(100_000, 'a') },
      { traceparent: [Buffer.from(TRACEPARENT), Buffer.from(TRACEPARENT)] },
    ]) {
      const event = received(headers as Record<string, Buffer>);
      expect(event).toMatchObject({ decoded: { ok: true } });
      expect(event).not.toHaveProperty('traceparent');
    }
  });

  it('so that a traced task is recognised by its headers like any other', () => {
    const task = aTask({ traceparent: TRACEPARENT });
    const [sent] = [outgoing.task(task, NOW)];
    const headers = Object.fromEntries(
      Object.entries(sent.headers ?? {}).map(([name, text]) => [name, Buffer.from(String(text))]),
    );
    const partition = new Partition(sent.topic, 0);
    // Without a value, so that only the headers can tell.
    const record = { partition, offset: 0, key: null, value: null, timestamp: 1, headers, bytes: 1 };
    expect(taskMark(record, records)).toMatchObject({
      identity: `${task.deliveryId}/1/0`,
      taskClass: 'live',
    });
  });
});

await describeWithKafka('the trace of a producer on a Kafka of three brokers', (kafka) => {
  it('comes back with the event, its task and the retry', async () => {
    const installation = await kafkaInstallation(kafka);
    onTestFinished(() => installation.dispose());
    const broker = await installation.open();
    onTestFinished(() => broker.close());
    const traces: (string | undefined)[] = [];
    await broker.events.consume(
      ({ decoded, traceparent }) => {
        if (!decoded.ok) throw new Error(decoded.detail);
        traces.push(traceparent);
        const tasks = [aTask(traceparent === undefined ? {} : { traceparent })];
        return { kind: 'routed', tasks, journal: routed(decoded.event) };
      },
      { inFlightMax: 10 },
    );
    const tasks: DeliveryTask[] = [];
    await broker.tasks.live.consume(
      (task) => {
        tasks.push(task);
        if (task.attempt > 1) return { kind: 'settled', journal: [attempted(task)] };
        const next = { ...task, attempt: 2, dueAt: clock.now() + 3, linkedSpan: OF_ROUTE };
        return { kind: 'settled', journal: [attempted(task)], next };
      },
      { inFlightMax: 10 },
    );
    await broker.publishEvents([anEvent()], { traceparent: TRACEPARENT });
    await eventually('the retry has arrived', () => tasks.length === 2, 60_000);
    expect(traces).toEqual([TRACEPARENT]);
    expect(tasks.map(({ traceparent, linkedSpan }) => [traceparent, linkedSpan])).toEqual([
      [TRACEPARENT, undefined],
      [TRACEPARENT, OF_ROUTE],
    ]);
  }, 120_000);
});
