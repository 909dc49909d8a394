/**
 * Promise: in production each kind of connection that crosses a network without TLS is one warning at the start, which
 * names the setting that ends it; a metric and `operator status` show the same.
 */
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { readConfig } from '../../services/config/config.ts';
import { reportPlainConnections } from '../../services/observability/plain-connections.ts';
import { runTool, toolAnswer } from '../support/service/operator-tool.ts';
import { prepareSetup, startService } from '../support/service/system.ts';

type Environment = Readonly<Record<string, string>>;

/** Nothing of it is plain. */
const PROTECTED: Environment = {
  HOOKRAIL_ENVIRONMENT: 'production',
  HOOKRAIL_ENGINE: 'kafka',
  HOOKRAIL_KAFKA_BROKERS: 'kafka-1:9092,kafka-2:9092',
  HOOKRAIL_KAFKA_TLS: 'true',
  HOOKRAIL_SCHEMA_REGISTRY_URL: 'https://registry:8081',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector:4318',
};
const PLAIN_KAFKA = { HOOKRAIL_KAFKA_TLS: 'false' };
const WITH_PASSWORD = 'http://user:tell-no-one@';

async function reported(more: Environment, isStorePlain = false) {
  const lines: { level: number; to: string; setting: string; msg: string }[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const registry = new Registry();
  reportPlainConnections(readConfig({ ...PROTECTED, ...more }), { log, registry, isStorePlain });
  const metric = await registry.getSingleMetricAsString('hookrail_plain_connection');
  for (const { level, to, setting, msg } of lines) {
    expect([level, msg.includes(setting)]).toEqual([40, true]);
    expect(metric).toContain(`hookrail_plain_connection{to="${to}",setting="${setting}"} 1`);
  }
  expect(metric.match(/^hookrail/gm) ?? []).toHaveLength(lines.length);
  expect(JSON.stringify(lines) + metric).not.toContain('tell-no-one');
  return lines.map(({ to, setting }) => [to, setting]);
}

test('a service that uses TLS for everything has nothing to report', async () => {
  expect(await reported({})).toEqual([]);
});

test.each<[string, string, Environment]>([
  ['kafka', 'HOOKRAIL_KAFKA_TLS', PLAIN_KAFKA],
  ['kafka', 'HOOKRAIL_KAFKA_TLS', { ...PLAIN_KAFKA, HOOKRAIL_KAFKA_BROKERS: '127.0.0.1:9092,kafka-2:9092' }],
  ['kafka', 'HOOKRAIL_KAFKA_TLS', { ...PLAIN_KAFKA, HOOKRAIL_KAFKA_BROKERS: '127.evil.example:9092' }],
  ['kafka', 'HOOKRAIL_KAFKA_TLS', { ...PLAIN_KAFKA, HOOKRAIL_KAFKA_BROKERS: 'localhost.:9092' }],
  ['kafka', 'HOOKRAIL_KAFKA_TLS', { ...PLAIN_KAFKA, HOOKRAIL_KAFKA_BROKERS: '2130706433:9092' }],
  ...['registry:8081', '127.0.0.1.nip.io:8081', 'localhost.evil.example', 'localhost.', '[::2]:80'].map(
    (host): [string, string, Environment] => [
      'schema-registry',
      'HOOKRAIL_SCHEMA_REGISTRY_URL',
      { HOOKRAIL_SCHEMA_REGISTRY_URL: `http://${host}/apis` },
    ],
  ),
  [
    'collector',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.evil.example:4318' },
  ],
  [
    'collector',
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'HTTP://collector/v1/traces' },
  ],
  ['egress-proxy', 'HOOKRAIL_EGRESS_PROXY', { HOOKRAIL_EGRESS_PROXY: `${WITH_PASSWORD}proxy:3128` }],
  [
    'egress-proxy',
    'HOOKRAIL_EGRESS_PROXY',
    { HOOKRAIL_EGRESS_PROXY: `${WITH_PASSWORD}127.0.0.1.nip.io:3128` },
  ],
  ['api', 'HOOKRAIL_API_HOST', { HOOKRAIL_API_HOST: '0.0.0.0' }],
  ['api', 'HOOKRAIL_API_HOST', { HOOKRAIL_API_HOST: '::' }],
  ['api', 'HOOKRAIL_API_HOST', { HOOKRAIL_API_HOST: '127.0.0.1.nip.io' }],
  ['operations', 'HOOKRAIL_OPS_HOST', { HOOKRAIL_OPS_HOST: '10.0.0.5' }],
])('%s is reported with %s for %j', async (to, setting, more) => {
  expect(await reported(more)).toEqual([[to, setting]]);
});

