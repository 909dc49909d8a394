/**
 * Guarantee: the command line follows deliveries by the merchant's stream. It does not use up the rate limit of the
 * developer's key, loses nothing when the connection breaks, and its exit code tells a delivery that failed from one
 * that arrived.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../../services/config/config.ts';
import { EXIT } from '../../../simulator/exit.ts';
import { eventually } from '../../support/eventually.ts';
import { itemsHere, simHere } from '../support/command-line.ts';
import { type LimitedApi, startLimitedApi } from '../support/limited-api.ts';
import { type Registered, type SandboxService, startSandboxService } from '../support/sandbox-service.ts';

let sandbox: SandboxService;
let front: LimitedApi;
/** The developer's access, through a front that counts requests and breaks connections. */
let access: Record<string, string>;
let checkout: Registered;
let analytics: Registered;
let flaky: Registered;

beforeAll(async () => {
  sandbox = await startSandboxService({ HOOKRAIL_RETRY_SCALE: '10' });
  front = await startLimitedApi(sandbox.hookrail.apiUrl);
  access = { ...sandbox.access, HOOKRAIL_BASE_URL: front.url };
  checkout = await sandbox.register('checkout');
  analytics = await sandbox.register('analytics', {}, ['--events', 'fiatToCrypto,KYC']);
  flaky = await sandbox.register('flaky', { failFirst: 1 }, ['--events', 'fiatToCrypto,KYB']);
  await sandbox.register('reports', {}, ['--events', 'fiatToCrypto']);
  await sandbox.register('legacy', {}, ['--events', 'fiatToCrypto,AML', '--api-version', '2.2.8']);
}, 60_000);

afterAll(async () => {
  await front?.close();
  await sandbox?.stop();
});

const type = (line: string) => itemsHere(line, access);

const attemptsOf = (items: readonly { kind: string }[]) => items.filter(({ kind }) => kind === 'attempt');

describe('following deliveries', () => {
  test('takes a few requests for a run, however many endpoints and attempts there are', async () => {
    const before = front.requests.length;
    const { code, items, stderr } = await type('run onramp.happy --speed instant --wait 30s');
    expect(code, stderr).toBe(EXIT.ok);
    // Four events, one of which its version 2.2.8 does not have; the flaky endpoint needs two attempts.
    expect(attemptsOf(items)).toHaveLength(4 * 3 + 3 + 4 * 2);
    const requests = front.requests.slice(before);
    expect(requests.filter((request) => request === 'GET /merchant/stream')).toHaveLength(1);
    // The environment, the stream, the endpoints' names, and the routing of each event.
    expect(requests.length, requests.join()).toBeLessThanOrEqual(3 + 4);
  }, 60_000);

  test('leaves room in the sandbox for 300 commands in a row, and for three runs to five endpoints', async () => {
    const before = front.requests.length;
    expect((await type('trigger AML/AML_CHECKS_COMPLETED --wait')).code).toBe(EXIT.ok);
    const each = front.requests.length - before;
    const { rateLimitPerMinute, testRateLimitPerMinute } = readConfig({}).api;
    expect(300 * each).toBeLessThan(rateLimitPerMinute);
    expect([rateLimitPerMinute, testRateLimitPerMinute]).toEqual([6000, 600]);
    const production = readConfig({ HOOKRAIL_ENVIRONMENT: 'production' }).api;
    expect([production.rateLimitPerMinute, production.testRateLimitPerMinute]).toEqual([100, 10]);
  });

  test('goes on after a broken connection, with each attempt once', async () => {
    const seen = flaky.receiver.arrivals.length;
    const command = type('trigger KYB/ACTIVE --wait 30s');
    await eventually('the first attempt', () => flaky.receiver.arrivals.length > seen);
    front.cut();
    const { code, items, stderr } = await command;
    expect(code, stderr).toBe(EXIT.ok);
    const numbers = attemptsOf(items)
      .filter((item) => 'endpoint' in item && (item.endpoint as { uuid: string }).uuid === flaky.uuid)
      .map((item) => 'number' in item && item.number);
    expect(numbers).toEqual([1, 2]);
  }, 60_000);

  test('names each endpoint in the items for scripts, also one that is left out', async () => {
    const { items } = await type('trigger KYC/FULL_USER --wait');
    const { url } = checkout.receiver;
    expect(items[0]).toMatchObject({ kind: 'sent', type: 'KYC', subType: 'FULL_USER' });
    expect(attemptsOf(items)).toContainEqual(
      expect.objectContaining({
        type: 'KYC',
        subType: 'FULL_USER',
        status: 'delivered',
        endpoint: { uuid: checkout.uuid, description: 'checkout', url },
      }),
    );
    const { endpoints } = items.find(({ kind }) => kind === 'skipped');
    expect(endpoints).toContainEqual(
      expect.objectContaining({ uuid: flaky.uuid, description: 'flaky', verdict: 'filtered' }),
    );
  });

  test('follows the same event sent twice, which is delivered once', async () => {
    const line = 'run kyc.happy --speed instant --seed 7 --start-at 2025-01-01T00:00:00Z --wait 20s';
    const first = await type(line);
    const again = await type(line);
    expect([first.code, again.code], again.stderr).toEqual([EXIT.ok, EXIT.ok]);
    expect(again.items.filter(({ status }) => status === 'duplicate')).toHaveLength(4);
    expect(attemptsOf(again.items)).toHaveLength(attemptsOf(first.items).length);
  }, 60_000);
});

