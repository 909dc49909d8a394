/**
 * The operator's tool does the same whether a service runs (it asks it) or not (it opens the store), and says clearly
 * what it cannot do.
 */
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSqliteBroker } from '../../services/broker/sqlite/sqlite-broker.ts';
import { KeyRing } from '../../services/keys/keyring.ts';
import { operatorService } from '../../services/operator/commands/operator-service.ts';
import { operatorRoutes } from '../../services/operator/commands/routes.ts';
import { operatorTokenFile } from '../../services/operator/commands/token-file.ts';
import { runOperator } from '../../services/operator.ts';
import { systemClock } from '../../services/process/clock.ts';
import { systemRandom } from '../../services/process/random.ts';
import { openSqliteStore } from '../../services/store/sqlite/sqlite-store.ts';
import { eventually } from '../support/eventually.ts';
import { anEvent, EVERY_MERCHANT, quarantined } from '../support/records/broker-records.ts';
import { runTool, toolAnswer } from '../support/service/operator-tool.ts';

let dataDir: string;
let opsPort = 1;
const healthPolicy = { withoutSuccessMs: 86_400_000, failedAttempts: 20 };
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hookrail-operator-'));
  KeyRing.create(join(dataDir, 'keyring.json'));
  opsPort = 1;
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const where = () => ({ HOOKRAIL_DATA_DIR: dataDir, HOOKRAIL_OPS_PORT: String(opsPort) });
const operator = (...argv: string[]) => runTool(where(), ...argv);
const json = (...argv: string[]) => toolAnswer(where(), ...argv);

const openBroker = () =>
  openSqliteBroker({ file: join(dataDir, 'broker.db'), clock: systemClock(), retryScale: 1 });

/** Three events in quarantine, of merchants of their own. */
async function fillQuarantine() {
  const broker = await openBroker();
  const events = [anEvent(), anEvent(), anEvent()];
  await broker.publishEvents(events);
  const consumer = await broker.events.consume(
    (received) => {
      if (!received.decoded.ok) throw new Error('these can be read');
      return { kind: 'quarantined', record: quarantined(received.decoded.event, received) };
    },
    { inFlightMax: 10 },
  );
  await eventually(
    'three records are in quarantine',
    async () => (await broker.quarantine.list({ limit: 9 })).length === 3,
  );
  await consumer.stop(1000);
  await broker.close();
}

/** The operator interface as a running service mounts it, with the store locked. */
async function startService() {
  const clock = systemClock();
  const keyRing = () => KeyRing.read(join(dataDir, 'keyring.json'));
  const file = join(dataDir, 'store.db');
  const store = await openSqliteStore({ file, clock, healthPolicy, keyRing: keyRing() });
  const broker = await openBroker();
  const means = { store, broker, directory: EVERY_MERCHANT, clock, random: systemRandom, keyRing };
  const log = pino({ level: 'silent' });
  const deps = {
    ...means,
    environment: 'sandbox',
    consoleUrl: null,
    dataDir,
    operatorTokenFile: '',
    log,
  } as const;
  const server: Server = createServer(express().use('/operator', operatorRoutes(operatorService(deps))));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opsPort = (server.address() as AddressInfo).port;
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await broker.close();
    await store.close();
  };
  return { store, stop };
}

describe.each(['asking a running service', 'opening the store'])('the operator tool, %s,', (mode) => {
  let stop = async () => {};
  beforeEach(async () => {
    if (mode === 'asking a running service') ({ stop } = await startService());
  });
  afterEach(async () => {
    await stop();
    stop = async () => {};
  });

  test('manages a merchant from its creation to a hold', async () => {
    expect((await operator('merchants', 'list')).out).toBe('none');
    const made = await json('merchants', 'create', '--name', 'Acme');
    expect(made).toMatchObject({ name: 'Acme', state: 'active', senderAccountDetails: false });
    const id = made.merchantId;
    expect((await json('merchants', 'pause', id)).state).toBe('paused');
    expect((await json('merchants', 'resume', id)).state).toBe('active');
    const set = await json('merchants', 'set', id, '--name', 'Acme Ltd', '--sender-account-details');
    expect(set).toMatchObject({ name: 'Acme Ltd', senderAccountDetails: true });
    expect((await json('merchants', 'set', id, '--no-sender-account-details')).senderAccountDetails).toBe(
      false,
    );
    expect(await json('merchants', 'list')).toHaveLength(1);
    expect((await operator('merchants', 'list')).out).toContain(`\n${id}  active  Acme Ltd\n`);
  });

  test('fails with one line that says what to do, and tells what was typed wrong by exit code 2', async () => {
    const unknown = crypto.randomUUID();
    for (const [exit, argv, hint] of [
      [1, ['merchants', 'pause', unknown], 'merchants list'],
      [2, ['merchants', 'set', unknown], 'nothing to set'],
      [2, ['merchants', 'create', '--name', ' '], 'name'],
      [2, ['merchants', 'create', '--name', 'x', '--id', 'x'], 'not a UUID'],
      [1, ['keys', 'create', '--merchant', unknown], 'merchants list'],
      [2, ['keys', 'create'], '--producer'],
      [2, ['keys', 'create', '--producer', '--merchant', unknown], '--producer'],
    ] as const) {
      const { code, out, err } = await operator(...argv);
      expect([argv, code, out]).toEqual([argv, exit, '']);
      expect(err.split('\n')).toHaveLength(1);
      expect(err).toContain(hint);
    }
  });
});

