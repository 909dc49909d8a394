/**
 * A key goes to an address of its own source: what a folder's sandbox.env says cannot send a key elsewhere, and a file
 * that others can write is not read.
 */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newApiKey } from '../../services/domain/api-key.ts';
import { EXIT } from '../../simulator/exit.ts';
import { runTool } from '../support/service/operator-tool.ts';
import { simHere } from './support/command-line.ts';

const MINE = newApiKey('merchant', 'sandbox', Buffer.alloc(32, 1));
const OF_FILE = newApiKey('merchant', 'sandbox', Buffer.alloc(32, 2));
const PRODUCER = newApiKey('producer', 'sandbox', Buffer.alloc(32, 3));
const folder = mkdtempSync(join(tmpdir(), 'hookrail-addresses-'));
const file = join(folder, 'sandbox.env');
/** A server of somebody else, and every header that came to it. */
let stranger: Server;
let address: string;
let received = '';

beforeAll(async () => {
  stranger = createServer((request, response) => {
    received += JSON.stringify(request.headers);
    response.setHeader('content-type', 'application/json');
    response.end('{"data":[],"has_more":false,"next_cursor":null}');
  });
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
});
beforeEach(() => {
  received = '';
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
});
afterAll(() => {
  stranger.close();
  rmSync(folder, { recursive: true, force: true });
});

function write(lines: Readonly<Record<string, string>>): void {
  const text = Object.entries(lines).map(([name, value]) => `${name}='${value}'\n`);
  writeFileSync(file, text.join(''), { mode: 0o600 });
}

const list = (environment: Readonly<Record<string, string>>, ...args: readonly string[]) =>
  simHere(['endpoints', 'list', '--data-dir', folder, ...args], environment);

describe('an address that only a file names', () => {
  test.each([
    ['endpoints list', ['endpoints', 'list'], 'HOOKRAIL_API_KEY', MINE],
    ['events tail', ['events', 'tail'], 'HOOKRAIL_API_KEY', MINE],
    [
      'record',
      ['record', '--since', '10m', '--out', join(folder, 'journey.ndjson')],
      'HOOKRAIL_API_KEY',
      MINE,
    ],
    ['whoami', ['whoami'], 'HOOKRAIL_API_KEY', MINE],
    ['trigger', ['trigger', 'KYC/FULL_USER', '--merchant', 'm'], 'HOOKRAIL_PRODUCER_KEY', PRODUCER],
    ['run', ['run', 'kyc.happy', '--merchant', 'm'], 'HOOKRAIL_PRODUCER_KEY', PRODUCER],
  ])('gets no key of the environment: %s', async (_, args, variable, key) => {
    write({ HOOKRAIL_BASE_URL: address });
    const { code, stderr } = await simHere([...args, '--data-dir', folder], { [variable]: key });
    expect([code, received]).toEqual([EXIT.usage, '']);
    expect(stderr).toContain(`an address that only a file names: ${file}`);
    expect(stderr).toContain(`--base-url ${address} (or HOOKRAIL_BASE_URL)`);
    expect(stderr).not.toContain(key);
  });

  test('gets no key of the command line either', async () => {
    write({ HOOKRAIL_BASE_URL: address });
    expect((await list({}, '--api-key', MINE)).code).toBe(EXIT.usage);
    expect(received).toBe('');
  });

  test('gets a key when the user names the address, too', async () => {
    write({ HOOKRAIL_BASE_URL: address });
    expect(await list({ HOOKRAIL_API_KEY: MINE }, '--base-url', address)).toMatchObject({ code: EXIT.ok });
    expect(received).toContain(MINE);
    expect(await list({ HOOKRAIL_API_KEY: MINE, HOOKRAIL_BASE_URL: address })).toMatchObject({
      code: EXIT.ok,
    });
  });

  test('gets the key of that file', async () => {
    write({ HOOKRAIL_BASE_URL: address, HOOKRAIL_API_KEY: OF_FILE });
    expect((await list({})).code).toBe(EXIT.ok);
    expect(received).toContain(OF_FILE);
    // The same key, from a shell that has loaded the file's keys only.
    expect((await list({ HOOKRAIL_API_KEY: OF_FILE })).code).toBe(EXIT.ok);
  });

  test.each([
    ...[
      'http://evil.example',
      'https://evil.example:443',
      'http://localhost.evil.example',
      'http://127.evil.example',
    ],
    ...[
      'http://127.0.0.1.nip.io',
      'http://user@127.0.0.1:1',
      'http://127.0.0.1:1@evil.example',
      'http://0.0.0.0:1',
    ],
    ...[
      'http://192.168.0.1',
      'http://169.254.169.254',
      'http://[::ffff:127.0.0.1]:1',
      'http://[fe80::1]',
      'http://localhost.:1',
    ],
    ...['http://128.0.0.1', 'http://0:1', 'http://[::]:1', 'http://0x80000001', 'http://\\evil.example'],
  ])('is refused when it is not of this machine: %s', async (url) => {
    write({ HOOKRAIL_BASE_URL: url, HOOKRAIL_API_KEY: OF_FILE });
    for (const environment of [{}, { HOOKRAIL_API_KEY: MINE }]) {
      const { code, stderr } = await list(environment);
      expect([code, stderr]).toEqual([
        EXIT.usage,
        expect.stringMatching(/a file may name an address of this machine only|is not an http or https URL/),
      ]);
    }
  });

  test.each([
    'http://2130706433:',
    'http://127.1:',
    'http://0x7f.1:',
    'http://[::1]:',
    'http://localhost:',
    'HTTP://LOCALHOST:',
  ])('is taken when a URL parser reads an address of this machine: %s', async (beginning) => {
    write({ HOOKRAIL_BASE_URL: `${beginning}1`, HOOKRAIL_API_KEY: OF_FILE });
    expect((await list({})).code).toBe(EXIT.unreachable);
  });
});