describe('the exit code of a command that waits', () => {
  /** Runs a line while the checkout's receiver behaves like this. */
  async function typeWhile(behaviour: '500' | '410', line: string) {
    checkout.receiver.setBehaviour(behaviour);
    try {
      return await type(line);
    } finally {
      checkout.receiver.setBehaviour('ok');
    }
  }

  test.each(['trigger walletCreated/CREATED --wait 1s', 'run kyc.happy --speed instant --wait 1s'])(
    'is 5 when a delivery still fails: %s',
    async (line) => {
      const { code, stderr } = await typeWhile('500', line);
      expect(code, stderr).toBe(EXIT.timeout);
      const { error } = JSON.parse(stderr);
      expect(error).toMatchObject({ exit_code: EXIT.timeout });
      expect(error.message).toMatch(
        /wait: attempt \d in \d+ s at checkout|waits: attempt \d in \d+ s at checkout/,
      );
      const [, id] = /deliveries get ([0-9a-f]{8})$/.exec(error.next[0]) ?? [];
      expect((await type(`deliveries get ${id}`)).items[0]).toMatchObject({ status: 'failed' });
    },
  );

  test('is 1 when an expectation is not met, and the message names the endpoint', async () => {
    const line = 'run onramp.happy --speed instant --expect --wait 1s';
    const { code, items } = await typeWhile('500', line);
    expect(code).toBe(EXIT.expectation);
    expect(items.at(-1).found).toContain('failed at checkout');
    expect(items.at(-1).found).not.toContain('reports');
  }, 90_000);

  test('is 1 when a delivery is given up', async () => {
    const { code, stderr } = await typeWhile('410', 'trigger walletCreated/CREATED --wait 5s');
    expect(code).toBe(EXIT.expectation);
    expect(JSON.parse(stderr).error.message).toBe('walletCreated/CREATED was refused with 410 at checkout');
    // A 410 disables the endpoint.
    expect((await type('endpoints enable checkout')).code).toBe(EXIT.ok);
  });

  const closed = 'http://127.0.0.1:1';
  test.each<[number, string]>([
    [EXIT.ok, 'trigger walletCreated/CREATED --wait --user 00000000-0000-4000-8000-000000000001'],
    [EXIT.usage, 'trigger walletCreated/CREATED --wait soon'],
    [EXIT.usage, 'deliveries replay checkout --since soon'],
    [EXIT.usage, 'deliveries get 123'],
    [EXIT.authentication, 'deliveries list --api-key sk_sandbox_unknown'],
    [EXIT.api, 'deliveries get 00000000-0000-4000-8000-000000000001'],
    [EXIT.api, 'events get 00000000'],
    [EXIT.unreachable, `trigger KYC/FULL_USER --wait --base-url ${closed}`],
    [EXIT.unreachable, `deliveries tail --base-url ${closed}`],
    [EXIT.unreachable, `missed --base-url ${closed}`],
  ])('is %i after: %s', async (expected, line) => {
    const { code, stderr } = await type(line);
    expect(code, stderr).toBe(expected);
    if (expected !== EXIT.ok) expect(JSON.parse(stderr).error.exit_code).toBe(expected);
  });
});

