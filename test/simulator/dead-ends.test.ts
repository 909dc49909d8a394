/**
 * Guarantee: where a newcomer gets stuck, the command line says in one line what is wrong, and its last line is a command
 * that helps. Each row is such a place; the command that it names is run as it is printed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Hookrail, startHookrail } from '../../services/main.ts';
import { EXIT } from '../../simulator/exit.ts';
import { issueCertificate, openAuthority } from '../../simulator/receiver/certificate-authority.ts';
import { eventually } from '../support/eventually.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';
import { accessTo, type Finished, simHere } from './support/command-line.ts';
import { ROWS } from './support/dead-end-rows.ts';
import { type LimitedApi, startLimitedApi } from './support/limited-api.ts';
import { untilReady } from './support/running-sim.ts';
import { withSandbox } from './support/sandbox.ts';

let setup: ServiceSetup;
let hookrail: Hookrail;
let limited: LimitedApi;
let access: Record<string, string>;
/** The developer's folder: commands write files there. */
let folder: string;
const checkout = process.cwd();
const servers: Server[] = [];
/** The values that rows use: endpoints by receiver, and addresses. */
const known: Record<string, string> = {};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hookrail-dead-ends-'));
  const authority = await openAuthority(folder);
  setup = await prepareSetup({
    HOOKRAIL_LOG_LEVEL: 'silent',
    HOOKRAIL_EXTRA_CA_FILE: join(folder, 'ca.crt'),
  });
  hookrail = await startHookrail(setup.environment);
  limited = await startLimitedApi(hookrail.apiUrl);
  access = accessTo(setup, hookrail, folder);
  const stranger = await generate([{ name: 'commonName', value: 'localhost' }]);
  const trusted = await issueCertificate(authority, { hosts: ['localhost'] });
  const refuse = { cert: trusted.certPem, key: trusted.keyPem };
  await register('plain', createHttpServer());
  await register('selfSigned', createHttpsServer({ cert: stranger.cert, key: stranger.private }));
  await register(
    'strict',
    createHttpsServer(refuse, (_, response) => response.writeHead(401).end()),
  );
  Object.assign(known, { api: hookrail.apiUrl, operations: hookrail.operationsUrl, limited: limited.url });
  process.chdir(folder);
}, 60_000);

afterAll(async () => {
  process.chdir(checkout);
  for (const server of servers) server.close();
  await limited?.close();
  await hookrail?.stop();
  for (const dir of [setup.dataDir, folder]) rmSync(dir, { recursive: true });
});

/** Starts a receiver and registers it; afterwards `<name>` is its endpoint, `<name>.host` its address. */
async function register(name: string, server: Server): Promise<void> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const host = `localhost:${(server.address() as AddressInfo).port}`;
  const created = await simHere(
    ['endpoints', 'create', '--url', `https://${host}/`, '--output', 'json'],
    access,
  );
  const { uuid, secret_hint: hint } = JSON.parse(created.stdout);
  const digits = { [`${name}.digits`]: uuid.slice(0, 5), [`${name}.8`]: uuid.slice(0, 8) };
  Object.assign(known, { ...digits, [name]: uuid, [`${name}.host`]: host, [`${name}.hint`]: hint });
}

/** Puts what is known into a text: `{plain}` is the endpoint of the receiver "plain". */
const filled = (text: string) => text.replace(/\{([\w.]+)\}/g, (_, name: string) => known[name] ?? name);

/** Types a line, as a shell splits it: no row quotes anything. */
const type = (line: string) => simHere(filled(line).split(' '), access);

/** Runs a command that is named; one that runs on, until it is ready. */
const help = (line: string) => (line.startsWith('listen') ? untilReady(line.split(' '), access) : type(line));

/** Returns the last line of advice without its arrow and its words: the command. */
function commandIn({ stderr }: Finished): string {
  const last = stderr.trimEnd().split('\n').at(-1) ?? '';
  return (
    /^ {2}→ (?:.*: )?((?:\S+=\S+ )*hookrail (?:sim|start).*)$/.exec(last)?.[1] ?? `no command in: ${last}`
  );
}

/** Returns the lines that are not advice: what is wrong. */
const wrongIn = ({ stderr }: Finished) => stderr.split('\n').filter((line) => line && !/^ {2}→/.test(line));

