/**
 * Guarantee: log output that cannot be written never ends, blocks or fills the process. It is dropped beyond a bound,
 * counted, and reported once it can be written again. The long form: LONG_RUN=1.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { BUILT } from '../support/built/modules.ts';
import { eventually } from '../support/eventually.ts';
import { NO_SMALL_DISK, SmallDisk } from '../support/faults/small-disk.ts';
import { sizeOf } from '../support/long-runs.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';

const BLOCKED_MS = sizeOf('LOG_BLOCKED_SECONDS') * 1000;
const START_MS_MAX = 60_000;
const PER_SECOND = 500;
const BATCH = 250;
const TOLD = /(\d+) log lines were dropped while standard output could not be written/;

let setup: ServiceSetup;
let receiver: LoggingReceiver;

beforeAll(async () => {
  setup = await prepareSetup();
  receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
});

afterAll(() => receiver?.close());

interface Started {
  readonly process: ChildProcess;
  readonly apiUrl: string;
  readonly operationsUrl: string;
  readonly exited: Promise<number | null>;
}

/** Starts the service with a standard output of the test's choice; `text` gives what was written there so far. */
async function start(stdout: 'pipe' | number, text: (child: ChildProcess) => () => string): Promise<Started> {
  const child = spawn(process.execPath, [BUILT.service], {
    env: { PATH: process.env.PATH, ...setup.environment },
    stdio: ['ignore', stdout, 'inherit'],
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const read = text(child);
  onTestFinished(() => void child.kill('SIGKILL'));
  const isRunning = (line: string) => line.includes('hookrail is running');
  const line = await eventually('the service runs', () => read().split('\n').find(isRunning), START_MS_MAX);
  const { api, operations } = JSON.parse(line);
  return { process: child, apiUrl: api, operationsUrl: operations, exited };
}

async function metricOf(service: Started): Promise<number> {
  const text = await (await fetch(`${service.operationsUrl}/metrics`)).text();
  return Number(/^hookrail_log_lines_dropped_total (\d+)$/m.exec(text)?.[1]);
}

function rssMiB(service: Started): number {
  const status = readFileSync(`/proc/${service.process.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

let round = 0;

/** Publishes events, and thereby makes log lines, until `isOver`. */
async function publishUntil(merchant: MerchantClient, isOver: () => boolean | Promise<boolean>) {
  const ids: string[] = [];
  for (const startedAt = Date.now(); !(await isOver()); ) {
    round += 1;
    const events = Array.from({ length: BATCH }, (_, i) =>
      jsonEventOf(setup.merchantId, `log-${round}-${i}`),
    );
    expect((await merchant.publish(events)).status).toBe(202);
    ids.push(...events.map((event) => event.header.eventId));
    const wait = startedAt + (ids.length / PER_SECOND) * 1000 - Date.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
  }
  return ids;
}

async function arrived(ids: readonly string[]): Promise<void> {
  await eventually(
    'every event has arrived',
    () => {
      const seen = new Set(receiver.arrivals.map((arrival) => arrival.eventId));
      return ids.every((id) => seen.has(id));
    },
    60_000,
  );
}

describe('log output that cannot be written', () => {
  it('to a pipe that nobody reads costs lines, never deliveries, memory or the process', {
    timeout: BLOCKED_MS + 240_000,
  }, async () => {
    let text = '';
    const service = await start('pipe', (child) => {
      child.stdout?.on('data', (chunk) => {
        text += chunk;
      });
      return () => text;
    });
    const merchant = new MerchantClient(setup, () => service);
    await merchant.createEndpoint(`${receiver.url}/pipe`);
    service.process.stdout?.pause();

    const startedAt = Date.now();
    let filledAt = 0;
    let filledMiB = 0;
    const isOver = async () => {
      if (filledAt === 0 && (await metricOf(service)) > 0) {
        [filledAt, filledMiB] = [Date.now(), rssMiB(service)];
      }
      expect(Date.now() - startedAt, 'time until lines were dropped').toBeLessThan(BLOCKED_MS + 120_000);
      return filledAt > 0 && Date.now() - startedAt > BLOCKED_MS;
    };
    await arrived(await publishUntil(merchant, isOver));
    expect((await fetch(`${service.operationsUrl}/livez`)).status).toBe(200);
    expect(rssMiB(service), 'resident memory at the end').toBeLessThan(Math.max(filledMiB * 1.4, 300));

    const dropped = await metricOf(service);
    text = '';
    service.process.stdout?.resume();
    const told = await eventually('the service reports how many lines it dropped', () => TOLD.exec(text));
    expect(Number(told[1])).toBeGreaterThanOrEqual(dropped);
    expect(await metricOf(service), 'nothing is dropped any more').toBe(Number(told[1]));
    await eventually('new lines arrive', async () => {
      await fetch(`${service.apiUrl}/nowhere`);
      return text.slice(told.index).includes('"status":404');
    });

    service.process.stdout?.pause();
    await arrived(await publishUntil(merchant, async () => (await metricOf(service)) > dropped));
    const stoppedAt = Date.now();
    service.process.kill('SIGTERM');
    expect(await service.exited).toBe(0);
    expect(Date.now() - stoppedAt, 'time to stop').toBeLessThan(15_000);
  });

  it('to a full disk costs lines, never deliveries or the process', { timeout: 240_000 }, async ({
    skip,
  }) => {
    const disk = new SmallDisk(2);
    if (!disk.isMounted) return skip(NO_SMALL_DISK);
    try {
      const file = join(disk.folder, 'log');
      const fd = openSync(file, 'a');
      const service = await start(fd, () => () => readFileSync(file, 'utf8'));
      closeSync(fd);
      const merchant = new MerchantClient(setup, () => service);
      await merchant.createEndpoint(`${receiver.url}/disk`);
      const makeRoom = disk.crowd(0);
      expect(() => writeFileSync(join(disk.folder, 'more'), 'more')).toThrow('ENOSPC');

      await arrived(await publishUntil(merchant, async () => (await metricOf(service)) > 0));
      expect((await fetch(`${service.operationsUrl}/readyz`)).status).toBe(200);

      disk.growTo(32);
      makeRoom();
      await eventually('the service reports how many lines it dropped', () =>
        TOLD.exec(readFileSync(file, 'utf8')),
      );
      const whole = readFileSync(file, 'utf8').trim().split('\n');
      for (const line of whole) expect(() => JSON.parse(line), line).not.toThrow();
      service.process.kill('SIGTERM');
      expect(await service.exited).toBe(0);
    } finally {
      disk.dispose();
    }
  });
});