describe.each(['asking a running service', 'opening the broker'])(
  'the operator tool for stored records, %s,',
  (mode) => {
    test('lists the quarantine without data, and puts records back by position or by reason', async () => {
      await fillQuarantine();
      const stop = mode === 'opening the broker' ? async () => {} : (await startService()).stop;
      const listed = await json('quarantine', 'list');
      if (mode === 'opening the broker') {
        const refused = await operator('quarantine', 'show', listed[0].position);
        expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('no store here')]);
        await operator('merchants', 'list');
      }
      expect(listed).toHaveLength(3);
      expect(Object.keys(listed[0]).join(' ')).toBe(
        'position at reason eventId merchantId publishedBy place key bytes title detail remedy',
      );
      const [first, second] = listed;
      expect(await json('quarantine', 'list', '--limit', '1', '--after', first.position)).toEqual([second]);
      const { hex, ...details } = await json('quarantine', 'show', first.position);
      expect(details).toMatchObject({ ...first, event: { header: { eventId: first.eventId } } });
      const { out } = await operator('quarantine', 'show', first.position);
      expect(out.includes('; unchecked, since')).toBe(mode === 'opening the broker');
      const file = join(dataDir, `${first.eventId}.bin`);
      const { base64 } = await json('quarantine', 'show', first.position, '--encoding', 'base64');
      expect(await json('quarantine', 'show', first.position, '--file', file)).toEqual({ ...details, file });
      expect([hex, base64]).toEqual([readFileSync(file, 'hex'), readFileSync(file, 'base64')]);
      expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ eventId: first.eventId });
      expect((await operator('quarantine', 'show', '999999')).err).toContain('there is no record at 999999');
      expect(await json('quarantine', 'replay', first.position)).toEqual({ replayed: 1 });
      expect(await json('quarantine', 'replay', first.position)).toEqual({ replayed: 0 });
      const others = ['--reason', 'render_failed', '--merchant', second.merchantId];
      expect(await json('quarantine', 'replay', ...others)).toEqual({ replayed: 0 });
      expect(await json('quarantine', 'list')).toHaveLength(2);
      expect(await json('quarantine', 'replay', '--reason', second.reason)).toEqual({ replayed: 2 });
      expect((await operator('quarantine', 'list')).out).toBe('none');
      expect((await operator('dead-letters', 'list')).out).toBe('none');
      await stop();
    });

    test('fails with one line, and tells what was typed wrong by exit code 2', async () => {
      const stop = mode === 'opening the broker' ? async () => {} : (await startService()).stop;
      for (const [exit, argv, hint] of [
        [2, ['quarantine', 'replay'], '--all'],
        [2, ['quarantine', 'replay', '1', '--all'], '--all'],
        [2, ['quarantine', 'list', '--limit', '0'], '1 to 1000'],
        [2, ['quarantine', 'list', '--after', 'x'], 'not a position'],
        [1, ['topics'], 'HOOKRAIL_ENGINE'],
        [1, ['schemas'], 'HOOKRAIL_ENGINE'],
      ] as const) {
        const { code, out, err } = await operator(...argv);
        expect([argv, code, out]).toEqual([argv, exit, '']);
        expect(err.split('\n')).toHaveLength(1);
        expect(err).toContain(hint);
      }
      await stop();
    });
  },
);

