/**
 * A start on a Kafka that would lose, reorder or repeat webhooks is refused in one line, before the first record.
 * Missing topics are created as specified, by one process or by several at once; existing ones are never changed.
 */
import type { Admin } from 'kafkajs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { topicCommands } from '../../../../services/broker/kafka/topics/topic-commands.ts';
import type { PrepareOptions } from '../../../../services/broker/kafka/topics/topic-spec.ts';
import { prepareTopics, topicSpecs } from '../../../../services/broker/kafka/topics/topics.ts';
import { TIERS } from '../../../../services/domain/retry.ts';
import { kafkaClient } from '../../../../services/kafka-client/client/client.ts';
import { systemClock } from '../../../../services/process/clock.ts';
import { createLogger, type Logger } from '../../../../services/telemetry/logger.ts';
import { metadataOf } from '../../../support/kafka/created-topics.ts';
import { describeWithKafka, freshPrefix } from '../../../support/kafka/suites.ts';

const SHORT_NAMES = [
  'events',
  'deliver',
  ...TIERS.map((tier) => `retry.${tier}s`),
  'test',
  'replay',
  'journal',
  'dead',
  'quarantine',
];
/** Kafkas of tests are small and shared: as few partitions as will do. */
const FEW = Object.fromEntries(SHORT_NAMES.map((name) => [name, 1]));

/** A logger whose lines can be asked for. */
function listeningLog() {
  const lines: string[] = [];
  const log = createLogger('info', { write: (line: string) => void lines.push(line) });
  return { log, messages: () => lines.map((line): string => JSON.parse(line).msg) };
}

function adminOf(brokers: readonly string[], log: Logger): Admin {
  return kafkaClient({ brokers, clientId: 'test', tls: null, sasl: null, log }).admin();
}

function optionsOf(prefix: string, more: Partial<PrepareOptions> = {}): PrepareOptions {
  return {
    brokers: ['kafka-1:9092'],
    topicPrefix: prefix,
    eventsTopic: `${prefix}payments.events`,
    partitions: FEW,
    environment: 'sandbox',
    replicationFactor: 1,
    createTopics: true,
    clock: systemClock(),
    log: listeningLog().log,
    ...more,
  };
}

