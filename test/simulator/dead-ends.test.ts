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
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';
import { type Finished, simHere } from './support/command-line.ts';
import { type LimitedApi, startLimitedApi } from './support/limited-api.ts';
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
  access = {
    HOOKRAIL_DATA_DIR: folder,
    HOOKRAIL_BASE_URL: hookrail.apiUrl,
    HOOKRAIL_API_KEY: setup.apiKey,
    HOOKRAIL_PRODUCER_KEY: setup.producerKey,
    HOOKRAIL_MERCHANT_ID: setup.merchantId,
  };
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
  Object.assign(known, { [name]: uuid, [`${name}.host`]: host, [`${name}.hint`]: hint });
}

/** Puts what is known into a text: `{plain}` is the endpoint of the receiver "plain". */
const filled = (text: string) => text.replace(/\{([\w.]+)\}/g, (_, name: string) => known[name] ?? name);

/** Types a line, as a shell splits it: no row quotes anything. */
const type = (line: string) => simHere(filled(line).split(' '), access);

interface Row {
  readonly typed: string;
  readonly says: string;
  /** The words after "hookrail sim ". */
  readonly names: string;
  readonly code?: number;
  /** The exit code of the command that is named; `long`: it runs until Ctrl-C, and is not run here. */
  readonly helps?: number | 'long';
}

const UNKNOWN_ID = '5b8b075c-7a55-4f3c-8f52-0d0a3e0c6b77';

const ROWS: readonly Row[] = [
  {
    typed: 'endpoints create --url http://localhost:3000/hook',
    says: 'webhooks go to https URLs only; http://localhost:3000/hook is http',
    names: 'endpoints create --url https://localhost:3000/hook',
    code: EXIT.api,
  },
  {
    typed: 'endpoints test {selfSigned}',
    says: 'the sandbox does not trust the certificate of {selfSigned.host}',
    names: 'cert --host localhost',
    code: EXIT.expectation,
  },
  {
    typed: 'endpoints test {plain}',
    says: '{plain.host} answers in plain HTTP, not TLS',
    names: 'cert --host localhost',
    code: EXIT.expectation,
  },
  {
    typed: 'endpoints test {strict}',
    says: 'the receiver refused it (401); its secret should end in {strict.hint}',
    names: 'endpoints rotate {strict}',
    code: EXIT.expectation,
  },
  {
    typed: 'run kyc.happy --speed instant --sed 42',
    says: 'run has no option --sed; did you mean --seed?',
    names: 'run kyc.happy --speed instant --seed 42',
  },
  {
    typed: 'rnu kyc.happy --dry-run',
    says: 'sim has no command "rnu"; did you mean run?',
    names: 'run kyc.happy --dry-run',
  },
  {
    typed: 'deliveries resend x',
    says: '"x" is not the id of a delivery, nor at least 8 digits of one',
    names: 'deliveries list',
  },
  {
    typed: 'deliveries get 00000000',
    says: 'the merchant has no delivery 00000000',
    names: 'deliveries list',
    code: EXIT.api,
  },
  {
    typed: 'deliveries tial',
    says: 'deliveries has no command "tial"; did you mean tail?',
    names: 'deliveries tail',
    helps: 'long',
  },
  {
    typed: 'endpoints get checkout',
    says: 'no endpoint has "checkout" as its id, description or URL',
    names: 'endpoints list',
    code: EXIT.api,
  },
  {
    typed: 'docter',
    says: 'sim has no command "docter"; did you mean doctor?',
    names: 'doctor',
    helps: EXIT.expectation,
  },
  {
    typed: 'listen --forward-to http://localhost:3000',
    says: 'sim has no command "listen"; did you mean receiver?',
    names: 'receiver --help',
  },
  {
    typed: 'run KYC/FULL_USER',
    says: 'KYC/FULL_USER is an event, not a scenario',
    names: 'trigger KYC/FULL_USER',
  },
  {
    typed: 'trigger kyc.happy',
    says: 'kyc.happy is a scenario, not an event',
    names: 'run kyc.happy',
  },
  {
    typed: 'endpoints test {strict} KYC/FULL_USER',
    says: 'endpoints test takes the event as --event KYC/FULL_USER',
    names: 'endpoints test {strict} --event KYC/FULL_USER',
    helps: EXIT.expectation,
  },
  {
    typed: `endpoints remove ${UNKNOWN_ID}`,
    says: 'endpoints has no command "remove"; did you mean delete?',
    names: `endpoints delete ${UNKNOWN_ID}`,
    helps: EXIT.api,
  },
  {
    typed: 'endpoints create --url https://localhost/x --events KYC,fiatToCrpto',
    says: '"fiatToCrpto" is not an event type; did you mean fiatToCrypto',
    names: 'trigger --help',
  },
  {
    typed: 'deliveries list --since yesterday',
    says: '--since "yesterday" is neither a duration, such as 2h, nor a time in RFC 3339',
    names: 'deliveries list --since 2h',
  },
  {
    typed: 'endpoints list --base-url {operations}',
    says: '{operations} is the operations port, not the API',
    names: 'whoami --base-url {api}',
  },
  {
    typed: 'endpoints list --base-url https://{api.host}',
    says: 'https://{api.host} speaks plain HTTP, not TLS',
    names: 'whoami --base-url {api}',
    code: EXIT.unreachable,
  },
  {
    typed: 'trigger KYC/FULL_USR',
    says: 'KYC has no subType "FULL_USR"; did you mean FULL_USER',
    names: 'trigger KYC/FULL_USER',
  },
];

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
      const helped = await type(command.replace('hookrail sim ', ''));
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

test('a suggestion never repeats a secret', async () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const { stderr } = await type(`run kyc.happy --sink direct --to https://a.com --secrt ${secret}`);
  expect(stderr).toContain('did you mean --secret?');
  expect(stderr).not.toContain(secret);
});
