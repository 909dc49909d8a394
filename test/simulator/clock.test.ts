/**
 * `hookrail sim clock advance` shows a schedule of 18 hours in seconds. Each attempt is made at its due time and the next
 * one counts from its end, so the delivery log has the gaps of the specification; receivers see the real time. Production
 * has no such operation.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { retryDelaySeconds } from '../../services/domain/retry.ts';
import { type Hookrail, startHookrail } from '../../services/main.ts';
import { sandboxTime } from '../../services/operator/commands/clock.ts';
import { systemClock } from '../../services/process/clock.ts';
import { SandboxClock } from '../../services/process/sandbox-clock.ts';
import { ApiClient } from '../../simulator/client/api-client.ts';
import { MerchantApi } from '../../simulator/client/merchant-api.ts';
import { UnderWay } from '../../simulator/commands/clock/under-way.ts';
import { CommandFailure, EXIT } from '../../simulator/exit.ts';
import { verifyRequest } from '../../simulator/receiver/verification.ts';
import { eventually } from '../support/eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';
import { accessTo, operationsOf, simHere } from './support/command-line.ts';

const HOUR_MS = 3_600_000;
/** Little beside a delay, and enough for a machine that is busy with other tests. */
const LATE_MS_MAX = 20_000;

let setup: ServiceSetup;
let hookrail: Hookrail;
let receiver: LoggingReceiver;
let merchant: MerchantClient;
let endpoint: { uuid: string; signing_secret: string };
let status: number | Promise<number> = 500;

beforeAll(async () => {
  setup = await prepareSetup({ HOOKRAIL_LOG_LEVEL: 'silent' });
  receiver = await startLoggingReceiver(setup.receiverCert, () => status);
  hookrail = await startHookrail(setup.environment);
  merchant = new MerchantClient(setup, () => hookrail);
  endpoint = await merchant.createEndpoint(receiver.url, { description: 'my receiver' });
});