describe('a dead end names what is wrong and the command that helps', () => {
  test.each(ROWS)(
    'after: $typed',
    async ({ typed, says, names, code = EXIT.usage, helps = EXIT.ok }) => {
      known['api.host'] = new URL(hookrail.apiUrl).host;
      const stuck = await type(typed);
      expect([stuck.code, stuck.stderr]).toEqual([code, expect.stringContaining(filled(says))]);
      expect(wrongIn(stuck)).toHaveLength(1);
      const command = commandIn(stuck);
      expect(command).toBe(filled(`hookrail sim ${names}`));
      if (helps === 'long') return;
      const helped = await help(command.replace('hookrail sim ', ''));
      expect(helped.code, helped.stderr).toBe(helps);
    },
    60_000,
  );

  test('after: an https URL of the local network', async () => {
    const line = ['endpoints', 'create', '--url', 'https://192.168.1.5/hook'];
    const stuck = await simHere(line, access);
    expect(wrongIn(stuck)).toEqual([
      'the URL is not allowed: the host must be a DNS name, not an IP address',
    ]);
    const command = commandIn(stuck);
    expect(command).toMatch(/^HOOKRAIL_EGRESS_ALLOW=\S+,192\.168\.1\.5 hookrail start$/);
    await withSandbox({ line: command, checkout, dataDir: join(folder, 'sandbox') }, async (dataDir) => {
      const helped = await simHere(line, { HOOKRAIL_DATA_DIR: dataDir });
      expect(helped.code, helped.stderr).toBe(EXIT.ok);
    });
  }, 60_000);

  test('after: more requests than the API takes', async () => {
    const through = { ...access, HOOKRAIL_BASE_URL: limited.url };
    limited.refuseFor(5000);
    const stuck = await simHere(['trigger', 'KYC/FULL_USER', '--wait', '2s'], through);
    expect(stuck.code).toBe(EXIT.timeout);
    expect(stuck.stdout).toMatch(/the API's limit of requests is reached; waiting \d/);
    expect(commandIn(stuck)).toBe('hookrail sim deliveries list');
    const helped = await simHere(['deliveries', 'list'], through);
    expect([helped.code, helped.stderr]).toEqual([EXIT.ok, expect.stringContaining('limit of requests')]);
  }, 60_000);
});

describe('the command line takes, as other tools do,', () => {
  test('event types with commas between them', async () => {
    const url = 'https://localhost:3001/commas';
    const line = `endpoints create --url ${url} --events KYC,fiatToCrypto --events KYB --output json`;
    const { code, stdout } = await type(line);
    expect([code, JSON.parse(stdout).subscribed_events]).toEqual([EXIT.ok, ['KYC', 'fiatToCrypto', 'KYB']]);
  });

  test('a time as a duration before now', async () => {
    const of = async (filter: string) => {
      const { code, stdout, stderr } = await type(`deliveries list --output json ${filter}`);
      expect(code, stderr).toBe(EXIT.ok);
      return JSON.parse(stdout).length;
    };
    expect(await of('--since 1h')).toBeGreaterThan(0);
    expect(await of('--since 1h --until 59m')).toBe(0);
  });
});

test('a live line of a failed attempt is followed by what is wrong with the receiver', async () => {
  const { code, stderr } = await type('trigger KYC/FULL_USER --wait 2s');
  expect(code).toBe(EXIT.timeout);
  for (const says of ['{plain.host} answers in plain HTTP', 'certificate of {selfSigned.host}', '(401)']) {
    expect(stderr).toContain(filled(says));
  }
});

test('after: the version, which is the one of hookrail', async () => {
  for (const line of ['version', '--version']) {
    const { code, stderr } = await type(line);
    expect([code, stderr]).toEqual([EXIT.usage, expect.stringMatching(/\n {2}→ hookrail --version\n$/)]);
  }
});

test('a disabled endpoint says since when, what failed last, and the commands that bring it back', async () => {
  await type('endpoints test {strict}');
  await type('endpoints disable {strict}');
  const { code, stdout, stderr } = await type('endpoints get {strict}');
  expect([code, stdout]).toEqual([EXIT.ok, expect.stringMatching(/disabled since \d{4}-\d\d-\d\dT\S+Z \(/)]);
  const commands = [...stderr.matchAll(/→ .*: hookrail sim (.*)$/gm)].map(([, line = '']) => line);
  expect(commands.slice(-2)).toEqual([
    filled('endpoints enable {strict.8}'),
    expect.stringContaining(filled('missed --endpoint {strict.8} --since ')),
  ]);
  for (const line of commands) expect((await type(line)).code, line).toBe(EXIT.ok);
});

test.each([
  ['step', 'no run is played by hand; begin one: hookrail sim run onramp.happy --step'],
  ['deliveries list --status refused', 'no deliver'],
])('an empty list says so, into a pipe too: %s', async (line, says) => {
  const { code, stdout, stderr } = await type(line);
  expect([code, stdout, stderr]).toEqual([EXIT.ok, '', expect.stringContaining(says)]);
  expect((await type(`${line} --output json`)).stderr).toBe('');
});

test('a suggestion never repeats a secret', async () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const { stderr } = await type(`run kyc.happy --sink direct --to https://a.com --secrt ${secret}`);
  expect(stderr).toContain('did you mean --secret?');
  expect(stderr).not.toContain(secret);
});

test('an endpoint that hookrail disabled says since when, what failed last, and the commands that bring it back', async () => {
  const trusted = await issueCertificate(await openAuthority(folder), { hosts: ['localhost'] });
  const gone = { cert: trusted.certPem, key: trusted.keyPem };
  await register(
    'gone',
    createHttpsServer(gone, (_, response) => response.writeHead(410).end()),
  );
  expect((await type('trigger KYC/FULL_USER')).code).toBe(EXIT.ok);
  const read = async () => JSON.parse((await type('endpoints get {gone} --output json')).stdout);
  const record = await eventually('it is disabled', async () => {
    const found = await read();
    return found.status === 'auto_disabled' && found;
  });
  const { code, stdout, stderr } = await type('endpoints get {gone}');
  const shown = stdout.replaceAll(/ +/g, ' ');
  expect([code, shown]).toEqual([
    EXIT.ok,
    expect.stringContaining(`status auto_disabled since ${record.disabled_at} (gone)\n`),
  ]);
  expect(shown).toContain(`last failure ${record.last_failure_at} 410\n`);
  expect(shown).toContain('last success none\n');
  const commands = [...stderr.matchAll(/→ .*: hookrail sim (.*)$/gm)].map(([, line = '']) => line);
  expect(commands).toEqual([
    filled('deliveries list --endpoint {gone.8} --status refused'),
    filled('endpoints enable {gone.8}'),
    filled(`missed --endpoint {gone.8} --since ${record.created_at}`),
  ]);
  expect((await type(commands[0] ?? '')).stdout).toMatch(/refused 1\/7 +410/);
  for (const line of commands) expect((await type(line)).code, line).toBe(EXIT.ok);
});
