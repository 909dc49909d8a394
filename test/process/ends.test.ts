/**
 * Processes and threads that use SQLite end under load, again and again, and none ends by an abort: a compiled library
 * that is unloaded at the wrong moment ends the whole process. LONG_RUN=1 ends 100.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { Launched } from '../support/launched.ts';
import { sizeOf } from '../support/long-runs.ts';
import {
  type LoggingReceiver,
  NEVER_ANSWERED,
  startLoggingReceiver,
} from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';

const PROCESSES = sizeOf('ENDS_OF_PROCESSES');
const THREADS = 100;
const BATCH = 20;

let setup: ServiceSetup;
let receiver: LoggingReceiver;
const folder = mkdtempSync(join(tmpdir(), 'hookrail-ends-'));
let arrived = 0;

beforeAll(async () => {
  setup = await prepareSetup({ HOOKRAIL_LOG_LEVEL: 'info', HOOKRAIL_RETRY_SCALE: '10000' });
  receiver = await startLoggingReceiver(setup.receiverCert, async () => {
    arrived += 1;
    return arrived % 3 === 0 ? 500 : 200;
  });
});

afterAll(async () => {
  await receiver?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Publishes and reads until the service does not answer any more. */
async function load(merchant: MerchantClient): Promise<void> {
  for (;;) {
    const events = Array.from({ length: BATCH }, () => jsonEventOf(setup.merchantId, `${Math.random()}`));
    try {
      await Promise.all([
        merchant.publish(events),
        merchant.request('GET', '/merchant/webhook-deliveries?limit=100'),
        merchant.request('GET', '/merchant/events?limit=100'),
      ]);
    } catch {
      return;
    }
  }
}

test(`a service that is ended under load exits with 0, ${PROCESSES} times`, {
  timeout: 60_000 + PROCESSES * 30_000,
}, async () => {
  for (let round = 0; round < PROCESSES; round += 1) {
    const service: Service = await startService(setup.environment);
    const merchant = new MerchantClient(setup, () => service);
    if (round === 0) await merchant.createEndpoint(`${receiver.url}/hooks`);
    const loads = [load(merchant), load(merchant)];
    const enough = arrived + 1 + ((round * 37) % 150);
    await eventually('deliveries arrive', () => arrived >= enough, 60_000);
    const code = await service.end('SIGTERM');
    await Promise.all(loads);
    const lines = service.output.filter((line) => !line.startsWith('{'));
    expect([round, code, service.process.signalCode, lines]).toEqual([round, 0, null, []]);
    expect(
      service.output.filter((line) => line.includes('"event":"stopping","signal":"SIGTERM"')),
    ).toHaveLength(1);
  }
});

test('a second signal ends a service at once, with a line that says so', async () => {
  const service = await startService(setup.environment);
  const merchant = new MerchantClient(setup, () => service);
  const hanging = await startLoggingReceiver(setup.receiverCert, () => NEVER_ANSWERED);
  try {
    await merchant.createEndpoint(`${hanging.url}/hooks`, { description: 'hangs' });
    await merchant.publish([jsonEventOf(setup.merchantId, 'hangs')]);
    await eventually('an attempt is under way', () => hanging.inFlight() > 0);
    service.process.kill('SIGINT');
    await eventually('it is stopping', () =>
      service.output.some((line) => line.includes('"signal":"SIGINT"')),
    );
    service.process.kill('SIGINT');
    await eventually('it has ended', () => service.process.exitCode !== null);
    expect(service.process.exitCode).toBe(1);
    expect(service.output.filter((line) => !line.startsWith('{'))).toEqual([
      'hookrail ends at once: a second SIGINT',
    ]);
  } finally {
    service.process.kill('SIGKILL');
    await hanging.close();
  }
});

/** Starts threads that read and write a database, and ends each in the middle of it: some at once, some by themselves. */
const THREADS_PROGRAM = `
  import { Worker } from 'node:worker_threads';
  const [folder, count, sqlite] = process.argv.slice(1);
  const thread = \`
    const { parentPort, workerData } = require('node:worker_threads');
    const db = new (require(workerData.sqlite))(workerData.file);
    db.pragma('journal_mode = WAL');
    db.exec('CREATE TABLE IF NOT EXISTS row (id INTEGER PRIMARY KEY, text TEXT)');
    const reader = new (require(workerData.sqlite))(workerData.file, { readonly: true });
    const insert = db.prepare('INSERT INTO row (text) VALUES (?)');
    const rows = db.prepare('SELECT * FROM row ORDER BY text');
    let round = 0;
    (function work() {
      db.transaction(() => { for (let i = 0; i < 50; i += 1) insert.run(String(Math.random())); })();
      // Statements that nobody has finished, and that are collected at any moment.
      for (let i = 0; i < 20; i += 1) reader.prepare('SELECT * FROM row WHERE id > ' + i).iterate().next();
      rows.all();
      round += 1;
      if (round === 1) parentPort.postMessage('works');
      if (round === workerData.rounds) process.exit(0);
      setImmediate(work);
    })();
  \`;
  let ended = 0;
  async function end(number) {
    // Half of them end by themselves, the others are ended in the middle of a statement.
    const rounds = number % 2 === 0 ? 1 + (number % 5) : Infinity;
    const worker = new Worker(thread, { eval: true, execArgv: [], workerData: { sqlite, rounds, file: folder + '/' + (number % 4) + '-' + number } });
    const gone = new Promise((done) => worker.once('exit', done));
    await new Promise((done, fail) => worker.once('message', done).once('error', fail));
    if (rounds === Infinity) await worker.terminate();
    await gone;
    ended += 1;
  }
  const numbers = Array.from({ length: Number(count) }, (_, number) => number);
  await Promise.all([0, 1, 2, 3].map(async () => { while (numbers.length > 0) await end(numbers.pop()); }));
  console.log(ended + ' ended');
`;

test(`${THREADS} threads that are ended while they use SQLite do not end the process`, {
  timeout: 300_000,
}, async () => {
  const sqlite = createRequire(import.meta.url).resolve('better-sqlite3');
  const args = ['--input-type=module', '--eval', THREADS_PROGRAM, folder, String(THREADS), sqlite];
  const running = new Launched(spawn(process.execPath, args));
  const end = await running.ended;
  expect([end, running.text]).toEqual([{ code: 0, signal: null }, `${THREADS} ended\n`]);
});
