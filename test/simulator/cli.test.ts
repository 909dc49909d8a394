/**
 * The command line tells by its exit code what went wrong, says on standard error what to do next, and puts only data
 * on standard output unless that is a terminal.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newApiKey } from '../../services/domain/api-key.ts';
import { publicKeySet } from '../../services/keys/key-schedule.ts';
import { newSigningKey } from '../../services/keys/signing-keys.ts';
import { type Hookrail, startHookrail } from '../../services/main.ts';
import { EXIT } from '../../simulator/exit.ts';
import { openAuthority } from '../../simulator/receiver/certificate-authority.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';
import { accessTo, sim, simHere, startSim } from './support/command-line.ts';
import { webhookHeaders } from './support/https-request.ts';

let setup: ServiceSetup;
let hookrail: Hookrail;
/** The data directory of a developer whose authority the service trusts. */
let authorityDir: string;
/** Key, address and merchant, the way a developer's shell has them. */
let access: Record<string, string>;

beforeAll(async () => {
  authorityDir = mkdtempSync(join(tmpdir(), 'hookrail-cli-'));
  await openAuthority(authorityDir);
  setup = await prepareSetup({
    HOOKRAIL_LOG_LEVEL: 'silent',
    HOOKRAIL_EXTRA_CA_FILE: join(authorityDir, 'ca.crt'),
  });
  hookrail = await startHookrail(setup.environment);
  access = accessTo(setup, hookrail, authorityDir);
});

afterAll(async () => {
  await hookrail?.stop();
  for (const dir of [setup.dataDir, authorityDir]) rmSync(dir, { recursive: true });
});

