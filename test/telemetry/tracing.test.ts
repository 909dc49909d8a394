/**
 * Guarantee: tracing is off, and nothing of its SDK loaded, unless OpenTelemetry's own variables ask for it;
 * unsupported options are logged and do not prevent the start; a collector that is down does not delay a stop.
 */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { trace } from '@opentelemetry/api';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readConfig } from '../../services/config/config.ts';
import { systemClock } from '../../services/process/clock.ts';
import { createLogger } from '../../services/telemetry/logger.ts';
import type { Tracing } from '../../services/telemetry/tracer.ts';
import { startTracing } from '../../services/telemetry/tracing.ts';
import { eventually } from '../support/eventually.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

const OFF = { exporters: [], ignored: [] };
const lines: string[] = [];
const log = createLogger('info', { write: (line) => void lines.push(line) });
const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  lines.length = 0;
  vi.unstubAllEnvs();
});

/** Whether a module of the SDK is in this process. */
function isSdkLoaded(): boolean {
  const loaded = Object.keys(createRequire(import.meta.url).cache);
  return loaded.some((path) => /@opentelemetry[\\/](sdk|exporter|resources)/.test(path));
}

async function started(environment: Record<string, string>, clock = systemClock()): Promise<Tracing> {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const tracing = await startTracing(readConfig(environment).tracing, { clock, log });
  closing.push(() => tracing.stop());
  return tracing;
}

interface Export {
  readonly url: string | undefined;
  readonly headers: Record<string, unknown>;
  readonly body: string;
}

/** A collector on loopback. */
async function startCollector(isAnswering: boolean) {
  const exports: Export[] = [];
  const server = createServer(async (request, response) => {
    const { url, headers } = request;
    const body = Buffer.concat(await request.toArray()).toString('latin1');
    exports.push({ url, headers, body });
    if (isAnswering) response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { exports, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

// The first: a module that is loaded stays loaded.
it('tracing is off without the variables, and loads nothing', async () => {
  await import('../../services/main.ts');
  const tracing = await started({});
  expect(tracing.tracer).toBeNull();
  await tracing.stop();
  await started({ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' });
  await started({ OTEL_TRACES_EXPORTER: 'otlp', OTEL_SDK_DISABLED: 'true' });
  expect(isSdkLoaded()).toBe(false);
}, 60_000);

describe('the variables of tracing', () => {
  it.each([
    [{}, OFF],
    [{ OTEL_TRACES_EXPORTER: '' }, OFF],
    [{ OTEL_TRACES_EXPORTER: 'none' }, OFF],
    [{ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, OFF],
    [{ OTEL_SDK_DISABLED: 'TRUE', OTEL_TRACES_EXPORTER: 'otlp' }, OFF],
    [{ OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' }, OFF],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, { ...OFF, exporters: ['otlp'] }],
    [{ OTEL_TRACES_EXPORTER: ' otlp, console,otlp' }, { ...OFF, exporters: ['otlp', 'console'] }],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, { ...OFF, exporters: ['otlp'] }],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:4318/v1/traces' }, { ...OFF, exporters: ['otlp'] }],
    [
      { OTEL_SDK_DISABLED: 'false', OTEL_TRACES_EXPORTER: 'console' },
      { ...OFF, exporters: ['console'] },
    ],
  ])('are understood: %o', (environment, expected) => {
    expect(readConfig(environment).tracing).toEqual(expected);
  });

  it('name an option that is not supported, while the service continues', async () => {
    const environment = { OTEL_TRACES_EXPORTER: 'zipkin,otlp', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
    const { tracer } = await started(environment);
    expect(tracer).toBeNull();
    expect(lines.join('')).toContain('OTEL_TRACES_EXPORTER=\\"zipkin\\" is not supported and ignored');
    expect(lines.join('')).toContain('OTEL_EXPORTER_OTLP_PROTOCOL=\\"grpc\\" is not supported');
  });
});

describe('tracing that is switched on', () => {
  it('sends spans to the collector at the latest at the stop, with its headers and the service’s name', async () => {
    const collector = await startCollector(true);
    const tracing = await started({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=payments',
    });
    expect(isSdkLoaded()).toBe(true);
    tracing.tracer?.startSpan('a span of the test').end();
    await tracing.stop();
    expect(collector.exports).toHaveLength(1);
    expect(collector.exports[0]).toMatchObject({ url: '/v1/traces', headers: { 'x-tenant': 'payments' } });
    expect(collector.exports[0]?.body).toContain('a span of the test');
    expect(collector.exports[0]?.body).toMatch(/service\.name\W+hookrail/);
  });

  it('uses the name of OTEL_SERVICE_NAME, and samples as OTEL_TRACES_SAMPLER says', async () => {
    const collector = await startCollector(true);
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const named = await started({ ...endpoint, OTEL_SERVICE_NAME: 'webhooks-eu' });
    named.tracer?.startSpan('kept').end();
    await named.stop();
    expect(collector.exports[0]?.body).toMatch(/service\.name\W+webhooks-eu/);
    const unsampled = await started({ ...endpoint, OTEL_TRACES_SAMPLER: 'always_off' });
    unsampled.tracer?.startSpan('dropped').end();
    await unsampled.stop();
    expect(collector.exports).toHaveLength(1);
  });

  it('stops in time when the collector does not answer', async () => {
    const collector = await startCollector(false);
    const clock = new SimulatedClock();
    const tracing = await started({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, clock);
    tracing.tracer?.startSpan('a span of the test').end();
    const stopped = tracing.stop();
    await eventually('the export is under way', () => collector.exports.length === 1);
    clock.advance(3000);
    await stopped;
  });

  it('says that the collector cannot be reached, in a line without the headers', async () => {
    const tracing = await started({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-test',
      // The exporter tries again for as long as this.
      OTEL_EXPORTER_OTLP_TIMEOUT: '200',
    });
    tracing.tracer?.startSpan('a span of the test').end();
    await tracing.stop();
    expect(lines.join('')).toContain('"msg":"tracing: ');
    expect(lines.join('')).not.toContain('of-the-test');
  });

  it('uses an SDK that is registered already, and leaves it unchanged', async () => {
    const { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } = await import(
      '@opentelemetry/sdk-trace-base'
    );
    const exporter = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    trace.setGlobalTracerProvider(provider);
    closing.push(() => trace.disable());
    const tracing = await started({});
    tracing.tracer?.startSpan('a span of the test').end();
    await tracing.stop();
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['a span of the test']);
  });
});