test.each<[string, string, string]>([
  [
    'resend x',
    'sim has no command "resend"; did you mean deliveries resend x?',
    'deliveries resend x --output ndjson',
  ],
  [
    'endpoints ls --stats active',
    'endpoints list has no option --stats; did you mean --status?',
    'endpoints ls --status active --output ndjson',
  ],
  [
    'deliveries replay checkout --since yesterday',
    '--since "yesterday" is neither a duration, such as 2h, nor a time in RFC 3339',
    'deliveries replay checkout --since 2h',
  ],
  [
    'trigger KYC/FULL_USER --amount 100',
    'KYC has nothing that --amount could change; it takes none of these flags',
    'trigger KYC/FULL_USER',
  ],
])('a mistake ends in the command that helps: %s', async (line, says, next) => {
  const { stderr } = await type(line);
  expect(JSON.parse(stderr).error).toMatchObject({ message: says, next: [`hookrail sim ${next}`] });
});

test('amounts, fees and account fit each other, and a field set alone is remarked on', async () => {
  const { items } = await type('trigger fiatToCrypto/SUCCESS --amount 100 --currency NGN --seed 1 --dry-run');
  const { data } = items[0];
  expect(data).toMatchObject({ amountFiat: '100', fees: '1.5', currencyFiat: 'NGN' });
  expect(data.senderDetails).toMatchObject({ senderCountry: 'NG', accountDetails: { currency: 'NGN' } });
  const worth = Number(data.amountCrypto) * 1540;
  expect(worth).toBeGreaterThan(96);
  expect(worth).toBeLessThan(98.5);
  const set = ['trigger', 'fiatToCrypto/SUCCESS', '--set', 'data.amountFiat=7', '--dry-run'];
  const { stderr } = await simHere(set, access, 200);
  expect(stderr).toContain('with --amount 7, amountCrypto and fees fit it');
});