describe('a key of a file', () => {
  test('is not sent to an address of the environment or the command line', async () => {
    write({ HOOKRAIL_BASE_URL: 'http://127.0.0.1:1', HOOKRAIL_API_KEY: OF_FILE });
    for (const answer of [
      await list({ HOOKRAIL_BASE_URL: address }),
      await list({}, '--base-url', address),
    ]) {
      expect(answer.code).toBe(EXIT.usage);
      expect(answer.stderr).toContain('is for http://127.0.0.1:1; it is not sent to');
    }
    write({ HOOKRAIL_API_KEY: OF_FILE });
    expect((await list({ HOOKRAIL_BASE_URL: address })).code).toBe(EXIT.usage);
    expect(received).toBe('');
  });

  test('is sent to its own address in another spelling', async () => {
    write({ HOOKRAIL_BASE_URL: address, HOOKRAIL_API_KEY: OF_FILE });
    expect((await list({ HOOKRAIL_BASE_URL: `${address}/` })).code).toBe(EXIT.ok);
    expect((await list({ HOOKRAIL_BASE_URL: address.replace('127.0.0.1', '127.1') })).code).toBe(EXIT.ok);
  });
});

describe("the operator's token", () => {
  const clock = (environment: Readonly<Record<string, string>>) =>
    simHere(['clock', 'show', '--data-dir', folder, '--merchant', 'm'], environment);

  test.each([
    [{ HOOKRAIL_OPS_HOST: 'evil.example' }],
    [{ HOOKRAIL_OPS_HOST: '127.0.0.1.nip.io' }],
    [{ HOOKRAIL_OPS_HOST: 'user@evil.example' }],
    [{ HOOKRAIL_OPS_PORT: '80@evil.example' }],
    [{ HOOKRAIL_OPS_PORT: '80/@evil.example' }],
  ])('does not leave this machine for %j of a file', async (lines) => {
    write(lines);
    writeFileSync(join(folder, 'operator.token'), 'token', { mode: 0o600 });
    expect((await clock({})).code).toBe(EXIT.usage);
    const operator = await runTool({ HOOKRAIL_DATA_DIR: folder }, 'merchants', 'list');
    expect([operator.code, operator.err]).toEqual([
      expect.any(Number),
      expect.stringMatching(/HOOKRAIL_OPS_(HOST|PORT)/),
    ]);
    expect(operator.code).not.toBe(0);
  });

  test('does not leave it for the environment', async () => {
    writeFileSync(join(folder, 'operator.token'), 'token', { mode: 0o600 });
    const { code, stderr } = await clock({ HOOKRAIL_OPS_HOST: '192.0.2.1' });
    expect([code, stderr]).toEqual([
      EXIT.usage,
      expect.stringContaining('is not sent to http://192.0.2.1:8081'),
    ]);
  });
});

