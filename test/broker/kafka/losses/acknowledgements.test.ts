/**
 * Guarantee: an acknowledgement of a loss reaches the process that reports it, counts for that topic only, and is not
 * forgotten while it is needed.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import { Acknowledgements } from '../../../../services/broker/kafka/losses/acknowledgements.ts';
import type { Admins } from '../../../../services/kafka-client/client/admins.ts';
import { kafkaClient } from '../../../../services/kafka-client/client/client.ts';
import { createLogger } from '../../../../services/telemetry/logger.ts';
import { eventually } from '../../../support/eventually.ts';
import { kafkaInstallation } from '../../../support/kafka/installation.ts';
import { describeWithKafka } from '../../../support/kafka/suites.ts';
import { anEvent } from '../../../support/records/broker-records.ts';

const DAY_MS = 86_400_000;
const HEARD_MS = 30_000;

interface Committed {
  readonly offset: string;
  readonly metadata: string;
}

/** On brokers of which only the groups' offsets are there. */
function onFakeBrokers() {
  const groups = new Map<string, Committed>();
  const commits: string[] = [];
  const refusal = Object.assign(new Error('not allowed'), { type: 'GROUP_AUTHORIZATION_FAILED' });
  const brokers = { isRefusing: false };
  const admins = {
    committedOf: async (group: string) => {
      if (brokers.isRefusing) throw refusal;
      const { offset = '-1', metadata = null } = groups.get(group) ?? {};
      return { offset: Number(offset), metadata };
    },
    commit: async (group: string, { offset, metadata }: Committed) => {
      groups.set(group, { offset, metadata });
      commits.push(`${group} ${offset} ${metadata}`);
    },
  } as unknown as Admins;
  const lines: { readonly msg: string }[] = [];
  const log = createLogger('warn', { write: (line) => void lines.push(JSON.parse(line)) });
  const acknowledgements = new Acknowledgements({
    admins,
    log,
    groupPrefix: 'wh.',
    directory: 'wh.directory',
  });
  return { acknowledgements, brokers, commits, lines };
}

describe('an acknowledgement of lost records', () => {
  const range = { from: 3, to: 9, count: 5 };

  it('is for one partition of one topic, and for no topic that was created again', async () => {
    const { acknowledgements, commits } = onFakeBrokers();
    await acknowledgements.acknowledge('wh.deliver', 1, 'first', range);
    expect(commits).toEqual(['wh.lost.wh.deliver.1 9 first;3-9-5']);
    expect(await acknowledgements.upTo('wh.deliver', 1, 'first')).toBe(9);
    expect(await acknowledgements.upTo('wh.deliver', 1, null)).toBe(9);
    expect(await acknowledgements.upTo('wh.deliver', 1, 'second')).toBe(0);
    expect(await acknowledgements.upTo('wh.deliver', 2, 'first')).toBe(0);
  });

  it('that a position relies on is committed again every day, unchanged', async () => {
    const { acknowledgements, commits } = onFakeBrokers();
    await acknowledgements.acknowledge('wh.deliver', 1, 'first', range);
    await acknowledgements.acknowledge('wh.deliver', 2, 'first', range);
    await acknowledgements.upTo('wh.deliver', 1, 'first');
    commits.length = 0;
    for (const now of [0, 5000, DAY_MS - 1, DAY_MS]) await acknowledgements.renew(now);
    const renewed = 'wh.lost.wh.deliver.1 9 first;3-9-5';
    expect(commits).toEqual([renewed, renewed]);
  });

  it('that may not be read counts as none, and is logged once', async () => {
    const { acknowledgements, brokers, lines } = onFakeBrokers();
    brokers.isRefusing = true;
    expect(await acknowledgements.upTo('wh.deliver', 1, null)).toBe(0);
    expect(await acknowledgements.upTo('wh.deliver', 2, null)).toBe(0);
    expect(lines.map(({ msg }) => msg)).toEqual([
      expect.stringContaining('the Kafka user needs READ on the group'),
    ]);
  });
});

await describeWithKafka('a loss that another process acknowledged', (kafka) => {
  it('is no longer reported by the process that reads the partition', async () => {
    const installation = await kafkaInstallation(kafka);
    const log = createLogger('silent');
    const { brokers } = kafka;
    const admin = kafkaClient({ brokers, clientId: 'test', tls: null, sasl: null, log }).admin();
    await admin.connect();
    const operator = await installation.open();
    const routers = [await installation.open(), await installation.open()] as const;
    onTestFinished(async () => {
      await Promise.all([operator, ...routers].map((broker) => broker.close()));
      await admin.disconnect();
      await installation.dispose();
    });
    const [first, second] = routers;
    const topic = `${installation.prefix}events.in`;
    const event = anEvent();
    const read: string[] = [];
    const consume = (broker: typeof first) =>
      broker.events.consume(
        ({ decoded }) => {
          if (decoded.ok) read.push(decoded.event.eventId);
          return { kind: 'repeated' };
        },
        { inFlightMax: 10 },
      );
    await consume(first);
    await operator.publishEvents([event]);
    await eventually('the records are read', () => read.length > 0, HEARD_MS);
    await first.close();
    await operator.publishEvents([{ ...event, eventId: crypto.randomUUID() }]);
    const ends = await admin.fetchTopicOffsets(topic);
    const partitions = ends.map(({ partition, high }) => ({ partition, offset: high }));
    await admin.deleteTopicRecords({ topic, partitions });
    await consume(second);
    const told = () => second.status().partitions.flatMap(({ unacknowledged }) => unacknowledged ?? []);
    await eventually('the loss is reported', () => told().length === 1, HEARD_MS);
    expect(told()).toEqual([{ from: 1, to: 2, count: 1 }]);
    const losses = (await operator.losses?.list())?.find((one) => one.topic === topic)?.losses ?? [];
    expect(losses).toEqual([{ partition: expect.any(Number), ...told()[0], isAcknowledged: false }]);
    await operator.losses?.acknowledge(topic, losses);
    await eventually('the loss is no longer reported', () => told().length === 0, HEARD_MS);
  }, 120_000);
});
