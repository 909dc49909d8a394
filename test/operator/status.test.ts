/** `operator status` tells the state of a running service in plain words, of one process and of several. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
  expect(out.split('\n')).toEqual([
    expect.stringMatching(
      /: ready; nothing waits to be written; directory .* 0 s ago; stuck handlers: none$/,
    ),
    'events: nothing waits',
    'tasks: nothing waits',
    'delayed: nothing waits',
    'journal: nothing waits',
    'parked tasks: none',
    'overdue tasks: none',
    'quarantine: empty',
    'dead letters: empty',
  ]);
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
  expect((await runTool(where(), 'quarantine', 'summary')).out).toContain('reason=unknown_merchant  count=1');
});

test('the status command names an address where no service answers', async () => {
  const { code, err } = await runTool(where(), 'status', 'http://127.0.0.1:1');
  expect(code).toBe(1);
  expect(err).toContain('no service answers at http://127.0.0.1:1/');
});