describe('Kafka', () => {
  const trigger = (environment: Readonly<Record<string, string>>) =>
    simHere(
      ['trigger', 'KYC/FULL_USER', '--merchant', 'm', '--sink', 'kafka', '--data-dir', folder],
      environment,
    );

  test.each([
    [
      {
        HOOKRAIL_KAFKA_BROKERS: '127.0.0.1:1,evil.example:9092',
        HOOKRAIL_SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1',
      },
    ],
    [
      {
        HOOKRAIL_KAFKA_BROKERS: '127.0.0.1:1',
        HOOKRAIL_SCHEMA_REGISTRY_URL: 'http://localhost.evil.example',
      },
    ],
  ])('of another machine is refused from a file: %j', async (lines) => {
    write(lines);
    const { code, stderr } = await trigger({});
    expect([code, stderr]).toEqual([
      EXIT.usage,
      expect.stringContaining('a file may name an address of this machine only'),
    ]);
  });

  test('of a file gets no password of the environment', async () => {
    write({ HOOKRAIL_KAFKA_BROKERS: '127.0.0.1:1', HOOKRAIL_SCHEMA_REGISTRY_URL: address });
    for (const name of ['HOOKRAIL_KAFKA_SASL_PASSWORD', 'HOOKRAIL_SCHEMA_REGISTRY_PASSWORD']) {
      const { code, stderr } = await trigger({
        [name]: 'hidden-password',
        HOOKRAIL_SCHEMA_REGISTRY_USERNAME: 'u',
      });
      expect([code, stderr]).toEqual([EXIT.usage, expect.stringContaining(`${name} is not used with`)]);
      expect(stderr).not.toContain('hidden-password');
    }
    expect(received).toBe('');
  });
});

describe('a file that others can write', () => {
  const lines = () => ({ HOOKRAIL_BASE_URL: address, HOOKRAIL_API_KEY: OF_FILE });

  test.each([0o620, 0o602, 0o666, 0o777])('is not read: mode %o', async (mode) => {
    write(lines());
    chmodSync(file, mode);
    const { code, stderr } = await list({});
    expect([code, received]).toEqual([EXIT.usage, '']);
    expect(stderr).toContain(`${file} can be written by other users (mode ${mode.toString(8)})`);
    expect(stderr).toContain('chmod 600');
    expect((await runTool({ HOOKRAIL_DATA_DIR: folder }, 'merchants', 'list')).err).toContain(
      'can be written by other users',
    );
  });

  test.skipIf(process.getuid?.() !== 0)(
    'is not read when another user owns it, by a symbolic link too',
    async () => {
      write(lines());
      chownSync(file, 12_345, 12_345);
      const linked = mkdtempSync(join(tmpdir(), 'hookrail-linked-'));
      symlinkSync(file, join(linked, 'sandbox.env'));
      for (const dataDir of [folder, linked]) {
        const { code, stderr } = await simHere(['endpoints', 'list', '--data-dir', dataDir]);
        expect([code, stderr]).toEqual([
          EXIT.usage,
          expect.stringContaining('belongs to another user (uid 12345)'),
        ]);
      }
      rmSync(linked, { recursive: true });
      expect(received).toBe('');
    },
  );

  test.each([0o600, 0o400, 0o644])('is read when only others cannot write it: mode %o', async (mode) => {
    write(lines());
    chmodSync(file, mode);
    expect((await list({})).code).toBe(EXIT.ok);
  });

  test('does not stop a command that needs nothing of it', async () => {
    write(lines());
    chmodSync(file, 0o666);
    expect((await simHere(['catalog', '--data-dir', folder])).code).toBe(EXIT.ok);
    expect((await list({ HOOKRAIL_BASE_URL: address, HOOKRAIL_API_KEY: MINE })).code).toBe(EXIT.ok);
  });
});
