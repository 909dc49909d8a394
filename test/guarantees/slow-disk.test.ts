/**
 * Guarantee: a slow disk does not slow a request to a receiver. Every fsync of the service takes 20 ms longer (strace
 * injects the delay into the system calls); the requests themselves stay as short as without, because no thread that
 * sends waits for a disk. What is compared is the attempt's own duration as the delivery log has it.
 */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { prepareSetup, type ServiceSetup, startService } from '../support/service/system.ts';

const FSYNC_DELAY_MS = 20;
const EVENTS = 60;
/** Delays every fsync and nothing else; -D keeps the service our own child, so that it can be ended by its id. */
const SLOW_DISK = [
  ...['strace', '-D', '-f', '-qq', '--seccomp-bpf', '-o', '/dev/null', '-e', 'trace=fsync,fdatasync'],
  ...['-e', `inject=fsync,fdatasync:delay_exit=${FSYNC_DELAY_MS * 1000}`],
];
const canTrace = spawnSync('strace', ['-qq', '--seccomp-bpf', '-f', '-o', '/dev/null', 'true']).status === 0;

let setup: ServiceSetup;
let receiver: LoggingReceiver;

beforeAll(async () => {
  // A failed attempt, on a machine that is busy with other tests, is soon made again.
  setup = await prepareSetup({ HOOKRAIL_RETRY_SCALE: '1000' });
  receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
});

afterAll(async () => {
  await receiver?.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

interface Latencies {
  /** Median duration of a request to the receiver, milliseconds. */
  readonly attemptMs: number;
  /** Median time from posting an event to its durable acknowledgement, milliseconds. */
  readonly acknowledgedMs: number;
}

/** Sends events one after the other through a service started with `launcher`. */
async function measure(name: string, launcher: readonly string[]): Promise<Latencies> {
  const service = await startService(setup.environment, launcher);
  const merchant = new MerchantClient(setup, () => service);
  const { uuid } = await merchant.createEndpoint(`${receiver.url}/${name}`);
  const acknowledged: number[] = [];
  for (let index = 0; index < EVENTS; index += 1) {
    const started = performance.now();
    expect((await merchant.publish([jsonEventOf(setup.merchantId, `${name}-${index}`)])).status).toBe(202);
    acknowledged.push(performance.now() - started);
  }
  const durations = await eventually('every delivery is recorded', async () => {
    const path = `/merchant/webhook-endpoints/${uuid}/deliveries`;
    const { body } = await merchant.request('GET', `${path}?limit=100&status=delivered`);
    if (body.data.length < EVENTS) return null;
    const details = body.data.map(({ delivery_uuid: id }: { delivery_uuid: string }) =>
      merchant.request('GET', `${path}/${id}`),
    );
    const answers: { body: { attempts: { duration_ms: number }[] } }[] = await Promise.all(details);
    return answers.map((answer) => answer.body.attempts[0]?.duration_ms ?? Number.NaN);
  });
  await service.end('SIGTERM');
  return { attemptMs: median(durations), acknowledgedMs: median(acknowledged) };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

it.skipIf(!canTrace)(
  'a request takes no longer on a disk whose fsync takes 20 ms more',
  { timeout: 120_000 },
  async () => {
    const quick = await measure('quick', []);
    const slow = await measure('slow', SLOW_DISK);
    console.log(
      `median attempt: ${quick.attemptMs.toFixed(2)} ms, on the slow disk ${slow.attemptMs.toFixed(2)} ms`,
    );
    // Positive control: the delay is there, an acknowledgement waits for it.
    expect(slow.acknowledgedMs).toBeGreaterThan(FSYNC_DELAY_MS);
    expect(slow.attemptMs).toBeLessThan(quick.attemptMs + FSYNC_DELAY_MS / 2);
  },
);
