/**
 * `hookrail sim doctor` finds what keeps webhooks from arriving, and each line that is not ok ends in what fixes it. Every
 * command of the simulator refuses a live key and a production service.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newApiKey } from '../../services/domain/api-key.ts';
import { type Hookrail, startHookrail } from '../../services/main.ts';
import { SIMULATOR } from '../../simulator/commands.ts';
import { EXIT } from '../../simulator/exit.ts';
import { issueCertificate, openAuthority } from '../../simulator/receiver/certificate-authority.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';
import { accessTo, operationsOf, simHere } from './support/command-line.ts';

let setup: ServiceSetup;
let hookrail: Hookrail;
let merchant: MerchantClient;
let environment: Record<string, string>;
const servers: Server[] = [];
const DAY_MS = 86_400_000;

beforeAll(async () => {
  const authorityDir = mkdtempSync(join(tmpdir(), 'hookrail-doctor-'));
  const authority = await openAuthority(authorityDir);
  setup = await prepareSetup({
    HOOKRAIL_LOG_LEVEL: 'silent',
    HOOKRAIL_EXTRA_CA_FILE: join(authorityDir, 'ca.crt'),
  });
  hookrail = await startHookrail(setup.environment);
  merchant = new MerchantClient(setup, () => hookrail);
  environment = {
    ...accessTo(setup, hookrail),
    ...operationsOf(hookrail),
    HOOKRAIL_EXTRA_CA_FILE: join(authorityDir, 'ca.crt'),
  };
  const hosts = ['localhost'];
  const certificate = async (options: Partial<Parameters<typeof issueCertificate>[1]> = {}) => {
    const { certPem: cert, keyPem: key } = await issueCertificate(authority, { hosts, ...options });
    return { cert, key };
  };
  const answer = (status: number) => (_: unknown, response: { writeHead(status: number): { end(): void } }) =>
    response.writeHead(status).end();
  const stranger = await generate([{ name: 'commonName', value: 'localhost' }]);
  const past = new Date(Date.now() - 30 * DAY_MS);
  await register('good', createHttpsServer(await certificate(), answer(204)));
  await register('told', createHttpsServer(await certificate(), answer(204)), { kind: 'operational' });
  await register('plain', createHttpServer(answer(204)));
  await register('stranger', createHttpsServer({ cert: stranger.cert, key: stranger.private }));
  await register(
    'expired',
    createHttpsServer(await certificate({ notBefore: past, notAfter: new Date(Date.now() - DAY_MS) })),
  );
  await register(
    'ending',
    createHttpsServer(await certificate({ notAfter: new Date(Date.now() + 3 * DAY_MS) }), answer(204)),
  );
  await register('other name', createHttpsServer(await certificate({ hosts: ['example.com'] })));
  await register('strict', createHttpsServer(await certificate(), answer(401)));
  const gone = await register('gone', createHttpsServer(await certificate()));
  await new Promise((resolve) => gone.server.close(resolve));
  const off = await register('off', createHttpsServer(await certificate()));
  await merchant.request('PATCH', `/merchant/webhook-endpoints/${off.uuid}`, { status: 'disabled' });
});

afterAll(async () => {
  for (const server of servers) server.close();
  await hookrail?.stop();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

/** Starts a receiver and registers it under a name. */
async function register(description: string, server: Server, extra: object = {}) {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    server,
    ...(await merchant.createEndpoint(`https://localhost:${port}/`, { description, ...extra })),
  };
}

interface Finding {
  readonly check: string;
  readonly state: string;
  readonly says: string;
  readonly next: readonly string[];
}

async function examine(given: Record<string, string> = {}, ...args: readonly string[]) {
  const { code, stdout, stderr } = await simHere(['doctor', ...args, '--output', 'json'], {
    ...environment,
    ...given,
  });
  const findings: Finding[] = JSON.parse(stdout);
  const of = (check: string) => findings.find((each) => each.check === check);
  return { code, stderr, findings, of };
}