test('PostgreSQL without TLS is reported with the variable that has its sslmode', async () => {
  expect(await reported({}, true)).toEqual([['postgres', 'HOOKRAIL_POSTGRES_URL']]);
});

test.each<Environment>([
  { ...PLAIN_KAFKA, HOOKRAIL_KAFKA_BROKERS: '127.0.0.1:9092,localhost:9093' },
  { HOOKRAIL_SCHEMA_REGISTRY_URL: 'http://127.0.0.1:8081' },
  { HOOKRAIL_SCHEMA_REGISTRY_URL: 'http://[::1]:8081' },
  { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' },
  { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_TRACES_EXPORTER: 'none' },
  { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_SDK_DISABLED: 'true' },
  { HOOKRAIL_EGRESS_PROXY: `${WITH_PASSWORD}localhost:3128` },
  { HOOKRAIL_EGRESS_PROXY: 'http://proxy:3128' },
  { HOOKRAIL_EGRESS_PROXY: `${WITH_PASSWORD}proxy:3128`, HOOKRAIL_ROLES: 'router' },
  { HOOKRAIL_API_HOST: '0.0.0.0', HOOKRAIL_ROLES: 'router,sender' },
  { HOOKRAIL_API_HOST: '::1', HOOKRAIL_OPS_HOST: 'localhost' },
  { HOOKRAIL_API_HOST: '127.0.0.2', HOOKRAIL_OPS_HOST: '127.255.255.255' },
  { ...PLAIN_KAFKA, HOOKRAIL_ENVIRONMENT: 'sandbox', HOOKRAIL_API_HOST: '0.0.0.0' },
])('nothing is reported for %j', async (more) => {
  expect(await reported(more)).toEqual([]);
});

test('a start in production logs a line each, and the status command shows them', {
  timeout: 120_000,
}, async () => {
  const { environment } = await prepareSetup({
    HOOKRAIL_ENVIRONMENT: 'production',
    HOOKRAIL_EXTRA_CA_FILE: '',
    HOOKRAIL_EGRESS_ALLOW: '',
    HOOKRAIL_API_HOST: '0.0.0.0',
    HOOKRAIL_OPS_HOST: '0.0.0.0',
  });
  const service = await startService(environment);
  try {
    const warned = service.output.filter((line) => line.includes('"event":"plain_connection"'));
    expect(warned.map((line) => JSON.parse(line).setting)).toEqual([
      'HOOKRAIL_API_HOST',
      'HOOKRAIL_OPS_HOST',
    ]);
    const where = { ...environment, HOOKRAIL_OPS_PORT: new URL(service.operationsUrl).port };
    const { code, out } = await runTool(where, 'status');
    expect(code).toBe(0);
    expect(out).toContain('  without TLS: api (HOOKRAIL_API_HOST), operations (HOOKRAIL_OPS_HOST)\n');
    const { processes } = await toolAnswer(where, 'status');
    expect(processes[0].plainConnections).toEqual([
      { to: 'api', setting: 'HOOKRAIL_API_HOST' },
      { to: 'operations', setting: 'HOOKRAIL_OPS_HOST' },
    ]);
  } finally {
    await service.end('SIGTERM');
  }
});
