/**
 * Guarantee: setting the system's time by an hour, either way, while the service runs or before a restart, makes no retry
 * early or late, and webhook-timestamp follows it. The service runs under libfaketime (Debian package faketime), which
 * changes the system's time for one process and leaves its monotonic clock alone.
 */
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';

const HOUR_SECONDS = 3600;
const RETRY_SCALE = 10;
/** Before the second retry. */
const DELAY_MS = 66_000 / RETRY_SCALE;
/** Little beside an hour, and enough for a machine that is busy with other tests. */
const LATE_MS_MAX = 10_000;
const TIMESTAMP_SECONDS_MAX = 10;
const LIBRARY = 'libfaketimeMT.so.1';

function findLibrary(): string | undefined {
  return readdirSync('/usr/lib')
    .map((folder) => join('/usr/lib', folder, 'faketime', LIBRARY))
    .find((file) => existsSync(file));
}

const library = findLibrary();
const offsetFile = join(mkdtempSync(join(tmpdir(), 'hookrail-clock-')), 'offset');
let setup: ServiceSetup;
let receiver: LoggingReceiver;
let service: Service;
let merchant: MerchantClient;
let endpointId: string;
let offsetSeconds = 0;
let count = 0;

function setTime(seconds: number): void {
  offsetSeconds = seconds;
  writeFileSync(offsetFile, `${seconds < 0 ? '' : '+'}${seconds}s\n`);
}

async function start(): Promise<void> {
  service = await startService({
    ...setup.environment,
    LD_PRELOAD: library ?? '',
    FAKETIME_TIMESTAMP_FILE: offsetFile,
    FAKETIME_NO_CACHE: '1',
    DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  });
}

beforeAll(async () => {
  if (!library) return;
  setTime(0);
  setup = await prepareSetup({ HOOKRAIL_RETRY_SCALE: String(RETRY_SCALE) });
  receiver = await startLoggingReceiver(setup.receiverCert, ({ attempt }) => (attempt < 3 ? 500 : 200));
  await start();
  merchant = new MerchantClient(setup, () => service);
  endpointId = (await merchant.createEndpoint(`${receiver.url}/clock`)).uuid;
});

afterAll(async () => {
  await service?.end('SIGTERM');
  await receiver?.close();
});

const arrivalOf = (eventId: string, attempt: number) =>
  receiver.arrivals.find((arrival) => arrival.eventId === eventId && arrival.attempt === attempt);

/** The difference between webhook-timestamp and the service's system time, seconds. */
function timestampError(eventId: string, attempt: number): number {
  const arrival = arrivalOf(eventId, attempt);
  const sent = Number(arrival?.headers['webhook-timestamp']);
  return Math.abs(sent - ((arrival?.at ?? 0) / 1000 + offsetSeconds));
}

/** Publishes an event whose first two attempts fail and calls `between` while the third one waits. */
async function retried(between: () => void | Promise<void>): Promise<{ id: string; waitedMs: number }> {
  count += 1;
  const event = jsonEventOf(setup.merchantId, `clock-${count}`);
  expect((await merchant.publish([event])).status).toBe(202);
  const id = event.header.eventId;
  const failed = await eventually('the second attempt arrives', () => arrivalOf(id, 2));
  await between();
  const last = await eventually(
    'the third attempt arrives',
    () => arrivalOf(id, 3),
    DELAY_MS + 2 * LATE_MS_MAX,
  );
  return { id, waitedMs: last.at - failed.at };
}

describe('a step of the system’s time', () => {
  it('can be tested on this machine (apt-get install faketime)', () => expect(library).toBeDefined());

  it.each([HOUR_SECONDS, -HOUR_SECONDS, 0])(
    'by %d s while a retry waits leaves the retry on time, and timestamps follow',
    { timeout: 60_000 },
    async (seconds) => {
      const { id, waitedMs } = await retried(() => setTime(seconds));
      expect(waitedMs).toBeGreaterThanOrEqual(DELAY_MS);
      expect(waitedMs).toBeLessThan(DELAY_MS + LATE_MS_MAX);
      expect(timestampError(id, 3)).toBeLessThan(TIMESTAMP_SECONDS_MAX);
      const next = await retried(() => {});
      expect(next.waitedMs).toBeGreaterThanOrEqual(DELAY_MS);
      expect(next.waitedMs).toBeLessThan(DELAY_MS + LATE_MS_MAX);
      const path = `/merchant/webhook-endpoints/${endpointId}/deliveries/${arrivalOf(next.id, 3)?.deliveryId}`;
      const delivery = await eventually('the delivery log has the attempt', async () => {
        const { body } = await merchant.request('GET', path);
        return body.status === 'delivered' && body;
      });
      const at = Date.parse(delivery.last_attempt_at) / 1000;
      expect(Math.abs(at - offsetSeconds - (arrivalOf(next.id, 3)?.at ?? 0) / 1000)).toBeLessThan(
        TIMESTAMP_SECONDS_MAX,
      );
    },
  );

  it.each([HOUR_SECONDS, -HOUR_SECONDS, 0])(
    'by %d s before a restart leaves the waiting retry on time',
    { timeout: 60_000 },
    async (seconds) => {
      let startedAt = 0;
      const { id, waitedMs } = await retried(async () => {
        setTime(seconds);
        await new Promise((resolve) => setTimeout(resolve, 1500));
        await service.end('SIGTERM');
        await start();
        startedAt = Date.now();
      });
      const startedAfterMs = startedAt - (arrivalOf(id, 2)?.at ?? 0);
      expect(waitedMs).toBeGreaterThanOrEqual(DELAY_MS);
      expect(waitedMs).toBeLessThan(Math.max(DELAY_MS, startedAfterMs) + LATE_MS_MAX);
      expect(timestampError(id, 3)).toBeLessThan(TIMESTAMP_SECONDS_MAX);
    },
  );
});