test('the topics command prints a shell script for a cluster’s administrator, for each process', async () => {
  const out: string[] = [];
  const environment = {
    HOOKRAIL_ENGINE: 'kafka',
    HOOKRAIL_KAFKA_BROKERS: 'kafka:9092',
    HOOKRAIL_SCHEMA_REGISTRY_URL: 'http://registry',
  };
  const code = await runOperator(['topics'], environment, (line) => out.push(line), console.error);
  expect(code).toBe(0);
  const lines = out.join('\n').split('\n');
  for (const line of lines)
    expect(line).toMatch(/^(#.*|kafka-(topics|acls)\.sh --bootstrap-server kafka:9092 .*|)$/);
  expect(lines.filter((line) => line.startsWith('kafka-topics.sh'))).toHaveLength(15);
  const sender = lines.filter((line) => line.includes('User:hookrail-sender ')).join('\n');
  expect(sender).toContain('--topic wh.retry.46658s');
  expect(sender).not.toContain('--operation Write --topic wh.directory');
});

test('the schemas command prints curl lines that show no password, and the same as JSON', async () => {
  const environment = {
    HOOKRAIL_ENGINE: 'kafka',
    HOOKRAIL_KAFKA_BROKERS: 'kafka:9092',
    HOOKRAIL_SCHEMA_REGISTRY_URL: 'http://registry',
    HOOKRAIL_SCHEMA_REGISTRY_USERNAME: 'registrar',
    HOOKRAIL_SCHEMA_REGISTRY_PASSWORD: 'secret-word',
  };
  const { code, out } = await runTool(environment, 'schemas');
  expect(code).toBe(0);
  expect(out).not.toContain('secret-word');
  const lines = out.split('\n').filter((line) => line.startsWith('curl '));
  for (const line of lines) expect(line).toContain('USERNAME:$HOOKRAIL_SCHEMA_REGISTRY_PASSWORD"');
  const schemas: { subject: string; schema: string; commands: string[] }[] = await toolAnswer(
    environment,
    'schemas',
  );
  expect(schemas.flatMap(({ commands }) => commands)).toEqual(lines);
  expect(schemas.map(({ subject }) => subject)).toContain('hookrail.internal.JournalEntries');
});

describe('the operator’s command line', () => {
  test.each([
    [[]],
    [['merchants']],
    [['merchants', 'sell']],
    [['keys', 'create', '--colour', 'red']],
    [['merchants', 'create']],
    [['merchants', 'list', '--output', 'xml']],
  ])('is refused with exit code 2 when it is %j', async (argv) => {
    const { code, err } = await operator(...argv);
    expect(code).toBe(2);
    expect(err).toMatch(/→ hookrail operator .*(--help|merchants set)$/m);
  });

  test('makes a key ring for its owner only, and never overwrites one', async () => {
    const file = join(dataDir, 'ring.json');
    expect((await operator('keyring', 'create', '--out', file)).code).toBe(0);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const before = await readFile(file, 'utf8');
    const again = await operator('keyring', 'create', '--out', file);
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('not overwritten')]);
    expect(await readFile(file, 'utf8')).toBe(before);
    const nowhere = await operator('keyring', 'create', '--out', join(dataDir, 'no', 'ring.json'));
    expect([nowhere.code, nowhere.err]).toEqual([1, expect.stringContaining('ENOENT')]);
  });
});

describe('the operator access of a running service', () => {
  test('needs a token, new at each start and readable by its owner only', async () => {
    const first = await startService();
    const file = operatorTokenFile(dataDir);
    const token = await readFile(file, 'utf8');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const url = `http://127.0.0.1:${opsPort}/operator/merchants-list`;
    for (const authorization of ['', 'Bearer x', `Bearer ${token.trim()}x`, token.trim()]) {
      const response = await fetch(url, { method: 'POST', headers: { authorization } });
      expect(response.status).toBe(401);
      expect(await response.text()).not.toContain(token.trim());
    }
    const right = { method: 'POST', headers: { authorization: `Bearer ${token.trim()}` } };
    expect(await (await fetch(url, right)).json()).toEqual({ result: [] });
    await first.stop();
    const second = await startService();
    expect(await readFile(file, 'utf8')).not.toBe(token);
    await second.stop();
  });

  test('when it cannot be reached, gives an error that says where it was looked for', async () => {
    const service = await startService();
    opsPort = 1;
    for (const command of ['merchants', 'quarantine', 'dead-letters']) {
      const { code, err } = await operator(command, 'list');
      expect([code, err]).toEqual([1, expect.stringContaining('HOOKRAIL_OPS_PORT')]);
    }
    await service.stop();
  });

  test('is replaced by opening the store after the service stopped', async () => {
    const service = await startService();
    await json('merchants', 'create', '--name', 'Acme');
    await service.stop();
    expect(await json('merchants', 'list')).toHaveLength(1);
  });
});
