/**
 * Guarantee: a start with an unusable Kafka or registry explains itself in one clear line, and exits with a code that
 * is not 0. (TLS and users: secured.test.ts; the rules for topics: test/broker/kafka/topics/topic-check.test.ts.)
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ITopicConfig, Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { kafkaEnvironment } from '../../support/kafka/environment.ts';
import { describeWithKafka, freshPrefix } from '../../support/kafka/suites.ts';
import { prepareSetup, type ServiceSetup, startService } from '../../support/service/system.ts';

const CASE_MS_MAX = 150_000;
const DAY_MS = 86_400_000;
/** More than any broker of ours keeps its groups' offsets. */
const KEPT_DAYS = 400;
/** As ours are: these topics have one fault each. */
const APPENDED = [{ name: 'message.timestamp.type', value: 'LogAppendTime' }];
/** What only a sandbox may have is not given. */
const PRODUCTION = {
  HOOKRAIL_ENVIRONMENT: 'production',
  HOOKRAIL_KAFKA_CREATE_TOPICS: 'true',
  HOOKRAIL_EXTRA_CA_FILE: '',
  HOOKRAIL_EGRESS_ALLOW: '',
};

await describeWithKafka('the service refuses to start on Kafka, in one line,', (kafka) => {
  let setup: ServiceSetup;
  beforeAll(async () => {
    setup = await prepareSetup();
  }, CASE_MS_MAX);
  afterAll(() => rmSync(setup.dataDir, { recursive: true, force: true }));

  /** Starts the service and returns what it wrote until it exited; fails when it started, or exited with 0. */
  async function refusal(change: Record<string, string>, prefix = freshPrefix()): Promise<string> {
    const environment = { ...setup.environment, ...kafkaEnvironment(kafka, prefix), ...change };
    const started = await startService(environment).catch((error: Error) => error);
    if (!(started instanceof Error)) {
      await started.end('SIGKILL');
      throw new Error('it started');
    }
    const [ending, ...lines] = started.message.split('\n');
    expect(ending).toBe('the service exited with code 1:');
    // The log before it: topics created, or a registry that is waited for.
    const said = lines.filter((line) => !line.startsWith('{'));
    expect(lines.length - said.length, lines.join('\n')).toBeLessThanOrEqual(2);
    expect(said, 'one line').toHaveLength(1);
    return said[0] ?? '';
  }

  /** A topic that was there before us. */
  async function exists(config: ITopicConfig): Promise<void> {
    const admin = new Kafka({ brokers: kafka.brokers, logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    await admin.createTopics({ topics: [config], waitForLeaders: false });
    await admin.disconnect();
  }

  it.each([
    [
      'a broker that is not there',
      { HOOKRAIL_KAFKA_BROKERS: '127.0.0.1:1' },
      /127\.0\.0\.1:1.*HOOKRAIL_KAFKA_BROKERS/,
    ],
    [
      'a name that does not exist',
      { HOOKRAIL_KAFKA_BROKERS: 'kafka.invalid:9092' },
      /kafka\.invalid.*HOOKRAIL_KAFKA_BROKERS/,
    ],
    ['no brokers', { HOOKRAIL_KAFKA_BROKERS: '' }, /HOOKRAIL_KAFKA_BROKERS is required/],
    [
      'missing topics',
      { HOOKRAIL_KAFKA_CREATE_TOPICS: 'false' },
      /topics are missing.*hookrail operator topics/,
    ],
    [
      'more replicas than brokers',
      { HOOKRAIL_KAFKA_REPLICATION_FACTOR: '9' },
      /9 replicas.*HOOKRAIL_KAFKA_REPLICATION_FACTOR/,
    ],
    ['TLS that the brokers do not speak', { HOOKRAIL_KAFKA_TLS: 'true' }, /HOOKRAIL_KAFKA_TLS/],
    ['a password that is half given', { HOOKRAIL_KAFKA_SASL_USERNAME: 'u' }, /HOOKRAIL_KAFKA_SASL_PASSWORD/],
    [
      'a user where none is asked for',
      {
        HOOKRAIL_KAFKA_SASL_MECHANISM: 'plain',
        HOOKRAIL_KAFKA_SASL_USERNAME: 'u',
        HOOKRAIL_KAFKA_SASL_PASSWORD: 'secret-word',
      },
      /HOOKRAIL_KAFKA_SASL_MECHANISM/,
    ],
  ])(
    'with %s',
    async (_, change, line) => {
      const said = await refusal(change);
      expect(said).toMatch(line);
      expect(said).not.toContain('secret-word');
    },
    CASE_MS_MAX,
  );

  it(
    'with a wrong partition count',
    async () => {
      const prefix = freshPrefix();
      await exists({ topic: `${prefix}deliver`, numPartitions: 5 });
      const said = await refusal({}, prefix);
      expect(said).toContain(`${prefix}deliver has 5 partitions, not 3`);
      expect(said).toContain('HOOKRAIL_KAFKA_PARTITIONS=deliver=5');
    },
    CASE_MS_MAX,
  );

  it(
    'with a topic that has too few replicas',
    async () => {
      const prefix = freshPrefix();
      await exists({
        topic: `${prefix}deliver`,
        numPartitions: 3,
        replicationFactor: 1,
        configEntries: APPENDED,
      });
      const said = await refusal({ HOOKRAIL_KAFKA_REPLICATION_FACTOR: '2' }, prefix);
      expect(said).toContain(`${prefix}deliver has 1 replica, not 2`);
      expect(said).toContain('HOOKRAIL_KAFKA_REPLICATION_FACTOR');
    },
    CASE_MS_MAX,
  );

  it(
    'in production with records kept longer than groups remember their position',
    async () => {
      const prefix = freshPrefix();
      const minutes = KEPT_DAYS * 24 * 60;
      // The platform's own: nobody else makes it in production.
      await exists({ topic: kafkaEnvironment(kafka, prefix).HOOKRAIL_EVENTS_TOPIC, numPartitions: 3 });
      const retention = { name: 'retention.ms', value: `${KEPT_DAYS * DAY_MS}` };
      await exists({ topic: `${prefix}deliver`, numPartitions: 3, configEntries: [...APPENDED, retention] });
      const said = await refusal(PRODUCTION, prefix);
      expect(said).toMatch(/^.*offsets\.retention\.minutes of the brokers is \d+, and/);
      expect(said).toContain(`${prefix}deliver keeps records for ${minutes} minutes`);
      expect(said).toContain(`set it to more than ${minutes} on every broker`);
    },
    CASE_MS_MAX,
  );

  it(
    'without a registry, or with a URL that is not one',
    async () => {
      const prefix = freshPrefix();
      expect(await refusal({ HOOKRAIL_SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1' }, prefix)).toMatch(
        /127\.0\.0\.1:1.*HOOKRAIL_SCHEMA_REGISTRY_URL|HOOKRAIL_SCHEMA_REGISTRY_URL.*127\.0\.0\.1:1/,
      );
      const url = `${new URL(kafka.registryUrl).origin}/nothing-here`;
      expect(await refusal({ HOOKRAIL_SCHEMA_REGISTRY_URL: url }, prefix)).toContain(
        'HOOKRAIL_SCHEMA_REGISTRY_URL',
      );
    },
    2 * CASE_MS_MAX,
  );

  it(
    'with a file of authorities that holds none',
    async () => {
      const file = join(setup.dataDir, 'no.pem');
      writeFileSync(file, 'not a certificate');
      const said = await refusal({ HOOKRAIL_KAFKA_TLS: 'true', HOOKRAIL_KAFKA_TLS_CA_FILE: file });
      expect(said).toContain('HOOKRAIL_KAFKA_TLS_CA_FILE');
    },
    CASE_MS_MAX,
  );
});
