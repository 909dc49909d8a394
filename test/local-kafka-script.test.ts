/** Guarantee: `npm run kafka:local` prints what to export, keeps the data of --data, and leaves no process behind. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Kafka, logLevel } from 'kafkajs';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { freePort, freePorts, isFree } from '../scripts/free-ports.ts';
import { eventually } from './support/eventually.ts';
import { createTopics } from './support/kafka/created-topics.ts';
import { describeWhereKafkaStarts } from './support/kafka/suites.ts';

const clientOf = (brokers: string[]) =>
  new Kafka({ clientId: 'local-kafka-test', brokers, logLevel: logLevel.NOTHING, retry: { retries: 30 } });

await describeWhereKafkaStarts('npm run kafka:local', () => {
  let temporary: string;
  beforeEach(() => {
    temporary = mkdtempSync(join(tmpdir(), 'hookrail-local-kafka-'));
  });
  afterEach(() => rmSync(temporary, { recursive: true, force: true }));

  it('prints the variables to export, leaves no process behind when killed, and keeps the data of --data', async () => {
    const dataDir = join(temporary, 'kept');
    const first = await startScript(['--data', dataDir]);
    expect(first.lines[0]).toBe('export HOOKRAIL_ENGINE=kafka');
    expect(first.lines[1]).toBe(`export HOOKRAIL_KAFKA_BROKERS=${first.broker}`);
    const registryUrl = /^export HOOKRAIL_SCHEMA_REGISTRY_URL=(.*)$/.exec(first.lines[2] ?? '')?.[1] ?? '';
    expect((await fetch(`${registryUrl}/subjects`)).status).toBe(200);
    const admin = clientOf([first.broker]).admin();
    await admin.connect();
    await createTopics(admin, [{ topic: 'kept', numPartitions: 1 }]);
    await admin.disconnect();
    first.child.kill('SIGKILL');
    await eventually('Kafka is gone', () => isFree(Number(first.broker.split(':')[1])));
    await eventually('the registry is gone', () => isFree(Number(new URL(registryUrl).port)));

    const second = await startScript(['--data', dataDir]);
    const again = clientOf([second.broker]).admin();
    await again.connect();
    expect(await again.listTopics()).toContain('kept');
    await again.disconnect();
    second.child.kill('SIGINT');
    expect(await second.ended).toBe(0);
    await expect(startScript(['--data', dataDir, '--brokers', '3'])).rejects.toThrow(
      /holds the data of one Kafka node, not of 3/,
    );
  }, 120_000);

  it('also starts PostgreSQL, keeps its data with --data, and leaves no process behind when killed', async () => {
    // Where this user is root, PostgreSQL runs as another one.
    chmodSync(temporary, 0o711);
    const port = await freePort();
    const args = ['--postgres', '--postgres-port', `${port}`, '--data', temporary];
    const first = await startScript(args, 5);
    expect(first.lines[3]).toBe('export HOOKRAIL_STORE=postgres');
    const url = /^export HOOKRAIL_POSTGRES_URL=(.*)$/.exec(first.lines[4] ?? '')?.[1] ?? '';
    await queryOnce(url, 'CREATE TABLE kept ()');
    first.child.kill('SIGKILL');
    await eventually('PostgreSQL is gone', () => isFree(port));
    const second = await startScript(args, 5);
    await queryOnce(url, 'SELECT * FROM kept');
    second.child.kill('SIGINT');
    expect(await second.ended).toBe(0);
    expect(await isFree(port)).toBe(true);
  }, 120_000);

  it('names the port that is in use', async () => {
    const port = await freePort();
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    await expect(startScript(['--port', String(port)])).rejects.toThrow(
      `Port ${port} on 127.0.0.1 is in use. Stop the program that listens there`,
    );
    server.close();
  });
});

interface Script {
  readonly child: ChildProcess;
  readonly broker: string;
  /** Its standard output: what to export. */
  readonly lines: string[];
  readonly ended: Promise<number | null>;
}

async function queryOnce(connectionString: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(text).finally(() => client.end());
}

/** Runs scripts/local-kafka.ts and resolves when it has said all; rejects with its messages when it ends before. */
async function startScript(args: readonly string[], linesMin = 3): Promise<Script> {
  const [port, registryPort] = await freePorts(2);
  const command = ['--import', 'tsx', 'scripts/local-kafka.ts', '--port', `${port}`];
  const child = spawn(process.execPath, [...command, '--registry-port', `${registryPort}`, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  let messages = '';
  child.stderr.on('data', (chunk) => {
    messages += chunk;
  });
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout });
  await Promise.race([
    new Promise<void>((resolve) => {
      output.on('line', (line) => {
        if (lines.push(line) === linesMin) resolve();
      });
    }),
    ended.then((code) => {
      throw new Error(`the script ended with ${code}: ${messages}`);
    }),
  ]);
  return { child, broker: `127.0.0.1:${port}`, lines, ended };
}
