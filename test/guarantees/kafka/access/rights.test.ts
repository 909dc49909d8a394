/**
 * Guarantee: with an authorizer, the ACLs that `hookrail operator topics` prints are enough for everything; where
 * one is missing, the log names once the right, the resource and the command, `/readyz` names it too, every other
 * part continues, and waiting records continue when the right is granted.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LocalKafka, startLocalKafka } from '../../../../scripts/local-kafka/cluster.ts';
import { topicSpecs } from '../../../../services/broker/kafka/topics/topics.ts';
import { readConfig } from '../../../../services/config/config.ts';
import { createAuthority, issueCertificate } from '../../../../simulator/receiver/certificate-authority.ts';
import { eventually } from '../../../support/eventually.ts';
import { addAcls, removeAcls } from '../../../support/kafka/acls.ts';
import { kafkaEnvironment } from '../../../support/kafka/environment.ts';
import { FleetProcess, type FleetRole } from '../../../support/kafka/fleet.ts';
import { describeWhereKafkaStarts, freshPrefix } from '../../../support/kafka/suites.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../../../support/receivers/logging-receiver.ts';
import { eventOf, jsonEventOf } from '../../../support/records/events.ts';
import { MerchantClient } from '../../../support/service/merchant-client.ts';
import { besides, runTool, toolAnswer } from '../../../support/service/operator-tool.ts';
import { prepareSetup, type ServiceSetup } from '../../../support/service/system.ts';

/** What waits for the right: the attempts of an endpoint before and after it is given back. */
interface Waits {
  readonly path: string;
  readonly before: number;
  readonly after: number;
}
const FIRST = 'under the printed ACLs';
const SECOND_ATTEMPT: Waits = { path: '/flaky', before: 1, after: 2 };
const THIRD_ATTEMPT: Waits = { path: '/bad', before: 2, after: 7 };

const PASSWORD = 'correct-horse-battery';
const ROLES = ['api', 'router', 'sender'] as const;
const CASE_MS_MAX = 120_000;
/** A reader that is refused is made anew within this. */
const NOTICED_MS = 30_000;