await describeWithKafka('topics on a Kafka', ({ brokers }) => {
  let admin: Admin;
  const prefixes: string[] = [];
  const newPrefix = () => {
    const prefix = freshPrefix();
    prefixes.push(prefix);
    return prefix;
  };
  const createTopic = (topic: string, numPartitions: number, settings: Record<string, string> = {}) =>
    admin.createTopics({
      waitForLeaders: false,
      topics: [
        {
          topic,
          numPartitions,
          replicationFactor: 1,
          configEntries: Object.entries(settings).map(([name, value]) => ({ name, value })),
        },
      ],
    });

  /** Brokers learn of a new topic one after the other, and any of them may be asked. */
  const whenSeen = <Value>(prepared: () => Promise<Value>) => vi.waitFor(prepared, { timeout: 10_000 });

  beforeAll(async () => {
    admin = adminOf(brokers, listeningLog().log);
    await admin.connect();
  });
  afterAll(async () => {
    const topics = (await admin.listTopics()).filter((name) =>
      prefixes.some((prefix) => name.startsWith(prefix)),
    );
    if (topics.length > 0) await admin.deleteTopics({ topics });
    await admin.disconnect();
  });

  it('are created as specified, and then pass the check', async () => {
    const prefix = newPrefix();
    const first = listeningLog();
    const nodes = (await admin.describeCluster()).brokers.length;
    const copies = Math.min(3, nodes);
    const partitions = { ...FEW, deliver: 3, events: 2 };
    const options = optionsOf(prefix, { partitions, replicationFactor: null });
    const counts = await prepareTopics(admin, { ...options, log: first.log });
    expect(counts.size).toBe(15);
    expect(counts.get(`${prefix}deliver`)).toBe(3);
    expect(counts.get(`${prefix}payments.events`)).toBe(2);
    expect(first.messages()).toEqual(['topics created']);

    const [deliver] = await metadataOf(admin, [`${prefix}deliver`]);
    expect(deliver?.partitions.map(({ replicas }) => replicas.length)).toEqual([copies, copies, copies]);
    const again = listeningLog();
    const strict = { environment: 'production', replicationFactor: copies, createTopics: false } as const;
    expect(await prepareTopics(admin, { ...options, ...strict, log: again.log })).toEqual(counts);
    expect(again.messages()).toEqual([]);
  });

  it('are created once when several processes start at once', async () => {
    const prefix = newPrefix();
    const logs = [1, 2, 3].map(listeningLog);
    const clients = logs.map(({ log }) => adminOf(brokers, log));
    await Promise.all(clients.map((client) => client.connect()));
    const counts = await Promise.all(
      clients.map((client, index) => prepareTopics(client, optionsOf(prefix, logs[index]))),
    );
    await Promise.all(clients.map((client) => client.disconnect()));
    expect(counts.map((each) => [...each.values()].every((count) => count === 1))).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('are not created when that is off, and all missing ones are named', async () => {
    const prefix = newPrefix();
    const missing = topicSpecs(optionsOf(prefix), 1).map(({ topic }) => topic);
    await expect(prepareTopics(admin, optionsOf(prefix, { createTopics: false }))).rejects.toThrow(
      `topics are missing and HOOKRAIL_KAFKA_CREATE_TOPICS is false: ${missing.join(', ')}; ` +
        '`hookrail operator topics` prints the commands that create them',
    );
    expect((await admin.listTopics()).filter((name) => name.startsWith(prefix))).toEqual([]);
  });

  it('are left to the platform in production if they are for events', async () => {
    const prefix = newPrefix();
    const { log, messages } = listeningLog();
    const options = optionsOf(prefix, { environment: 'production', log });
    await expect(prepareTopics(admin, options)).rejects.toThrow(
      `the events topic ${prefix}payments.events is missing`,
    );
    await createTopic(options.eventsTopic, 5, { 'cleanup.policy': 'compact', 'retention.ms': '3600000' });
    const counts = await whenSeen(() => prepareTopics(admin, options));
    expect(counts.get(options.eventsTopic)).toBe(5);
    expect(messages()).toEqual(
      expect.arrayContaining([
        expect.stringContaining(`${options.eventsTopic} keeps records for 1 h, not 168 h: `),
        expect.stringContaining(`${options.eventsTopic} has cleanup.policy=compact: `),
      ]),
    );
  });

  it('cannot have more copies than there are brokers', async () => {
    const refusal = prepareTopics(admin, optionsOf(newPrefix(), { replicationFactor: 9 }));
    await expect(refusal).rejects.toThrow(
      /^topics are missing and cannot have 9 replicas on \d brokers?: .*HOOKRAIL_KAFKA_REPLICATION_FACTOR$/,
    );
  });

  it('of another shape are refused in one line, and left unchanged', async () => {
    const prefix = newPrefix();
    await createTopic(`${prefix}deliver`, 2, { 'message.timestamp.type': 'LogAppendTime' });
    await createTopic(`${prefix}retry.731s`, 1, { 'retention.ms': '700000' });
    await createTopic(`${prefix}directory`, 2, { 'cleanup.policy': 'compact' });
    const { log, messages } = listeningLog();
    const error = await prepareTopics(admin, optionsOf(prefix, { log })).catch((why: Error) => why);
    const line = String(error instanceof Error ? error.message : 'not refused');
    expect(line).not.toContain('\n');
    expect(line.split('; ')).toEqual(
      expect.arrayContaining([
        expect.stringContaining(`${prefix}deliver has 2 partitions, not 1: `),
        expect.stringContaining(`${prefix}retry.731s has retention.ms=700000, not 605531000`),
        expect.stringContaining(
          `${prefix}retry.731s has message.timestamp.type=CreateTime, not LogAppendTime`,
        ),
        expect.stringContaining(`${prefix}directory has 2 partitions, not 1: its records keep their order`),
      ]),
    );
    expect(line).toContain('HOOKRAIL_KAFKA_PARTITIONS=deliver=2');
    expect(messages()).toContainEqual(expect.stringContaining(`${prefix}directory has delete.retention.ms=`));
    const [deliver] = await metadataOf(admin, [`${prefix}deliver`]);
    expect(deliver?.partitions).toHaveLength(2);
  });

  it('made by the printed commands pass the check', async () => {
    const prefix = newPrefix();
    const options = optionsOf(prefix);
    for (const command of topicCommands(topicSpecs(options, 1), brokers)) {
      const given = (flag: string) =>
        [...command.matchAll(new RegExp(`--${flag} (\\S+)`, 'g'))].map(([, value]) => value ?? '');
      expect(given('replication-factor')).toEqual(['1']);
      const settings = Object.fromEntries(given('config').map((pair) => pair.split('=')));
      await createTopic(String(given('topic')[0]), Number(given('partitions')[0]), settings);
    }
    const { log, messages } = listeningLog();
    const strict = { ...options, log, environment: 'production', createTopics: false } as const;
    const counts = await whenSeen(() => prepareTopics(admin, strict));
    expect(counts.size).toBe(15);
    expect(messages()).toEqual([]);
  });
});