describe('finding and repeating deliveries', () => {
  test('a delivery is shown by eight digits, with its timeline, its request and whether the signature is right', async () => {
    const { items } = await type('trigger KYC/FULL_USER --wait');
    const attempt = items.find(({ endpoint }) => endpoint?.uuid === analytics.uuid);
    const id = attempt.delivery_uuid.slice(0, 8);
    const { stdout } = await simHere(['deliveries', 'get', id, '--secret', analytics.secret], access);
    expect(stdout).toMatch(/^KYC\/FULL_USER {2}delivered, 1 of 7 attempts {2}analytics {2}https:/);
    expect(stdout).toMatch(/\n {2}✓ 1 {2}[\d:.]+ +200 .*"ok"\n/);
    expect(stdout).toContain('signature ✓');
    const other = await type(`deliveries get ${id} --secret ${checkout.secret}`);
    expect(other.items[0]).toMatchObject({ status: 'delivered', signature_ok: false });
    const full = await simHere(['deliveries', 'get', id, '--full'], access);
    expect(full.stdout).toContain(`webhook-delivery-id: ${attempt.delivery_uuid}`);
    expect(full.stdout).toMatch(/response 200\n.*content-type: text\/plain/s);
    const curl = await simHere(['deliveries', 'get', id, '--curl'], access);
    expect(curl.stdout).toContain(`curl '${analytics.receiver.url}'`);
    expect(curl.stdout + full.stdout).not.toContain(analytics.secret);
  });

  test('a delivery is resent, and its end is waited for', async () => {
    const { items } = await type('trigger KYC/FULL_USER --wait');
    const { delivery_uuid: id } = items.find(({ endpoint }) => endpoint?.uuid === analytics.uuid);
    const resent = await type(`deliveries resend ${id.slice(0, 8)} --wait`);
    expect(resent.items).toMatchObject([
      { kind: 'resent' },
      { kind: 'attempt', trigger: 'manual', outcome: 'delivered', endpoint: { description: 'analytics' } },
    ]);
    analytics.receiver.setBehaviour('500');
    const failed = await type(`deliveries resend ${id.slice(0, 8)} --wait`);
    analytics.receiver.setBehaviour('ok');
    expect(failed.code).toBe(EXIT.expectation);
  });

  test('events that an endpoint missed are named with their reason, and a replay brings them back', async () => {
    await type('endpoints disable analytics');
    expect((await type('trigger KYC/FULL_USER --wait')).code).toBe(EXIT.ok);
    const missed = await type('missed --since 1h --endpoint analytics');
    expect(missed.items).toMatchObject([
      { endpoint: { description: 'analytics' }, skipped: { disabled: 1, auto_disabled: 0 }, replayable: 1 },
    ]);
    const told = await simHere(['missed', '--since', '1h'], access);
    const id = analytics.uuid.slice(0, 8);
    expect(told.stdout).toMatch(/analytics +0 +1 \(disabled\) +0/);
    expect(told.stderr).toContain(`→ hookrail sim endpoints enable ${id}`);
    expect(told.stderr).toContain(`→ hookrail sim deliveries replay ${id} --since 1h`);
    await type(`endpoints enable ${id}`);
    const counted = await type(`deliveries replay ${id} --since 1h --dry-run`);
    expect(counted.items).toMatchObject([{ dry_run: true, count: 1 }]);
    const replayed = await type(`endpoints replay analytics --since 1h --wait`);
    expect(replayed.code, replayed.stderr).toBe(EXIT.ok);
    expect(attemptsOf(replayed.items)).toMatchObject([{ trigger: 'replay', outcome: 'delivered' }]);
    expect((await type('missed --since 1h --endpoint analytics')).items).toEqual([]);
  }, 60_000);

  test('deliveries are shown as they happen, after those since a time, each attempt once', async () => {
    const tail = type('deliveries tail --since 1h --endpoint flaky --type KYB --for 4s');
    const { items: sent } = await type('trigger KYB/ACTIVE --wait');
    const id = sent.find(({ endpoint }) => endpoint?.uuid === flaky.uuid).delivery_uuid;
    const { code, items } = await tail;
    expect(code).toBe(EXIT.ok);
    expect(items.every((item) => item.endpoint.uuid === flaky.uuid && item.type === 'KYB')).toBe(true);
    const numbers = items
      .filter((item) => item.delivery_uuid === id)
      .map((item) => item.attempt ?? item.attempts_made);
    expect(numbers.filter((number) => number === 2)).toHaveLength(1);
  }, 60_000);

  test('events are listed by the reason for which an endpoint did not get them', async () => {
    const { items } = await type('events ls --since 1h --verdict filtered --endpoint flaky --type KYC');
    expect(items.length).toBeGreaterThan(0);
    const [{ event_uuid, endpoints }] = items;
    expect(endpoints).toContainEqual(
      expect.objectContaining({ endpoint_uuid: flaky.uuid, verdict: 'filtered' }),
    );
    expect((await type(`events get ${event_uuid.slice(0, 8)}`)).items[0].event_uuid).toBe(event_uuid);
  });
});