await describeWhereKafkaStarts('hookrail on brokers with an authorizer', () => {
  const prefix = freshPrefix();
  const retries = `${prefix}retry.3s`;
  const fleet = {} as Record<FleetRole, FleetProcess>;
  let cluster: LocalKafka;
  let admin: Admin;
  let setup: ServiceSetup;
  let environment: Record<string, string>;
  let receiver: LoggingReceiver;
  let merchant: MerchantClient;

  beforeAll(async () => {
    const authority = await createAuthority();
    const certificate = await issueCertificate(authority, { hosts: ['127.0.0.1'] });
    const others = ROLES.map((role) => `hookrail-${role}`);
    const secured = { username: 'nobody', password: PASSWORD, others, authorizes: true, ...certificate };
    const options = { nodes: 1, registry: true, isShortLived: true, environment: process.env };
    cluster = await startLocalKafka({ ...options, secured });
    setup = await prepareSetup();
    const caFile = join(setup.dataDir, 'brokers.pem');
    writeFileSync(caFile, authority.certPem);
    const { registryUrl, nodes } = cluster;
    environment = {
      ...setup.environment,
      ...kafkaEnvironment({ brokers: [nodes[0]?.securedBroker ?? ''], registryUrl }, prefix),
      HOOKRAIL_KEYRING: join(setup.dataDir, 'keyring.json'),
      HOOKRAIL_RETRY_SCALE: '10000',
      HOOKRAIL_KAFKA_TLS: 'true',
      HOOKRAIL_KAFKA_TLS_CA_FILE: caFile,
      HOOKRAIL_KAFKA_SASL_MECHANISM: 'plain',
      HOOKRAIL_KAFKA_SASL_USERNAME: 'hookrail-api',
      HOOKRAIL_KAFKA_SASL_PASSWORD: PASSWORD,
      HOOKRAIL_KAFKA_CREATE_TOPICS: 'false',
      HOOKRAIL_SCHEMA_REGISTRY_REGISTER: 'true',
    };
    admin = new Kafka({ brokers: cluster.brokers, logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    await createTopics();
    const { out } = await runTool(environment, 'topics');
    await addAcls(
      admin,
      out.split('\n').filter((line) => line.startsWith('kafka-acls.sh')),
    );
    receiver = await startLoggingReceiver(setup.receiverCert, ({ path, attempt }) =>
      path === '/good' || (path === '/flaky' && attempt > 1) ? 200 : 500,
    );
    for (const role of ROLES) {
      fleet[role] = aProcess(role);
      await fleet[role].start();
    }
    await Promise.all(ROLES.map((role) => fleet[role].untilReady()));
    merchant = new MerchantClient(setup, () => fleet.api.service);
    for (const path of ['/good', '/flaky', '/bad']) await merchant.createEndpoint(`${receiver.url}${path}`);
    await sleep(1500);
  }, 300_000);

  afterAll(async () => {
    await Promise.all(Object.values(fleet).map((process) => process.end('SIGKILL')));
    await receiver?.close();
    await admin?.disconnect();
    await cluster?.stop();
    rmSync(setup.dataDir, { recursive: true, force: true });
  }, 60_000);

  async function createTopics(): Promise<void> {
    const { kafka } = readConfig(environment);
    if (!kafka) throw new Error('the environment is that of Kafka');
    const topics = topicSpecs(kafka, 1).map(({ topic, partitions, settings }) => ({
      topic,
      numPartitions: partitions,
      configEntries: Object.entries(settings).map(([name, value]) => ({ name, value })),
    }));
    await admin.createTopics({ topics, waitForLeaders: false });
  }

  function aProcess(role: FleetRole): FleetProcess {
    const dataDir = role === 'api' ? setup.dataDir : join(setup.dataDir, role);
    mkdirSync(dataDir, { recursive: true });
    const own = { HOOKRAIL_DATA_DIR: dataDir, HOOKRAIL_KAFKA_SASL_USERNAME: `hookrail-${role}` };
    return new FleetProcess(role, role, { ...environment, ...own });
  }

  /** A line that grants the sender's user something. */
  const toSender = (operation: string, resource: string) =>
    `kafka-acls.sh --bootstrap-server ${environment.HOOKRAIL_KAFKA_BROKERS} --add ` +
    `--allow-principal User:hookrail-sender --operation ${operation} ${resource}`;
  const arrivalsAt = (path: string, eventId: string) =>
    receiver.arrivals.filter((arrival) => arrival.path === path && arrival.eventId === eventId);
  const said = (role: FleetRole, text: string) => fleet[role].output.filter((line) => line.includes(text));
  async function waiting(role: FleetRole): Promise<string> {
    const answer = await fetch(`${fleet[role].service.operationsUrl}/readyz`);
    return ((await answer.json()) as { waiting: string[] }).waiting.join('\n');
  }

  async function published(seed: string): Promise<string> {
    const event = jsonEventOf(setup.merchantId, seed);
    expect((await merchant.publish([event])).status).toBe(202);
    return event.header.eventId;
  }

  /** Takes a right of the sender away, and gives it back by the command that the log and /readyz name. */
  async function without(right: string, grants: string, waits: Waits): Promise<void> {
    await removeAcls(admin, [grants]);
    await sleep(1000);
    const eventId = await published(right);
    const text = `${right}; `;
    await eventually('the missing right is reported', () => said('sender', text).length > 0, NOTICED_MS);
    await eventually('the others continue', () => arrivalsAt('/good', eventId).length === 1, NOTICED_MS);
    await eventually(
      'readiness names the missing right',
      async () => (await waiting('sender')).includes(text),
      NOTICED_MS,
    );
    // Long enough for several tries.
    await sleep(8000);
    const later = await published(`${right}, later`);
    await eventually('the others continue', () => arrivalsAt('/good', later).length === 1, NOTICED_MS);
    expect(said('sender', text), 'it is told once').toHaveLength(1);
    expect(await waiting('sender')).toContain(text);
    expect(arrivalsAt(waits.path, eventId)).toHaveLength(waits.before);
    const [, command = ''] = /(kafka-acls\.sh [^"]*)/.exec(said('sender', text)[0] ?? '') ?? [];
    expect(command.trim()).toBe(grants);
    await addAcls(admin, [command]);
    await eventually(
      'the waiting delivery arrives',
      () => arrivalsAt(waits.path, eventId).length === waits.after,
      NOTICED_MS,
    );
    await eventually('the report is gone', async () => !(await waiting('sender')).includes(text), NOTICED_MS);
    await fleet.sender.untilReady();
    expect(said('sender', text), 'it is told once').toHaveLength(1);
  }

  it(
    'delivers, retries, exhausts and quarantines under the printed ACLs',
    async () => {
      const eventId = await published(FIRST);
      await eventually('the event is delivered', () => arrivalsAt('/good', eventId).length === 1, 30_000);
      await eventually('the event is retried', () => arrivalsAt('/flaky', eventId).length === 2, 30_000);
      await eventually('the delivery is exhausted', () => arrivalsAt('/bad', eventId).length === 7, 60_000);
      const tool = besides(environment, fleet.api.service);
      const deadLetters = async () => (await toolAnswer(tool, 'dead-letters', 'list')) as object[];
      await eventually('the dead letter is listed', async () => (await deadLetters()).length === 1, 30_000);
      const { entityId } = eventOf(setup.merchantId, FIRST);
      const conflict = jsonEventOf(setup.merchantId, 'with the id of another one', { eventId, entityId });
      expect((await merchant.publish([conflict])).status).toBe(202);
      const stored = async () => (await toolAnswer(tool, 'quarantine', 'list')) as { asNewEvent: string }[];
      await eventually('the record is in quarantine', async () => (await stored()).length === 1, 30_000);
      const [{ asNewEvent: newId = '' } = {}] = await stored();
      const replayed = await toolAnswer(tool, 'quarantine', 'replay', '--all', '--as-new-event');
      expect(replayed).toMatchObject({ replayed: 1 });
      await eventually('it is delivered', () => arrivalsAt('/good', newId).length === 1, 30_000);
      await eventually('the quarantine is empty', async () => (await stored()).length === 0, 30_000);
      for (const role of ROLES) expect([role, said(role, 'AUTHORIZATION_FAILED')]).toEqual([role, []]);
    },
    CASE_MS_MAX,
  );

  it(
    'reports a loss and acknowledges it under the printed ACLs',
    async () => {
      const topic = `${prefix}events.in`;
      const eventId = await published('before the loss');
      await eventually('the event is delivered', () => arrivalsAt('/good', eventId).length === 1, 30_000);
      expect(await fleet.router.end('SIGTERM')).toBe(0);
      await published('before the loss');
      const ends = await admin.fetchTopicOffsets(topic);
      const partitions = ends.map(({ partition, high }) => ({ partition, offset: high }));
      await admin.deleteTopicRecords({ topic, partitions });
      const tool = besides(environment, fleet.api.service);
      const [acknowledged, ...more] = await toolAnswer(tool, 'streams', 'acknowledge', topic);
      expect([acknowledged, more]).toEqual([expect.objectContaining({ topic, records: 1 }), []]);
      await fleet.router.start();
      await fleet.router.untilReady();
      const later = await published('after the loss');
      await eventually('the next event is delivered', () => arrivalsAt('/good', later).length === 1, 30_000);
      expect(await waiting('router')).not.toContain('deleted before they were read');
      for (const role of ROLES) expect([role, said(role, 'may not be read')]).toEqual([role, []]);
    },
    CASE_MS_MAX,
  );

  it(
    'without WRITE on one topic names the right once and continues with the others',
    async () => {
      await without(
        `the Kafka user lacks WRITE on topic ${prefix}retry.66s`,
        toSender('Write', `--topic ${prefix}retry.66s`),
        THIRD_ATTEMPT,
      );
    },
    CASE_MS_MAX,
  );

  it(
    'without READ on one topic names the right once and continues with the others',
    async () => {
      await without(
        `the Kafka user lacks READ on topic ${retries}`,
        toSender('Read', `--topic ${retries}`),
        SECOND_ATTEMPT,
      );
    },
    CASE_MS_MAX,
  );

  it(
    'without READ on one consumer group names the right once and continues with the others',
    async () => {
      const groups = topicSpecs({ topicPrefix: prefix, eventsTopic: '', partitions: {} }, 1).map(
        ({ shortName }) => `--group ${prefix}${shortName === 'events' ? 'events.in' : shortName}`,
      );
      const each = groups.map((group) => toSender('Read', group));
      await addAcls(admin, [
        ...each,
        toSender('Read', `--group ${prefix}directory. --resource-pattern-type prefixed`),
      ]);
      await removeAcls(admin, [toSender('Read', `--group ${prefix} --resource-pattern-type prefixed`)]);
      await without(
        `the Kafka user lacks READ on group ${retries}`,
        toSender('Read', `--group ${retries}`),
        SECOND_ATTEMPT,
      );
    },
    CASE_MS_MAX,
  );

  it(
    'without DESCRIBE on a topic does not start, and says so in one line',
    async () => {
      const topic = `${prefix}dead`;
      const lost = [
        toSender('Write', `--topic ${topic}`),
        toSender('Describe', `--topic ${topic}`),
        toSender('DescribeConfigs', `--topic ${topic}`),
      ];
      await removeAcls(admin, lost);
      await sleep(1000);
      expect(await fleet.sender.end('SIGTERM')).toBe(0);
      await expect(fleet.sender.start(0)).rejects.toThrow(
        `hookrail did not start: the Kafka user lacks DESCRIBE on topic ${topic}: ` +
          `${toSender('Describe', `--topic ${topic}`)}; `,
      );
      await addAcls(admin, lost);
      await fleet.sender.start();
      await fleet.sender.untilReady();
    },
    CASE_MS_MAX,
  );
});