/** A port that was just free: nobody listens there. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

test('the simulator exits with 0 after an event and its delivery, with only data on standard output', async () => {
  const { code, stdout, stderr } = await sim(
    ['trigger', 'KYC/FULL_USER', '--wait', '--output', 'ndjson'],
    access,
  );
  expect(code, stderr).toBe(EXIT.ok);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toMatchObject([
    { kind: 'sent', status: 'accepted' },
    { kind: 'skipped', endpoints: [] },
  ]);
  expect(stderr).toBe('');
});

test('the simulator exits with 1 when an expectation is not met', async () => {
  const { code, stdout, stderr } = await sim(
    ['run', 'onramp.happy', '--speed', 'instant', '--expect', '--output', 'json'],
    access,
  );
  expect(code).toBe(EXIT.expectation);
  expect(JSON.parse(stdout).at(-1)).toMatchObject({ kind: 'expectation', step: 'done', met: false });
  expect(stderr).toContain('1 expectation(s) not met');
});

test.each<[string, string[], RegExp]>([
  ['no command', [], /name a command/],
  ['an unknown command', ['rnu', 'onramp.happy'], /did you mean run\?/],
  ['an unknown option', ['whoami', '--bas-url', 'x'], /did you mean --base-url\?/],
  ['an unknown scenario', ['run', 'onramp.hapy'], /did you mean onramp\.happy/],
  ['an unknown field', ['trigger', 'KYC/FULL_USER', '--set', 'data.atempt=1'], /did you mean data\.attempt/],
  ['an unknown subType', ['trigger', 'KYC/FULL'], /KYC has no subType "FULL".*FULL_USER/s],
  [
    'a broken file',
    ['verify', '--secret', 's', '--body', '/none', '--headers', '/none'],
    /\/none does not exist/,
  ],
])('the simulator exits with 2 for %s', async (_, args, message) => {
  const { code, stdout, stderr } = await simHere(args, access);
  expect([code, stdout]).toEqual([EXIT.usage, '']);
  expect(stderr).toMatch(message);
});

test('the simulator exits with 2 for a live key, before anything is sent', async () => {
  const live = newApiKey('merchant', 'production', Buffer.alloc(32, 1));
  const { code, stderr } = await sim(['endpoints', 'list', '--api-key', live], {});
  expect(code).toBe(EXIT.usage);
  expect(stderr).toContain('a live key');
  expect(stderr).not.toContain(live);
});

test('the simulator exits with 3 without a key, or with one that the API refuses', async () => {
  const without = await simHere(['endpoints', 'list'], { HOOKRAIL_DATA_DIR: setup.dataDir });
  expect(without.code).toBe(EXIT.authentication);
  expect(without.stderr).toContain('hookrail start');
  const unknown = newApiKey('merchant', 'sandbox', Buffer.alloc(32, 1));
  const refused = await sim(['endpoints', 'list', '--api-key', unknown], access);
  expect(refused.code).toBe(EXIT.authentication);
  expect(refused.stderr).toContain('api_key_invalid');
  expect(refused.stderr).toContain('whoami');
});

test('the simulator exits with 4 when the API refuses, and shows the reason and the field', async () => {
  const description = 'x'.repeat(5000);
  const args = ['endpoints', 'create', '--url', 'https://merchant.com/', '--description', description];
  const { code, stderr } = await sim(args, access);
  expect(code).toBe(EXIT.api);
  expect(stderr).toMatch(
    /^--description "x{60}…" is refused: .*\n {2}→ hookrail sim endpoints create --help\n$/,
  );
});

test('endpoints take headers from the line, a variable and a file, keep them by name, and show no value', async () => {
  const file = join(authorityDir, 'key.txt');
  writeFileSync(file, 'canary-of-a-file\n');
  const env = { ...access, GATEWAY_KEY: 'canary-of-a-variable' };
  const url = 'https://merchant.com/own-headers';
  const given = [
    '--header',
    'X-Tenant: canary: eu',
    '--header-env',
    'X-Key=GATEWAY_KEY',
    '--header-file',
    `X-File=${file}`,
  ];
  const made = await simHere(
    ['endpoints', 'create', '--url', url, ...given, '--requests-per-second', '10'],
    env,
  );
  expect([made.code, made.stderr.includes('canary'), made.stdout.includes('canary')]).toEqual([
    EXIT.ok,
    false,
    false,
  ]);
  expect(made.stdout).toMatch(/headers +X-Tenant, X-Key, X-File\n.*limit +10 requests per second/s);
  const update = (...options: string[]) =>
    simHere(['endpoints', 'update', url, ...options, '--output', 'json'], env);
  const kept = await update('--header', 'X-Key', '--header', 'X-New: 1', '--requests-per-second', 'none');
  expect(JSON.parse(kept.stdout)).toMatchObject({
    ...{ headers: [{ name: 'X-Key' }, { name: 'X-New' }], requests_per_second: null },
  });
  expect(JSON.parse((await update('--clear-headers')).stdout).headers).toEqual([]);
  const refused = await update('--header', 'Host: canary.example');
  expect([refused.code, refused.stderr.includes('Host is reserved')]).toEqual([EXIT.api, true]);
  for (const [options, says] of [
    [['--header-env', 'X-Key=NOT_SET'], 'the variable NOT_SET is not set'],
    [['--header-file', 'X-Key=/none'], 'cannot read /none'],
    [['--header-env', 'X-Key'], '--header-env needs Name=SOURCE'],
    [['--clear-headers', '--header', 'X-A: b'], 'cannot be combined'],
    [['--requests-per-second', 'few'], 'a whole number from 1 to 1000, or none'],
  ] as const) {
    const { code, stderr } = await update(...options);
    expect([code, stderr.includes(says)]).toEqual([EXIT.usage, true]);
  }
  expect((await simHere(['endpoints', 'rm', url], access)).code).toBe(EXIT.ok);
});

test('the simulator exits with 5 when the time to wait runs out', async () => {
  const url = `https://localhost:${await closedPort()}/`;
  await simHere(['endpoints', 'create', '--url', url], access);
  const { code, stderr } = await sim(['trigger', 'KYC/FULL_USER', '--wait', '1s'], access);
  expect(code).toBe(EXIT.timeout);
  expect(stderr).toMatch(
    /1 delivery waits: attempt 2 in \d s\n {2}→ hookrail sim deliveries get [0-9a-f]{8}\n/,
  );
  expect((await simHere(['endpoints', 'rm', url], access)).code).toBe(EXIT.ok);
});

test('the simulator exits with 6 when no service answers at the address', async () => {
  const baseUrl = `http://127.0.0.1:${await closedPort()}`;
  const { code, stderr } = await sim(['endpoints', 'list', '--base-url', baseUrl], access);
  expect(code).toBe(EXIT.unreachable);
  expect(stderr).toContain(`${baseUrl} cannot be reached (ECONNREFUSED)`);
});

test('options win over the environment, the environment over sandbox.env, and whoami says so', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'hookrail-cli-'));
  const file = `HOOKRAIL_BASE_URL=${hookrail.apiUrl}\nHOOKRAIL_API_KEY=${setup.apiKey}\nHOOKRAIL_MERCHANT_ID=m\n`;
  writeFileSync(join(dir, 'sandbox.env'), file);
  const { code, stdout } = await sim(
    ['whoami', '--data-dir', dir, '--base-url', `${hookrail.apiUrl}/`, '--output', 'json'],
    { HOOKRAIL_MERCHANT_ID: 'other' },
  );
  rmSync(dir, { recursive: true });
  expect(code).toBe(EXIT.ok);
  expect(stdout).not.toContain(setup.apiKey);
  expect(JSON.parse(stdout)).toMatchObject({
    base_url: { value: hookrail.apiUrl, source: 'option --base-url' },
    api_key: { source: join(dir, 'sandbox.env') },
    producer_key: null,
    merchant: { value: 'other', source: 'environment HOOKRAIL_MERCHANT_ID' },
  });
});

test('the commands for receiver, endpoint, run and delivery log work together', async () => {
  const receiver = startSim(['receiver', '--fail-first', '1', '--output', 'ndjson'], access);
  const { listening } = JSON.parse(await receiver.line('listening'));
  const created = await simHere(['endpoints', 'create', '--url', listening, '--output', 'json'], access);
  const { uuid, signing_secret: secret } = JSON.parse(created.stdout);
  expect(secret).toMatch(/^whsec_/);
  const run = ['run', 'kyc.happy', '--speed', 'instant', '--seed', '42', '--expect', '--output', 'ndjson'];
  const played = await simHere(run, access);
  expect(played.code, played.stderr + played.stdout).toBe(EXIT.ok);
  const attempts = played.stdout.split('\n').filter((line) => line.includes('"attempt"'));
  expect(new Set(attempts.map((line) => JSON.parse(line).status))).toEqual(new Set(['failed', 'delivered']));
  const { delivery_uuid: delivery } = JSON.parse(attempts[0] ?? '{}');
  const shown = await simHere(['deliveries', 'get', delivery], access);
  expect(shown.stdout).toMatch(/✗ 1 .*500.*\n {2}✓ 2 .*\+3 s.*200/);
  const tested = await simHere(['trigger', 'KYB/ACTIVE', '--endpoint', uuid], access);
  // A test is a delivery of its own, so --fail-first hits it, and it is tried once.
  expect([tested.code, tested.stderr]).toEqual([
    EXIT.expectation,
    expect.stringContaining('was not delivered'),
  ]);
  expect((await simHere(['endpoints', 'delete', uuid], access)).code).toBe(EXIT.ok);
  receiver.process.kill('SIGINT');
  expect((await receiver.finished).code).toBe(EXIT.ok);
}, 60_000);

test('a captured request is verified offline, at the time it was sent', async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const body = '{"type":"KYC","subType":"FULL_USER","uuid":"u","data":{"name":"Zoë"}}';
  const files = { body: join(setup.dataDir, 'body'), headers: join(setup.dataDir, 'headers') };
  const headers = Object.entries(webhookHeaders(secret, body, 'd'));
  writeFileSync(files.body, body);
  writeFileSync(
    files.headers,
    headers.map(([name, value]) => `> ${name.toUpperCase()}: ${value}\r\n`).join(''),
  );
  const args = ['verify', '--body', files.body, '--headers', files.headers, '--output', 'json'];
  const genuine = await simHere([...args, '--secret', secret]);
  expect([genuine.code, JSON.parse(genuine.stdout).authentic]).toEqual([EXIT.ok, true]);
  const late = await simHere([...args, '--secret', secret, '--at', '2060-01-01T00:00:00Z']);
  expect(late.code).toBe(EXIT.expectation);
  expect(JSON.parse(late.stdout).checks.map((check: { ok: boolean }) => check.ok)).toEqual([
    true,
    true,
    false,
  ]);
  // The sandbox has a key of its own, and has not made this one.
  const keys = join(setup.dataDir, 'keys.json');
  writeFileSync(keys, JSON.stringify(publicKeySet([newSigningKey('sandbox', 0)], 'sandbox')));
  const forged = await simHere([...args, '--secret', secret, '--keys', keys]);
  expect(forged.code).toBe(EXIT.expectation);
  expect(JSON.parse(forged.stdout).checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([
    { name: 'v1a', ok: false, detail: expect.stringContaining('there is no signature v1a') },
  ]);
  writeFileSync(keys, '{"key": []}');
  const noKeys = await simHere([...args, '--secret', secret, '--keys', keys]);
  expect([noKeys.code, noKeys.stderr]).toEqual([EXIT.usage, expect.stringContaining('it is no JWK set')]);
  writeFileSync(files.body, `${body}\n`);
  expect((await simHere([...args, '--secret', secret])).code).toBe(EXIT.expectation);
});