describe('doctor', () => {
  test('finds the fault of each endpoint and says how to fix it; the others are ok', async () => {
    const { code, findings, of } = await examine();
    expect(code).toBe(EXIT.expectation);
    for (const check of ['API', 'API key', 'producer key', 'operations', 'engine', 'clock', 'endpoint good'])
      expect([check, of(check)?.state]).toEqual([check, 'ok']);
    expect(of('engine')?.says).toBe('SQLite');
    const faults: readonly [string, string, RegExp, RegExp][] = [
      [
        'plain',
        'fail',
        /answers in plain HTTP, not TLS/,
        /sim listen --forward-to http:\/\/localhost:\d+\/$/,
      ],
      ['stranger', 'fail', /does not trust the certificate/, /sim cert --host localhost$/],
      ['expired', 'fail', /has expired/, /sim cert --host localhost$/],
      ['other name', 'fail', /has another name/, /sim cert --host localhost$/],
      ['ending', 'warn', /ends in [23] days/, /sim cert --host localhost$/],
      ['gone', 'fail', /nothing listens at localhost/, /sim endpoints disable [0-9a-f-]{36}$/],
      ['off', 'warn', /is disabled \(manual\)/, /sim endpoints enable [0-9a-f-]{36}$/],
    ];
    for (const [name, state, says, next] of faults) {
      const finding = of(`endpoint ${name}`);
      expect(finding).toMatchObject({ state, says: expect.stringMatching(says) });
      expect(finding?.next.filter((each) => next.test(each))).toHaveLength(1);
    }
    for (const { state, next } of findings) expect(next.length > 0).toBe(state !== 'ok');
  });

  test('sends a test webhook on request: so it finds that a receiver refuses the secret', async () => {
    const { of } = await examine({}, '--test');
    for (const check of ['endpoint good', 'endpoint told'])
      expect(of(check)?.says).toContain('a test webhook was accepted');
    expect(of('endpoint strict')).toMatchObject({
      state: 'fail',
      says: expect.stringContaining('the receiver refused it (401)'),
    });
  });

  test('exits with 0 when nothing is wrong', async () => {
    const { body } = await merchant.request('GET', '/merchant/webhook-endpoints?limit=100');
    for (const { uuid, description } of body.data) {
      if (description !== 'good') await merchant.request('DELETE', `/merchant/webhook-endpoints/${uuid}`);
    }
    const { code, stderr, findings } = await examine();
    expect([code, stderr]).toEqual([EXIT.ok, '']);
    expect(findings.filter(({ state }) => state === 'fail')).toEqual([]);
  });

  test('says that the API, the key, the data directory or the operations port is another one', async () => {
    const unknown = newApiKey('merchant', 'sandbox', Buffer.alloc(32, 1));
    const wrongKey = await examine({ HOOKRAIL_API_KEY: unknown });
    expect(wrongKey.of('API')).toMatchObject({
      state: 'fail',
      says: expect.stringContaining('api_key_invalid'),
    });
    const swapped = await examine({ HOOKRAIL_BASE_URL: hookrail.operationsUrl });
    expect(swapped.of('API')?.says).toContain('is the operations port');
    const api = new URL(hookrail.apiUrl);
    const wrongPort = await examine({ HOOKRAIL_OPS_PORT: api.port });
    expect(wrongPort.of('operations')).toMatchObject({ state: 'fail' });
    const elsewhere = await examine({ HOOKRAIL_DATA_DIR: '/none' });
    expect(elsewhere.of('operator')?.says).toContain('/none/operator.token does not exist');
    const badProducer = await examine({ HOOKRAIL_PRODUCER_KEY: setup.apiKey });
    expect(badProducer.of('producer key')).toMatchObject({ state: 'fail' });
  });

  test('without a sandbox says which ports are taken, and what to start', async () => {
    const { of, code } = await examine({
      HOOKRAIL_BASE_URL: 'http://127.0.0.1:1',
      HOOKRAIL_OPS_PORT: new URL(hookrail.apiUrl).port,
      HOOKRAIL_API_PORT: '0',
    });
    expect(code).toBe(EXIT.expectation);
    expect(of('API')?.next.join()).toContain('hookrail start');
    expect(of('port')).toMatchObject({ state: 'ok' });
  });
});

describe('the simulator refuses', () => {
  /** The words after a command's name: enough for it to run. */
  const WORDS: Readonly<Record<string, readonly string[]>> = {
    run: ['onramp.happy'],
    trigger: ['KYC/FULL_USER'],
    scenarios: ['list'],
    endpoints: ['list'],
    deliveries: ['list'],
    events: ['get', setupId()],
    story: [setupId()],
    lookup: [setupId()],
    clock: ['show'],
    assert: ['last'],
    record: ['--out', '/none/journey.ndjson'],
    replay: ['/none/journey.ndjson'],
    listen: ['--forward-to', '3000'],
    sample: ['node'],
    sign: ['--secret', 's', '--body', '/none'],
    verify: ['--secret', 's', '--body', '/none', '--headers', '/none'],
  };

  test.each(SIMULATOR.map(({ command }) => command.split(' ')[0] ?? ''))('a live key in %s', async (name) => {
    const live = newApiKey('merchant', 'production', Buffer.alloc(32, 1));
    for (const given of [{ HOOKRAIL_API_KEY: live }, { HOOKRAIL_PRODUCER_KEY: live }]) {
      const { code, stdout, stderr } = await simHere([name, ...(WORDS[name] ?? [])], {
        ...environment,
        ...given,
      });
      expect([code, stdout, stderr]).toEqual([EXIT.usage, '', expect.stringContaining('is a live key')]);
      expect(stderr).not.toContain(live);
    }
  });

  test('a production service, before it sends an event', async () => {
    const production = await prepareSetup();
    const { HOOKRAIL_EXTRA_CA_FILE: _, HOOKRAIL_EGRESS_ALLOW: __, ...rest } = production.environment;
    const service = await startHookrail({
      ...rest,
      HOOKRAIL_ENVIRONMENT: 'production',
      HOOKRAIL_LOG_LEVEL: 'silent',
    });
    try {
      const given = {
        ...environment,
        HOOKRAIL_BASE_URL: service.apiUrl,
        HOOKRAIL_PRODUCER_KEY: production.producerKey,
        HOOKRAIL_DATA_DIR: production.dataDir,
        HOOKRAIL_OPS_PORT: new URL(service.operationsUrl).port,
      };
      for (const name of [
        'run',
        'trigger',
        'endpoints',
        'deliveries',
        'events',
        'whoami',
        'clock',
        'doctor',
      ]) {
        const { code, stdout, stderr } = await simHere([name, ...(WORDS[name] ?? [])], given);
        expect([name, `${stdout}${stderr}`]).toEqual([
          name,
          expect.stringContaining('is a production service'),
        ]);
        expect([name, code]).toEqual([name, name === 'doctor' ? EXIT.expectation : EXIT.usage]);
      }
      const token = readFileSync(join(production.dataDir, 'operator.token'), 'utf8').trim();
      const answer = await fetch(`${service.operationsUrl}/operator/quarantine-summary`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
      });
      expect(await answer.json()).toEqual({ result: [] });
    } finally {
      await service.stop();
      rmSync(production.dataDir, { recursive: true, force: true });
    }
  });
});

function setupId(): string {
  return '5b8b075c-7a55-4f3c-8f52-0d0a3e0c6b77';
}
