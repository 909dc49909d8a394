/**
 * The sandbox on Kafka, as a newcomer meets it: the demo is delivered and nothing of the client's noise is in the way;
 * `--sink kafka` writes to the events topic and its deliveries are seen; Ctrl-C ends it within seconds, and the next
 * start goes on. Merchant and keys are the same with another engine and store.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { EXIT } from '../../simulator/exit.ts';
import { BUILT } from '../support/built/modules.ts';
import { eventually } from '../support/eventually.ts';
import { kafkaEnvironment } from '../support/kafka/environment.ts';
import { describeWithKafka, freshPrefix } from '../support/kafka/suites.ts';
import { describeWithPostgres } from '../support/postgres/suites.ts';
import { simHere } from './support/command-line.ts';
import { GOLDEN_NAMES, goldenBodies } from './support/golden.ts';

const STARTED_MS_MAX = 90_000;
const STOPPED_MS_MAX = 10_000;
const keys = (text: string) => text.match(/^ {2}(?:API key|producer key|merchant) .*$/gm);

await describeWithKafka('the simulator on Kafka', async (kafka) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'hookrail-sandbox-kafka-'));
  const environment = kafkaEnvironment(kafka, freshPrefix());

  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  /** Runs the sandbox until its demo is over and `use` has used it, then presses Ctrl-C; answers what it wrote. */
  async function visit(
    use: () => Promise<void>,
    engine: Readonly<Record<string, string>> = environment,
    demo = true,
  ): Promise<string> {
    const ports = { HOOKRAIL_API_PORT: '0', HOOKRAIL_OPS_PORT: '0' };
    const child = spawn(process.execPath, [BUILT.simulator, 'sandbox', demo ? '--demo' : '--no-demo'], {
      env: { PATH: process.env.PATH, HOOKRAIL_DATA_DIR: dataDir, ...ports, ...engine },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
    try {
      const isOver = () => text.includes('Ctrl-C stops it') || child.exitCode !== null;
      await eventually('the demo is delivered', isOver, STARTED_MS_MAX).catch(() => {});
      if (demo) expect(text).toMatch(/✓ fiatToCrypto\/SUCCESS +delivered +200/);
      await use();
      expect(await interrupted(child), text).toBe(0);
    } finally {
      child.kill('SIGKILL');
    }
    return text;
  }

  const run = (...args: string[]) => simHere([...args, '--output', 'ndjson'], { HOOKRAIL_DATA_DIR: dataDir });

  test('plays the demo and a scenario by Kafka, stops at Ctrl-C, and plays again', {
    timeout: 240_000,
  }, async () => {
    const first = await visit(async () => {
      const played = await run('run', 'onramp.happy', '--sink', 'kafka', '--speed', 'instant', '--expect');
      expect(played.code, played.stderr).toBe(EXIT.ok);
      expect(played.stdout).toContain('"met":true');
      const triggered = await run('trigger', 'KYC/FULL_USER', '--sink', 'kafka', '--wait');
      expect(triggered.code, triggered.stderr).toBe(EXIT.ok);
      expect(triggered.stdout).toContain('"status":"delivered"');
    });
    expect(first, 'log lines among what a person reads').not.toMatch(/^\{/m);
    const second = await visit(async () => {
      const checked = await run(
        'scenarios',
        'check',
        '--sink',
        'kafka',
        '--only',
        'kyc.happy,chaos.*,security.*',
      );
      expect(checked.code, checked.stdout + checked.stderr).toBe(EXIT.ok);
      const { HOOKRAIL_MERCHANT_ID: merchantId = '' } = parseEnv(
        readFileSync(join(dataDir, 'sandbox.env'), 'utf8'),
      );
      for (const name of GOLDEN_NAMES) {
        const at = { merchantId, folder: dataDir, sink: 'kafka' };
        const { arrived, planned } = await goldenBodies(name, { HOOKRAIL_DATA_DIR: dataDir }, at);
        expect(arrived).toEqual(planned);
      }
    });
    expect(keys(second)).toEqual(keys(first));
    expect(second).not.toMatch(/^\{/m);
  });

  test.each([
    [
      'no broker',
      ['--kafka-brokers', '127.0.0.1:1'],
      EXIT.unreachable,
      'Kafka at 127.0.0.1:1 did not accept',
    ],
    ['no topic', ['--events-topic', 'nothing.here'], EXIT.unreachable, 'there is no topic nothing.here'],
    ['no registry', ['--schema-registry-url', 'http://127.0.0.1:1'], EXIT.unreachable, 'ECONNREFUSED'],
    ['no address', ['--kafka-brokers', 'kafka'], EXIT.usage, 'is not host:port'],
  ])('fails with an exit code and one line that says what to do for %s', async (_, options, code, line) => {
    const given = {
      HOOKRAIL_DATA_DIR: join(dataDir, 'none'),
      HOOKRAIL_MERCHANT_ID: crypto.randomUUID(),
      ...environment,
    };
    const ended = await simHere(['trigger', 'KYC/FULL_USER', '--sink', 'kafka', ...options], given);
    expect([ended.code, ended.stdout]).toEqual([code, '']);
    const [said, ...next] = ended.stderr.trimEnd().split('\n');
    expect(said).toContain(line);
    for (const step of next) expect(step).toMatch(/^ {2}→ /);
  });

  await describeWithPostgres('and on PostgreSQL', (createDatabase) => {
    test('has the merchant and the keys that it had on SQLite, and each store keeps its endpoints', {
      timeout: 240_000,
    }, async () => {
      const known = () => readFileSync(join(dataDir, 'sandbox.env'), 'utf8').match(/_(?:KEY|ID)=.*/g);
      const listed = async () => (await run('endpoints', 'list')).stdout;
      await visit(
        async () => {
          await run('endpoints', 'create', '--url', 'https://localhost:9/', '--description', 'of SQLite');
        },
        {},
        false,
      );
      const before = known();
      const database = await createDatabase();
      try {
        const postgres = { HOOKRAIL_STORE: 'postgres', HOOKRAIL_POSTGRES_URL: database.url };
        const isNot = async () => expect(await listed()).not.toContain('of SQLite');
        const other = await visit(isNot, { ...environment, ...postgres }, false);
        expect(other).toContain('this store is new');
        expect(known()).toEqual(before);
      } finally {
        await database.drop();
      }
      const back = await visit(async () => expect(await listed()).toContain('of SQLite'), {}, false);
      expect(back).not.toContain('this store is new');
      expect(known()).toEqual(before);
    });
  });
});

/** Presses Ctrl-C and waits for the end, but not for long; answers the exit code. */
function interrupted(child: ChildProcess): Promise<number | null | string> {
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.kill('SIGINT');
  const late = new Promise<string>((resolve) => {
    setTimeout(() => resolve(`did not end within ${STOPPED_MS_MAX} ms`), STOPPED_MS_MAX).unref();
  });
  return Promise.race([ended, late]);
}
