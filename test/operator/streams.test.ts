/**
 * Guarantee: a loss by retention is reported by readiness, metrics and `operator streams list`, also while no process
 * runs, until an operator acknowledges it; and never again after that, even on an idle partition.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { expect, it, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { kafkaEnvironment } from '../support/kafka/environment.ts';
import { describeWithKafka, freshPrefix } from '../support/kafka/suites.ts';
import { besides, runTool, toolAnswer } from '../support/service/operator-tool.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';

const WITHIN_MS = 60_000;
/** A fetch of an idle consumer is over by then. */
const FETCH_MS_MAX = 2500;
const TOLD = 'records were deleted before they were read';

test('the streams command says that the sqlite engine deletes no unread records', async () => {
  const { environment } = await prepareSetup();
  const { code, err } = await runTool(environment, 'streams', 'list');
  expect([code, err]).toEqual([
    1,
    'operator: the sqlite engine never deletes unread records: there are no losses',
  ]);
});

await describeWithKafka('a loss by retention', (kafka) => {
  /** A service on topics of its own, and a foreign client of them. */
  async function aService() {
    const prefix = freshPrefix();
    const setup = await prepareSetup(kafkaEnvironment(kafka, prefix));
    const foreign = new Kafka({ brokers: kafka.brokers, logLevel: logLevel.NOTHING });
    const admin = foreign.admin();
    const producer = foreign.producer();
    await Promise.all([admin.connect(), producer.connect()]);
    const services: Service[] = [];
    onTestFinished(async () => {
      await Promise.all(services.map((service) => service.end('SIGKILL')));
      await Promise.all([admin.disconnect(), producer.disconnect()]);
    });
    const events = `${prefix}events.in`;
    return {
      setup,
      prefix,
      events,
      start: async () => {
        const service = await startService(setup.environment);
        services.push(service);
        return service;
      },
      /** Records that nobody can decode: they end in quarantine. */
      send: async (count: number) => {
        const messages = Array.from({ length: count }, () => ({ partition: 0, value: 'no event' }));
        await producer.send({ topic: events, messages });
      },
      deleteBefore: async (offset: number) => {
        // Otherwise kafkajs does not know who leads the partition.
        await admin.fetchTopicOffsets(events);
        await admin.deleteTopicRecords({
          topic: events,
          partitions: [{ partition: 0, offset: `${offset}` }],
        });
      },
    };
  }

  const lossesIn = async (environment: ServiceSetup['environment'], topic: string) => {
    const topics = await toolAnswer(environment, 'streams', 'list');
    return topics.find((one: { topic: string }) => one.topic === topic).losses;
  };
  const numberOf = async (service: Service, series: string) => {
    const text = await (await fetch(`${service.operationsUrl}/metrics`)).text();
    const line = text.split('\n').find((one) => one.startsWith(series));
    return line === undefined ? null : Number(line.split(' ').at(-1));
  };
  const unacknowledged = (service: Service) =>
    numberOf(service, 'hookrail_records_lost_unacknowledged{stream="events"}');
  const lostTotal = async (service: Service, events: string) =>
    (await numberOf(
      service,
      `hookrail_records_lost_total{stream="events",topic="${events}",partition="0"}`,
    )) ?? 0;
  const readiness = async (service: Service) => {
    const answer = await fetch(`${service.operationsUrl}/readyz`);
    return { status: answer.status, ...((await answer.json()) as { waiting: string[] }) };
  };
  const told = (service: Service) => service.output.filter((line) => line.includes(TOLD));
  /** A request under way when a process stops is answered from what comes within its second: it is waited for. */
  const whileItStands = async (service: Service, act: () => Promise<void>) => {
    service.process.kill('SIGSTOP');
    await sleep(FETCH_MS_MAX);
    await act();
    service.process.kill('SIGCONT');
  };
  /** The partition's position is known, and what is told of it with it. */
  const isRead = (service: Service, events: string) =>
    eventually(
      'the partition is read',
      async () =>
        (await numberOf(
          service,
          `hookrail_consumer_lag_records{stream="events",topic="${events}",partition="0"}`,
        )) !== null,
      WITHIN_MS,
    );

  it('while no process ran is reported until acknowledged, and never again on an idle partition', async () => {
    const { setup, events, start, send, deleteBefore } = await aService();
    const first = await start();
    await send(2);
    const quarantined = 'hookrail_quarantined_total{reason="undecodable"}';
    await eventually(
      'the records are read',
      async () => (await numberOf(first, quarantined)) === 2,
      WITHIN_MS,
    );
    expect(await lossesIn(besides(setup.environment, first), events)).toEqual([]);
    await first.end('SIGTERM');
    await send(3);
    await deleteBefore(5);
    const loss = { partition: 0, firstOffset: 2, lastOffset: 4, records: 3, acknowledged: false };
    expect(await lossesIn(setup.environment, events)).toEqual([loss]);

    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      const service = await start();
      await eventually('the loss is reported', async () => (await unacknowledged(service)) === 3, WITHIN_MS);
      const { status, waiting } = await readiness(service);
      expect(status).toBe(200);
      expect(waiting).toContain(
        `${events}/0: at most 3 records, offsets 2 to 4, were deleted before they were read; ` +
          `once that is dealt with: hookrail operator streams acknowledge ${events} --partition 0`,
      );
      expect(await lostTotal(service, events)).toBe(3);
      const where = besides(setup.environment, service);
      expect(await lossesIn(where, events)).toEqual([loss]);
      expect((await runTool(where, 'streams', 'list')).out.split('\n')).toEqual(
        expect.arrayContaining([
          `events: ${events}, 3 partitions; LOST:`,
          '  partition 0: offsets 2 to 4, at most 3 records; NOT acknowledged:',
          `    streams acknowledge ${events} --partition 0`,
        ]),
      );
      await service.end(signal);
    }

    const fourth = await start();
    await eventually('the loss is reported', async () => (await unacknowledged(fourth)) === 3, WITHIN_MS);
    const where = besides(setup.environment, fourth);
    const acknowledged = { ...loss, acknowledged: true };
    expect(await toolAnswer(where, 'streams', 'acknowledge', events, '--partition', '0')).toEqual([
      { stream: 'events', topic: events, ...acknowledged },
    ]);
    await eventually(
      'the loss is no longer reported',
      async () => (await unacknowledged(fourth)) === 0,
      WITHIN_MS,
    );
    expect((await readiness(fourth)).waiting.filter((line) => line.includes('deleted'))).toEqual([]);
    expect(await lossesIn(where, events)).toEqual([acknowledged]);
    expect(await toolAnswer(where, 'streams', 'acknowledge', events)).toEqual([]);
    const { acknowledged: _, ...lost } = loss;
    expect(await toolAnswer(where, 'audit', 'list', '--limit', '1')).toMatchObject([
      { action: 'streams.acknowledge', details: { topic: events, losses: [lost] } },
    ]);
    await fourth.end('SIGKILL');

    const fifth = await start();
    await isRead(fifth, events);
    expect([await unacknowledged(fifth), await lostTotal(fifth, events)]).toEqual([0, 0]);
    expect((await readiness(fifth)).waiting.filter((line) => line.includes('deleted'))).toEqual([]);
    await fifth.end('SIGTERM');
    expect(told(fifth)).toEqual([]);
  }, 240_000);

  it('under a running process is reported, and can be acknowledged without a process', async () => {
    const { setup, prefix, events, start, send, deleteBefore } = await aService();
    const first = await start();
    await send(2);
    const quarantined = 'hookrail_quarantined_total{reason="undecodable"}';
    await eventually(
      'the records are read',
      async () => (await numberOf(first, quarantined)) === 2,
      WITHIN_MS,
    );
    await whileItStands(first, async () => {
      await send(4);
      await deleteBefore(6);
    });
    await eventually('the loss is reported', async () => (await unacknowledged(first)) === 4, WITHIN_MS);
    expect(await lostTotal(first, events)).toBe(4);
    await eventually('the log line is read', () => told(first).length === 1, WITHIN_MS);
    await first.end('SIGTERM');

    const refused = async (...argv: string[]) =>
      (await runTool(setup.environment, 'streams', 'acknowledge', ...argv)).err;
    expect(await refused('cats')).toContain('there is no stream or topic "cats"; there are events, tasks, ');
    expect(await refused(events, '--partition', '3')).toContain(`${events} has the partitions 0 to 2`);
    expect(await refused('tasks', '--partition', '0')).toContain(`name one of them: ${prefix}deliver,`);
    const loss = { partition: 0, firstOffset: 2, lastOffset: 5, records: 4 };
    expect(await lossesIn(setup.environment, events)).toEqual([{ ...loss, acknowledged: false }]);
    expect(await toolAnswer(setup.environment, 'streams', 'acknowledge', 'events')).toEqual([
      { stream: 'events', topic: events, ...loss, acknowledged: true },
    ]);
    const second = await start();
    await isRead(second, events);
    expect([await unacknowledged(second), await lostTotal(second, events)]).toEqual([0, 0]);
    // A loss after the acknowledged one is one of its own.
    await whileItStands(second, async () => {
      await send(2);
      await deleteBefore(8);
    });
    await eventually('the loss is reported', async () => (await unacknowledged(second)) === 2, WITHIN_MS);
    expect(await lossesIn(besides(setup.environment, second), events)).toEqual([
      { ...loss, acknowledged: true },
      { partition: 0, firstOffset: 6, lastOffset: 7, records: 2, acknowledged: false },
    ]);
  }, 240_000);
});