afterAll(async () => {
  await hookrail?.stop();
  await receiver?.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

function type(...args: readonly string[]) {
  return sim('clock', ...args);
}

function sim(...args: readonly string[]) {
  return simHere(args, {
    ...accessTo(setup, hookrail),
    ...operationsOf(hookrail),
  });
}

async function typed(...args: readonly string[]) {
  const { code, stdout, stderr } = await type(...args, '--output', 'json');
  expect(code, stderr).toBe(EXIT.ok);
  return JSON.parse(stdout);
}

/** Publishes an event and waits until its first attempt is recorded. */
async function publish(seed: string): Promise<void> {
  const event = jsonEventOf(setup.merchantId, seed);
  expect((await merchant.publish([event])).status).toBe(202);
  await eventually('the first attempt is recorded', async () => {
    const { body } = await merchant.request('GET', `/merchant/deliveries?limit=100`);
    const found = body.data.find((each: { event_uuid: string }) => each.event_uuid === event.header.eventId);
    return found?.attempts_made > 0;
  });
}

async function logged() {
  const path = `/merchant/webhook-endpoints/${endpoint.uuid}/deliveries`;
  const { body } = await merchant.request('GET', path);
  const ids: string[] = body.data.map((each: { delivery_uuid: string }) => each.delivery_uuid);
  return Promise.all(ids.map(async (id) => (await merchant.request('GET', `${path}/${id}`)).body));
}

test('the clock moves on with nothing to do, and the log follows', async () => {
  const moved = await typed('advance', '6h');
  expect(moved).toMatchObject([{ kind: 'clock', attempts: 0, next_due_at: null }]);
  const shown = await typed('show');
  expect(shown.ahead_ms).toBeGreaterThan(5.9 * HOUR_MS);
  expect(Date.parse(shown.now) - Date.now()).toBeGreaterThan(5.9 * HOUR_MS);
});

test('advance shows attempts three to seven and auto_disabled, with the gaps of the specification', async () => {
  for (const seed of ['one', 'two', 'three']) await publish(seed);
  await typed('advance', '60s');
  expect(receiver.arrivals.map(({ attempt }) => attempt).sort()).toEqual([1, 1, 1, 2, 2, 2]);
  const [first, second] = [await typed('advance', '13h'), await typed('advance', '13h')];
  const numbers = (entries: { kind: string; number: number }[]) =>
    entries.flatMap(({ kind, number }) => (kind === 'attempt' ? [number] : []));
  expect(numbers(first)).toEqual([3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6]);
  // The twentieth failure, 24 hours after the creation, disables it: the third delivery may be on its way by then, or not.
  expect(numbers(second)).toEqual([7, 7, ...numbers(second).slice(2)]);
  expect(second).toContainEqual(
    expect.objectContaining({
      kind: 'auto_disabled',
      endpoint_uuid: endpoint.uuid,
      disabled_reason: 'consecutive_failures',
    }),
  );
  const deliveries = await logged();
  expect(deliveries.filter((each) => each.status === 'exhausted').length).toBe(numbers(second).length);
  for (const { attempts, status: ended } of deliveries) {
    expect(attempts.length).toBe(ended === 'exhausted' ? 7 : 6);
    for (let retry = 1; retry < attempts.length; retry += 1) {
      const [before, after] = [attempts[retry - 1], attempts[retry]];
      const gapMs = Date.parse(after.started_at) - Date.parse(before.started_at) - before.duration_ms;
      // The log's times are cut to whole milliseconds.
      expect(gapMs).toBeGreaterThanOrEqual(retryDelaySeconds(retry) * 1000 - 2);
      expect(gapMs).toBeLessThan(retryDelaySeconds(retry) * 1000 + LATE_MS_MAX);
    }
  }
});

test('a receiver sees the real time in a valid signature, and the log shows the headers that were sent', async () => {
  const sent = new Map(receiver.arrivals.map((each) => [`${each.deliveryId} ${each.attempt}`, each]));
  expect(sent.size).toBeGreaterThanOrEqual(20);
  for (const arrival of sent.values()) {
    const { checks } = verifyRequest(arrival, endpoint.signing_secret, arrival.at / 1000);
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
  }
  for (const { delivery_uuid, attempts } of await logged()) {
    for (const { number, request_headers: shown } of attempts) {
      const headers = sent.get(`${delivery_uuid} ${number}`)?.headers;
      expect(shown['webhook-timestamp']).toBe(headers?.['webhook-timestamp']);
      expect(shown['webhook-signature']).toBe(headers?.['webhook-signature']);
    }
  }
});

test('after a restart the clock is where it was, and a retry is due at its time', async () => {
  const before = await typed('show');
  await merchant.request('PATCH', `/merchant/webhook-endpoints/${endpoint.uuid}`, { status: 'active' });
  await publish('restarted');
  await typed('advance', '60s');
  const [waiting] = await logged();
  expect(waiting.attempts_made).toBe(2);
  await hookrail.stop();
  hookrail = await startHookrail(setup.environment);
  const after = await typed('show');
  expect(after.ahead_ms).toBeGreaterThanOrEqual(before.ahead_ms);
  expect(Date.parse(after.now)).toBeGreaterThan(Date.parse(before.now));
  expect(Date.parse(after.next_due_at)).toBeCloseTo(Date.parse(waiting.next_attempt_at), -2);
  status = 204;
  const entries: { kind: string }[] = await typed('advance', 'next-retry');
  // A delivery of before may be cancelled meanwhile.
  const made = entries.filter(({ kind }) => kind !== 'cancelled');
  expect(made).toMatchObject([{ kind: 'attempt', number: 3, outcome: 'delivered' }, { kind: 'clock' }]);
});

test('the command line reads the service’s times by the service’s clock', async () => {
  await merchant.request('PATCH', `/merchant/webhook-endpoints/${endpoint.uuid}`, { status: 'active' });
  status = 204;
  const run = await sim('run', 'kyc.happy', '--speed', 'instant', '--expect', '--output', 'json');
  expect(run.code, run.stderr).toBe(EXIT.ok);
  const items: { kind: string; at?: string; met?: boolean }[] = JSON.parse(run.stdout);
  const { now } = await typed('show');
  for (const { at = '' } of items.filter(({ kind }) => kind === 'sent'))
    expect(Math.abs(Date.parse(at) - Date.parse(now))).toBeLessThan(LATE_MS_MAX * 3);
  status = 500;
  const waited = await sim('trigger', 'KYC/FULL_USER', '--wait', '1s');
  expect([waited.code, waited.stderr]).toEqual([EXIT.timeout, expect.stringContaining('attempt 2 in ')]);
  const listed = await sim('deliveries', 'list', '--since', '30m', '--status', 'failed');
  expect(listed.stdout).toMatch(/KYC\/FULL_USER +failed 1\/7 +500 +next in \d s/);
  const [id] = /[0-9a-f]{8}(?= {2}KYC)/.exec(listed.stdout) ?? [];
  expect((await sim('deliveries', 'get', id ?? '')).stdout).toMatch(/… 2 +in \d s/);
  const before = await sim('events', 'list', '--until', '1h', '--limit', '100', '--output', 'json');
  const events: { created_at: string }[] = JSON.parse(before.stdout);
  expect(events.length).toBeGreaterThan(0);
  for (const { created_at } of events)
    expect(Date.parse(created_at)).toBeLessThan(Date.parse(now) - HOUR_MS / 2);
  status = 204;
  await typed('advance', 'next-retry');
});

test('a person reads a line per attempt, and the command that enables the endpoint again', async () => {
  status = 410;
  await publish('gone');
  status = 500;
  await merchant.request('PATCH', `/merchant/webhook-endpoints/${endpoint.uuid}`, { status: 'active' });
  await publish('pretty');
  status = 410;
  const { stdout, code } = await type('advance', 'next-retry');
  expect(code).toBe(EXIT.ok);
  expect(stdout).toMatch(/✗ .* fiatToCrypto\/SUCCESS +attempt 2 +410 +→ refused/);
  expect(stdout).toContain('endpoint my receiver: auto_disabled (gone)');
  expect(stdout.replace(/\s+/g, ' ')).toContain(`→ hookrail sim endpoints enable ${endpoint.uuid}`);
});

test('a delivery that ends without an attempt has a line, and the commands that bring it back', async () => {
  status = 500;
  await merchant.request('PATCH', `/merchant/webhook-endpoints/${endpoint.uuid}`, { status: 'active' });
  await publish('cancelled');
  await merchant.request('PATCH', `/merchant/webhook-endpoints/${endpoint.uuid}`, { status: 'disabled' });
  const { stdout, stderr } = await type('advance', 'next-retry');
  expect(stdout).toMatch(/- .* fiatToCrypto\/SUCCESS +cancelled +endpoint_disabled/);
  expect(stderr).toContain(
    `endpoint my receiver: disabled\n  → hookrail sim endpoints enable ${endpoint.uuid}\n` +
      `  → hookrail sim missed --endpoint ${endpoint.uuid}`,
  );
});

test('responses say exactly by how much the clock was moved on, and doctor judges the clock once', async () => {
  const { headers } = await fetch(`${hookrail.apiUrl}/merchant`);
  const { ahead_ms: aheadMs } = await typed('show');
  expect(Number(headers.get('clock-ahead-ms'))).toBe(aheadMs);
  const { stdout } = await sim('doctor');
  expect(stdout).toMatch(/^ok +clock: the sandbox's was moved on by/m);
  expect(stdout.match(/clock/g)).toHaveLength(1);
});

test.each([
  [['advance', 'tomorrow'], EXIT.usage, '"tomorrow" is not a duration'],
  [['advance', '0s'], EXIT.usage, '"0s" is not above 0'],
  [['advance', '31d'], EXIT.usage, '31d is too far'],
  [['advance', 'next-retry'], EXIT.expectation, 'no attempt waits'],
  [['show', '--data-dir', '/none'], EXIT.authentication, '/none/operator.token does not exist'],
  [['advnce', '1h'], EXIT.usage, 'advance'],
])('%j ends with %i', async (args, exitCode, message) => {
  const { code, stderr } = await type(...args);
  expect([code, stderr]).toEqual([exitCode, expect.stringContaining(message)]);
});

test('production has no operation that moves the clock, and ignores a sandbox’s', async () => {
  const production = await prepareSetup();
  const { HOOKRAIL_EXTRA_CA_FILE: _, HOOKRAIL_EGRESS_ALLOW: __, ...environment } = production.environment;
  const clock = SandboxClock.open(production.dataDir);
  await clock.advance(HOUR_MS, async (moved) => moved());
  const service = await startHookrail({
    ...environment,
    HOOKRAIL_ENVIRONMENT: 'production',
    HOOKRAIL_LOG_LEVEL: 'silent',
  });
  try {
    const token = readFileSync(join(production.dataDir, 'operator.token'), 'utf8').trim();
    for (const command of ['clock-show', 'clock-step']) {
      const response = await fetch(`${service.operationsUrl}/operator/${command}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ until: new Date(Date.now() + HOUR_MS).toISOString() }),
      });
      expect(response.status).toBe(422);
      expect(await response.text()).toContain(`there is no command \\"${command}\\"`);
    }
    const { headers } = await fetch(`${service.apiUrl}/docs/`);
    expect(Math.abs(Date.parse(headers.get('date') ?? '') - Date.now())).toBeLessThan(HOUR_MS / 2);
  } finally {
    await service.stop();
    rmSync(production.dataDir, { recursive: true, force: true });
  }
});

test('a sandbox on Kafka says that its clock cannot be moved', async () => {
  const time = sandboxTime({ clock: systemClock(), broker: {}, store: hookrail.store });
  const place = { merchant: undefined, after: undefined };
  expect(await time.show(place)).toMatchObject({
    can_move: false,
    ahead_ms: 0,
  });
  const until = new Date().toISOString();
  await expect(time.step({ until, ...place }, async () => {})).rejects.toThrow('cannot be moved on Kafka');
});

test('a step that waits for a receiver names its endpoint', async () => {
  let answer = (_status: number) => {};
  status = new Promise((resolve) => {
    answer = resolve;
  });
  await merchant.request('PATCH', `/merchant/webhook-endpoints/${endpoint.uuid}`, { status: 'active' });
  await merchant.publish([jsonEventOf(setup.merchantId, 'hangs')]);
  const underWay = new UnderWay(
    () => new MerchantApi(new ApiClient(hookrail.apiUrl, setup.apiKey, AbortSignal.timeout(60_000))),
  );
  const isListed = async () =>
    (await merchant.request('GET', '/merchant/deliveries?status=pending')).body.data.length > 0;
  const late = eventually(
    'the receiver has a request, and the log its delivery',
    async () => receiver.inFlight() > 0 && (await isListed()),
  ).then(() => {
    throw new CommandFailure(EXIT.api, 'deliveries have been under way for 60 s');
  });
  await expect(underWay.during(late)).rejects.toMatchObject({
    message: 'deliveries have been under way for 60 s; waiting for my receiver',
    next: [`hookrail sim endpoints get ${endpoint.uuid}`],
  });
  answer(204);
});
