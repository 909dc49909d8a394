/** A wrong configuration of Kafka is one clear line that names the variable, and never a password. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../services/config/config.ts';
import { readRegistryCa, readTlsFiles } from '../../services/config/kafka-config.ts';
import { readSasl } from '../../services/config/kafka-sasl.ts';

const KAFKA = {
  HOOKRAIL_ENGINE: 'kafka',
  HOOKRAIL_KAFKA_BROKERS: 'kafka-1:9092, kafka-2:9092',
  HOOKRAIL_SCHEMA_REGISTRY_URL: 'https://registry:8081/apis/ccompat/v7/',
};
const OAUTH = {
  HOOKRAIL_KAFKA_SASL_MECHANISM: 'oauthbearer',
  HOOKRAIL_KAFKA_OAUTH_TOKEN_URL: 'https://login.example/token',
  HOOKRAIL_KAFKA_OAUTH_CLIENT_ID: 'hookrail',
  HOOKRAIL_KAFKA_OAUTH_CLIENT_SECRET: 's3cret',
};
const kafkaOf = (more: Record<string, string> = {}) => readConfig({ ...KAFKA, ...more }).kafka;

describe('the configuration of Kafka', () => {
  it('exists with the kafka engine only', () => {
    expect(readConfig({ ...KAFKA, HOOKRAIL_ENGINE: 'sqlite' }).kafka).toBeNull();
    expect(kafkaOf()).toEqual({
      brokers: ['kafka-1:9092', 'kafka-2:9092'],
      tls: null,
      sasl: null,
      registry: {
        url: 'https://registry:8081/apis/ccompat/v7',
        credentials: null,
        caFile: null,
        mayRegister: true,
      },
      eventsTopic: 'payments.events',
      topicPrefix: 'wh.',
      createTopics: true,
      partitions: {},
      replicationFactor: null,
      repeats: { windowMs: 3_600_000, idsMax: 1_000_000 },
    });
  });

  it.each([
    ['true', '', true],
    ['false', '', false],
    ['false', 'true', true],
    ['true', 'false', false],
  ])(
    'with HOOKRAIL_KAFKA_CREATE_TOPICS=%s and HOOKRAIL_SCHEMA_REGISTRY_REGISTER="%s" sets schema registration to %s',
    (createTopics, register, mayRegister) => {
      const kafka = kafkaOf({
        HOOKRAIL_KAFKA_CREATE_TOPICS: createTopics,
        HOOKRAIL_SCHEMA_REGISTRY_REGISTER: register,
      });
      expect(kafka?.createTopics).toBe(createTopics === 'true');
      expect(kafka?.registry.mayRegister).toBe(mayRegister);
    },
  );

  it('keeps three copies in production unless told otherwise', () => {
    expect(kafkaOf({ HOOKRAIL_ENVIRONMENT: 'production' })?.replicationFactor).toBe(3);
    const two = { HOOKRAIL_ENVIRONMENT: 'production', HOOKRAIL_KAFKA_REPLICATION_FACTOR: '2' };
    expect(kafkaOf(two)?.replicationFactor).toBe(2);
  });

  it('reads users, certificates and partition counts', () => {
    const kafka = kafkaOf({
      HOOKRAIL_KAFKA_TLS: 'true',
      HOOKRAIL_KAFKA_TLS_CA_FILE: 'ca.pem',
      HOOKRAIL_KAFKA_SASL_MECHANISM: 'scram-sha-512',
      HOOKRAIL_KAFKA_SASL_USERNAME: 'hookrail',
      HOOKRAIL_KAFKA_SASL_PASSWORD: 'p=,w',
      HOOKRAIL_SCHEMA_REGISTRY_USERNAME: 'reader',
      HOOKRAIL_SCHEMA_REGISTRY_PASSWORD: 'pw',
      HOOKRAIL_KAFKA_PARTITIONS: 'deliver=48, retry.3s=6',
      HOOKRAIL_KAFKA_CREATE_TOPICS: 'false',
    });
    expect(kafka).toMatchObject({
      tls: { caFile: 'ca.pem', certFile: '', keyFile: '' },
      sasl: { mechanism: 'scram-sha-512', username: 'hookrail', password: 'p=,w' },
      registry: { credentials: { username: 'reader', password: 'pw' } },
      partitions: { deliver: 48, 'retry.3s': 6 },
      createTopics: false,
    });
  });

  it('reads a client that asks for access tokens', () => {
    const { sasl } = kafkaOf({ ...OAUTH, HOOKRAIL_KAFKA_OAUTH_SCOPE: 'kafka' }) ?? {};
    expect(readSasl(sasl ?? null)).toEqual({
      mechanism: 'oauthbearer',
      tokenUrl: 'https://login.example/token',
      clientId: 'hookrail',
      clientSecret: 's3cret',
      scope: 'kafka',
      ca: null,
    });
  });

  it.each([
    ['', '', null],
    ['brokers.pem', '', 'brokers.pem'],
    ['brokers.pem', 'registry.pem', 'registry.pem'],
    ['', 'registry.pem', 'registry.pem'],
    ['brokers.pem', 'public', null],
  ])(
    'with the brokers’ authority "%s" and the registry’s "%s" trusts the registry by %s',
    (brokers, own, trusted) => {
      const kafka = kafkaOf({
        HOOKRAIL_KAFKA_TLS: 'true',
        HOOKRAIL_KAFKA_TLS_CA_FILE: brokers,
        HOOKRAIL_SCHEMA_REGISTRY_CA_FILE: own,
      });
      expect(kafka?.registry.caFile).toBe(trusted);
    },
  );

  it.each([
    [{ HOOKRAIL_KAFKA_BROKERS: '' }, 'HOOKRAIL_KAFKA_BROKERS is required with HOOKRAIL_ENGINE=kafka'],
    [
      { ...OAUTH, HOOKRAIL_KAFKA_OAUTH_CLIENT_SECRET: '' },
      'HOOKRAIL_KAFKA_OAUTH_CLIENT_ID is set without HOOKRAIL_KAFKA_OAUTH_CLIENT_SECRET: set all or none',
    ],
    [
      { ...OAUTH, HOOKRAIL_KAFKA_SASL_MECHANISM: 'plain' },
      'HOOKRAIL_KAFKA_OAUTH_TOKEN_URL is set, but HOOKRAIL_KAFKA_SASL_MECHANISM is not oauthbearer',
    ],
    [
      { ...OAUTH, HOOKRAIL_KAFKA_SASL_USERNAME: 'hookrail' },
      'HOOKRAIL_KAFKA_SASL_USERNAME is set, but HOOKRAIL_KAFKA_SASL_MECHANISM is oauthbearer',
    ],
    [
      { ...OAUTH, HOOKRAIL_KAFKA_OAUTH_TOKEN_URL: 'https://me:s3cret@login.example/token' },
      'HOOKRAIL_KAFKA_OAUTH_TOKEN_URL must not hold credentials',
    ],
    [{ ...OAUTH, HOOKRAIL_KAFKA_OAUTH_TOKEN_URL: 'login.example' }, 'must be an http or https URL'],
    [
      {
        ...OAUTH,
        HOOKRAIL_KAFKA_OAUTH_TOKEN_URL: 'http://127.0.0.1/token',
        HOOKRAIL_KAFKA_OAUTH_CA_FILE: 'ca.pem',
      },
      'HOOKRAIL_KAFKA_OAUTH_CA_FILE is set, but HOOKRAIL_KAFKA_OAUTH_TOKEN_URL is not https',
    ],
    [
      { HOOKRAIL_SCHEMA_REGISTRY_URL: '' },
      'HOOKRAIL_SCHEMA_REGISTRY_URL is required with HOOKRAIL_ENGINE=kafka',
    ],
    [
      { HOOKRAIL_KAFKA_BROKERS: 'kafka-1' },
      'HOOKRAIL_KAFKA_BROKERS="kafka-1" must be a comma-separated list of host:port',
    ],
    [{ HOOKRAIL_KAFKA_BROKERS: 'kafka-1:70000' }, 'must be a comma-separated list of host:port'],
    [{ HOOKRAIL_KAFKA_BROKERS: 'PLAINTEXT://kafka-1:9092' }, 'must be a comma-separated list of host:port'],
    [{ HOOKRAIL_SCHEMA_REGISTRY_URL: 'registry:8081' }, 'must be an http or https URL'],
    [{ HOOKRAIL_TOPIC_PREFIX: 'wh/' }, 'HOOKRAIL_TOPIC_PREFIX="wh/" must consist of letters'],
    [{ HOOKRAIL_EVENTS_TOPIC: '' }, 'HOOKRAIL_EVENTS_TOPIC is required'],
    [{ HOOKRAIL_KAFKA_TLS: 'yes' }, 'HOOKRAIL_KAFKA_TLS="yes" must be one of true, false'],
    [
      { HOOKRAIL_KAFKA_TLS_CA_FILE: 'ca.pem' },
      'HOOKRAIL_KAFKA_TLS_CA_FILE is set, but HOOKRAIL_KAFKA_TLS is not true',
    ],
    [
      { HOOKRAIL_KAFKA_TLS: 'true', HOOKRAIL_KAFKA_TLS_CERT_FILE: 'cert.pem' },
      'HOOKRAIL_KAFKA_TLS_CERT_FILE is set without HOOKRAIL_KAFKA_TLS_KEY_FILE',
    ],
    [
      { HOOKRAIL_KAFKA_SASL_USERNAME: 'hookrail', HOOKRAIL_KAFKA_SASL_PASSWORD: 'pw' },
      'is set without HOOKRAIL_KAFKA_SASL_MECHANISM',
    ],
    [{ HOOKRAIL_KAFKA_SASL_MECHANISM: 'gssapi' }, 'must be one of plain, scram-sha-256, scram-sha-512'],
    [
      { HOOKRAIL_SCHEMA_REGISTRY_URL: 'http://registry', HOOKRAIL_SCHEMA_REGISTRY_CA_FILE: 'ca.pem' },
      'HOOKRAIL_SCHEMA_REGISTRY_CA_FILE is set, but HOOKRAIL_SCHEMA_REGISTRY_URL is not https',
    ],
    [{ HOOKRAIL_SCHEMA_REGISTRY_USERNAME: 'reader' }, 'is set without HOOKRAIL_SCHEMA_REGISTRY_PASSWORD'],
    [
      { HOOKRAIL_KAFKA_PARTITIONS: 'deliver' },
      'HOOKRAIL_KAFKA_PARTITIONS="deliver" must be a comma-separated list of topic=count',
    ],
    [{ HOOKRAIL_KAFKA_PARTITIONS: 'deliver=0' }, 'counts from 1 to 10000'],
    [{ HOOKRAIL_KAFKA_PARTITIONS: 'deliver=2,deliver=3' }, 'HOOKRAIL_KAFKA_PARTITIONS names deliver twice'],
    [{ HOOKRAIL_KAFKA_REPLICATION_FACTOR: '-1' }, 'must be a number from 0 to 9'],
  ])('refuses %j', (more: Record<string, string>, message) => {
    expect(() => kafkaOf(more)).toThrow(message);
  });

  it('refuses credentials in the URL of the registry without repeating them', () => {
    const url = 'https://reader:tell-no-one@registry:8081';
    expect(() => kafkaOf({ HOOKRAIL_SCHEMA_REGISTRY_URL: url })).toThrow(
      /^(?!.*tell-no-one).*HOOKRAIL_SCHEMA_REGISTRY_USERNAME/,
    );
  });
});

describe('the roles of a process', () => {
  it.each(['router', 'sender', 'router,sender', 'api,recorder', 'api,recorder,sender'])(
    'may be %s alone on Kafka',
    (roles) => {
      expect(readConfig({ ...KAFKA, HOOKRAIL_ROLES: roles }).roles).toEqual(roles.split(','));
    },
  );

  it.each([
    [
      'kafka',
      'api',
      'HOOKRAIL_ROLES has api without recorder: the two share the store, a file of one process',
    ],
    ['kafka', 'recorder,sender', 'HOOKRAIL_ROLES has recorder without api'],
    ['kafka', '', 'HOOKRAIL_ROLES is empty'],
    ['sqlite', 'api,recorder', 'HOOKRAIL_ROLES leaves out router, sender'],
  ])('may not be, with %s, "%s"', (engine, roles, message) => {
    expect(() => readConfig({ ...KAFKA, HOOKRAIL_ENGINE: engine, HOOKRAIL_ROLES: roles })).toThrow(message);
  });
});

describe('the TLS files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hookrail-tls-'));
  const file = (name: string) => join(folder, name);
  beforeAll(async () => {
    const made = await generate([{ name: 'commonName', value: 'kafka' }]);
    const other = await generate([{ name: 'commonName', value: 'other' }]);
    writeFileSync(file('cert.pem'), made.cert);
    writeFileSync(file('key.pem'), made.private);
    writeFileSync(file('other-key.pem'), other.private);
    writeFileSync(file('text.pem'), 'no certificate');
    writeFileSync(file('broken.pem'), '-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----\n');
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const read = (ca: string, cert = '', key = '') =>
    readTlsFiles({ caFile: ca && file(ca), certFile: cert && file(cert), keyFile: key && file(key) });

  it('are read as text', () => {
    expect(readTlsFiles(null)).toBeNull();
    expect(read('')).toEqual({ ca: null, cert: null, key: null });
    const tls = read('cert.pem', 'cert.pem', 'key.pem');
    expect(tls?.ca).toContain('BEGIN CERTIFICATE');
    expect(tls?.key).toContain('PRIVATE KEY');
  });

  it('of the registry’s authorities are separate from those of the brokers', () => {
    expect(readRegistryCa({ caFile: null })).toBeNull();
    expect(readRegistryCa({ caFile: file('cert.pem') })).toContain('BEGIN CERTIFICATE');
    for (const name of ['missing.pem', 'text.pem', 'broken.pem'])
      expect(() => readRegistryCa({ caFile: file(name) })).toThrow(
        /^HOOKRAIL_SCHEMA_REGISTRY_CA_FILE="[^\n]*" cannot be used: [^\n]*$/,
      );
  });

  it.each([
    ['HOOKRAIL_KAFKA_TLS_CA_FILE', ['missing.pem']],
    ['HOOKRAIL_KAFKA_TLS_CA_FILE', ['text.pem']],
    ['HOOKRAIL_KAFKA_TLS_CA_FILE', ['broken.pem']],
    ['HOOKRAIL_KAFKA_TLS_CERT_FILE', ['', 'text.pem', 'key.pem']],
    ['HOOKRAIL_KAFKA_TLS_KEY_FILE', ['', 'cert.pem', 'other-key.pem']],
  ] as const)('are named in %s when they cannot be used: %j', (name, [ca, cert, key]) => {
    expect(() => read(ca, cert, key)).toThrow(new RegExp(`^${name}="[^\n]*" cannot be used: [^\n]*$`));
  });
});
