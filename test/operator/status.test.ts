/** `operator status` tells the state of a running service in plain words, of one process and of several. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { statusText } from '../../services/operator/cli/status-command.ts';
import { serviceStatus } from '../../services/operator/commands/service-status.ts';
import { eventually } from '../support/eventually.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { besides, runTool, toolAnswer } from '../support/service/operator-tool.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';

let setup: ServiceSetup;
let service: Service;
const where = () => besides(setup.environment, service);

beforeAll(async () => {
  setup = await prepareSetup();
  service = await startService(setup.environment);
}, 60_000);
afterAll(async () => {
  await service?.end('SIGTERM');
});

test('the status command shows streams, producer, directory, quarantine and dead letters', async () => {
  const { code, out } = await runTool(where(), 'status');
  expect(code).toBe(0);
  const [ready, more, run, ...others] = out.split('\n');
  expect(`${ready} ${more?.trimStart()}`).toMatch(
    /: ready; nothing waits to be written; directory .* 0 s ago; stuck handlers: none$/,
  );
  expect(run).toBe(`  version ${manifest.version}, up for ${/\d+ s$/.exec(run ?? '')}`);
  expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(others).toEqual([
    'events: nothing waits',
    'tasks: nothing waits',
    'delayed: nothing waits',
    'journal: nothing waits',
    'parked tasks: none',
    'overdue tasks: none',
    'quarantine: empty',
    'dead letters: empty',
    'merchants on hold: none',
    'endpoints: 0 active, 0 of them failing; 0 disabled, 0 of them by hookrail',
    expect.stringMatching(/^free disk: [1-9]\d* MiB$/),
  ]);
});

test('the status command tells the version and the uptime of each process, by the clock of its machine', async () => {
  const own = { version: manifest.version, uptimeSeconds: expect.any(Number) };
  const [{ startedAt, uptimeSeconds }] = (await toolAnswer(where(), 'status')).processes;
  expect(Math.abs(Date.parse(startedAt) + uptimeSeconds * 1000 - Date.now())).toBeLessThan(5000);
  const server = createServer(({ url }, response) => {
    response.setHeader('Date', new Date(1_000_093_600_000).toUTCString());
    const metrics = 'hookrail_build_info{version="7.8.9"} 1\nprocess_start_time_seconds 1000000000\n';
    response.end(url === '/readyz' ? JSON.stringify({ ready: true, reasons: [] }) : metrics);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  expect((await toolAnswer(where(), 'status', url)).processes).toMatchObject([
    own,
    { version: '7.8.9', startedAt: '2001-09-09T01:46:40.000Z', uptimeSeconds: 93_600 },
  ]);
  expect((await runTool(where(), 'status', url)).out).toContain('\n  version 7.8.9, up for 26 h\n');
});

test('the status command names merchants on hold and counts endpoints and the free disk', async () => {
  await runTool(where(), 'merchants', 'pause', setup.merchantId);
  const merchant = new MerchantClient(setup, () => service);
  await merchant.createEndpoint('https://localhost:9/hooks', { status: 'disabled' });
  const { merchants, freeBytes } = await toolAnswer(where(), 'status');
  expect(merchants.onHold).toEqual({ count: 1, names: [expect.any(String)] });
  expect(merchants.endpoints).toEqual({ active: 0, disabled: 1, auto_disabled: 0, failing: 0 });
  expect(freeBytes).toBeGreaterThan(0);
  const { out } = await runTool(where(), 'status');
  expect(out).toContain(`merchants on hold: 1: ${merchants.onHold.names[0]}`);
  expect(out).toContain('1 disabled, 0 of them by hookrail');
  await runTool(where(), 'merchants', 'resume', setup.merchantId);
});

test('the status command counts the quarantine by reason', async () => {
  const merchant = new MerchantClient(setup, () => service);
  const stranger = jsonEventOf(randomUUID(), 'status-1');
  expect((await merchant.publish([stranger])).status).toBe(202);
  const quarantine = async () => (await toolAnswer(where(), 'status')).quarantine;
  await eventually('the record is in quarantine', async () => (await quarantine()).length === 1);
  expect(await quarantine()).toEqual([expect.objectContaining({ reason: 'unknown_merchant', count: 1 })]);
  expect((await runTool(where(), 'status')).out).toContain('quarantine: 1 unknown_merchant');
  const text = await (await fetch(`${service.operationsUrl}/metrics`)).text();
  expect(text).toContain('hookrail_quarantined_total{reason="unknown_merchant"} 1');
  expect((await runTool(where(), 'quarantine', 'summary')).out).toMatch(
    /^unknown_merchant +1 +\d+ s ago +\d+ s ago$/m,
  );
});

test('the status command counts parked tasks by reason, with the age of the oldest', async () => {
  const merchant = new MerchantClient(setup, () => service);
  await merchant.createEndpoint('https://127.0.0.1:1/hook');
  await toolAnswer(where(), 'merchants', 'pause', setup.merchantId);
  expect((await merchant.publish([jsonEventOf(setup.merchantId, 'status-parked')])).status).toBe(202);
  const parked = async () => (await toolAnswer(where(), 'status')).parked;
  await eventually('the task is parked', async () => (await parked()).length === 1);
  expect(await parked()).toEqual([
    { reason: 'merchant_paused', count: 1, oldestSeconds: expect.any(Number) },
  ]);
  expect((await runTool(where(), 'status')).out).toMatch(
    /^parked tasks: 1 merchant_paused, the oldest for \d+ s$/m,
  );
});

test('the status command does not take an unknown age of overdue tasks for none', async () => {
  let metrics = 'hookrail_backlog{stream="tasks"} 0\n';
  const server = createServer(({ url }, response) => {
    response.end(url === '/readyz' ? JSON.stringify({ ready: true, reasons: [] }) : metrics);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const text = async () =>
    statusText(await serviceStatus([`http://127.0.0.1:${port}`], { quarantine: null, deadLetters: null }));
  expect(await text()).toContain('overdue tasks: not known yet');
  metrics += 'hookrail_oldest_overdue_seconds 42\n';
  expect(await text()).toContain('overdue tasks: the oldest for 42 s');
});

test.each(['text', 'json'])(
  'the status command ends with 1 when a process is not ready, as %s',
  async (format) => {
    const server = createServer(({ url }, response) => {
      response.writeHead(url === '/readyz' ? 503 : 200);
      response.end(url === '/readyz' ? JSON.stringify({ ready: false, reasons: ['joining'] }) : '');
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { code, out, err } = await runTool(
      where(),
      'status',
      `http://127.0.0.1:${port}`,
      '--output',
      format,
    );
    expect([code, err]).toEqual([1, '']);
    expect(out).toContain('joining');
  },
);

test('the status command names an address where no service answers', async () => {
  const { code, err } = await runTool(where(), 'status', 'http://127.0.0.1:1');
  expect(code).toBe(1);
  expect(err).toContain('no service answers at http://127.0.0.1:1/');
});
