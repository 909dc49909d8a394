/**
 * The image: what the Dockerfile copies is enough to build it, and every container of docker-compose.yml that runs it
 * starts as the image's user, on a read-only root file system, with the volumes that it has.
 */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compose, type Service } from './support/deployment.ts';
import { ENTRYPOINT, Image, whyNoContainer } from './support/image/image.ts';
import { kafkaEnvironment } from './support/kafka/environment.ts';
import { describeWithKafka, freshPrefix } from './support/kafka/suites.ts';
import { describeWithPostgres, type TestDatabase } from './support/postgres/suites.ts';

const BUILD_MS = 300_000;
const START_MS = 120_000;
const missing = whyNoContainer();
if (missing !== undefined) {
  if (process.env.HOOKRAIL_REQUIRE_CONTAINERS === '1') throw new Error(missing);
  console.warn(`The image is not tried. ${missing}`);
}

const image = new Image();
beforeAll(() => {
  if (missing === undefined) image.build();
}, BUILD_MS);
afterAll(() => image.remove());

const PORTS = { HOOKRAIL_API_PORT: '0', HOOKRAIL_OPS_PORT: '0' };
const serviceOf = (name: string) => compose.services[name] as Service;
const commandOf = ({ entrypoint = ENTRYPOINT, command = [] }: Service) =>
  [...entrypoint, ...command].map((word) => word.replaceAll('$$', '$'));

/** Puts the password of a URL into the file from which containers read it. Returns the rest. */
function withPasswordIn(role: string, url: string): string {
  const rest = new URL(url);
  writeFileSync(
    join(image.volume(`passwords-${role}`), 'password'),
    `${decodeURIComponent(rest.password)}\n`,
  );
  rest.password = '';
  return rest.href;
}

describe.skipIf(missing !== undefined)('the image', () => {
  test('has the binaries of its packages, and no second Node', () => {
    const packages = readdirSync(join(image.app, 'node_modules'));
    expect(packages.filter((name) => name.startsWith('node-linux'))).toEqual([]);
    expect(readdirSync(join(image.app, 'node_modules', '.bin'))).not.toContain('node');
    expect(packages).toContain('better-sqlite3');
    expect(packages).not.toContain('vitest');
    for (const path of ['services', 'test', 'data', '.git'])
      expect(existsSync(join(image.app, path))).toBe(false);
  });

  test.each(['@node-rs/crc32', 'lz4-napi', 'better-sqlite3', 'esbuild'])('can load %s', async (name) => {
    const load = `import(${JSON.stringify(name)}).then(() => process.stdout.write(process.version))`;
    const running = image.start(serviceOf('router'), ['node', '-e', load]);
    expect([await running.ended, running.text]).toEqual([{ code: 0, signal: null }, process.version]);
  });

  test('runs the executable on its Node', async () => {
    const running = image.start(serviceOf('router'), ['bin/hookrail.mjs', '--version']);
    expect(await running.ended).toEqual({ code: 0, signal: null });
    expect(running.text).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test('cannot be written to, except where compose says so', async () => {
    const paths = ['/app/x', '/x', '/etc/x', '/var/lib/hookrail/x', '/tmp/x', '/var/lib/hookrail/data/x'];
    const script = `for path in ${paths.join(' ')}; do (: > $path) 2>/dev/null && echo $path; done; id -u`;
    const running = image.start(serviceOf('api'), ['/bin/sh', '-c', script]);
    await running.ended;
    expect(running.text).toBe('/tmp/x\n/var/lib/hookrail/data/x\n1000\n');
  });

  test('makes key ring and authority in its first container, and again without a change', async () => {
    for (let round = 0; round < 2; round += 1) {
      const running = image.start(serviceOf('setup'), commandOf(serviceOf('setup')));
      expect([await running.ended, running.text]).toEqual([{ code: 0, signal: null }, expect.any(String)]);
    }
    expect(statSync(join(image.volume('keys'), 'keyring.json')).mode & 0o777).toBe(0o600);
    expect(readdirSync(image.volume('trust'))).toEqual(['ca.crt']);
    expect(readdirSync(image.volume('authority'))).toContain('ca.key');
    const roles = ['admin', 'owner', 'running'];
    const passwords = roles.map((role) =>
      readFileSync(join(image.volume(`passwords-${role}`), 'password'), 'utf8'),
    );
    expect(new Set(passwords).size).toBe(roles.length);
    for (const password of passwords) expect(password).toMatch(/^[\w-]{32}\n$/);
  });

  test('starts the receiver', { timeout: START_MS }, async () => {
    const service = serviceOf('receiver');
    const command = commandOf(service).map((word) => (word === 'receiver' ? 'receiver' : word));
    const local = command.map((word, i) => (command[i - 1] === '--host' ? 'localhost' : word));
    const running = image.start(
      service,
      local.map((word, i) => (local[i - 1] === '--port' ? '0' : word)),
    );
    await running.says('https://localhost:');
    running.child.kill('SIGTERM');
    await running.ended;
  });
});

await describeWithKafka('with Kafka', async (kafka) => {
  await describeWithPostgres('and PostgreSQL', (createDatabase) => {
    describe.skipIf(missing !== undefined)('the image', () => {
      let database: TestDatabase;
      let others: Record<string, string>;
      beforeAll(async () => {
        database = await createDatabase();
        const url = { HOOKRAIL_POSTGRES_URL: withPasswordIn('running', database.running) };
        others = { ...kafkaEnvironment(kafka, freshPrefix()), ...url, ...PORTS };
      });
      afterAll(() => database?.drop());

      test('migrates the database', { timeout: START_MS }, async () => {
        const owner = { ...others, HOOKRAIL_POSTGRES_MIGRATE_URL: withPasswordIn('owner', database.owner) };
        const running = image.start(serviceOf('migrate'), commandOf(serviceOf('migrate')), owner);
        expect([await running.ended, running.text]).toEqual([{ code: 0, signal: null }, expect.any(String)]);
      });

      test.each(['api', 'recorder', 'router', 'sender'])(
        'starts as %s, and ends',
        { timeout: START_MS },
        async (role) => {
          const running = image.start(serviceOf(role), commandOf(serviceOf(role)), others);
          await running.says('hookrail is running');
          const line = running.text.split('\n').find((each) => each.includes('hookrail is running')) ?? '{}';
          const { operations } = JSON.parse(line);
          const { port } = new URL(operations);
          expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
          running.child.kill('SIGTERM');
          expect(await running.ended).toEqual({ code: 0, signal: null });
        },
      );

      test('needs no data directory that can be written to when the operator’s token is given', {
        timeout: START_MS,
      }, async () => {
        const without = { ...serviceOf('api'), tmpfs: ['/tmp'] };
        const refused = image.start(without, ENTRYPOINT, others);
        expect(await refused.ended).toMatchObject({ code: 1 });
        expect(refused.text).toMatch(/EROFS.*HOOKRAIL_DATA_DIR.*HOOKRAIL_OPERATOR_TOKEN_FILE/);
        const volumes = [...(without.volumes ?? []), 'secrets:/run/secrets:ro'];
        image.secret('token', 'a-token-of-one-s-own-0123456789abcdef');
        const given = { ...others, HOOKRAIL_OPERATOR_TOKEN_FILE: '/run/secrets/token' };
        const running = image.start({ ...without, volumes }, ENTRYPOINT, given);
        await running.says('hookrail is running');
        running.child.kill('SIGTERM');
        expect(await running.ended).toEqual({ code: 0, signal: null });
      });
    });
  });
});
