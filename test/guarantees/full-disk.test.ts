/**
 * Guarantee: on a full disk no acknowledged event is lost. The data directory is a small tmpfs; events are published
 * until the service refuses them, then room is made and every acknowledged event arrives. The process stays up and
 * says what is wrong.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { NO_SMALL_DISK, SmallDisk } from '../support/faults/small-disk.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';

const SIZE_MB = 48;
const BATCH = 100;
const LEFT_MB = 12;

let disk: SmallDisk;
let setup: ServiceSetup;
let receiver: LoggingReceiver;
let service: Service;

beforeAll(async () => {
  disk = new SmallDisk(SIZE_MB);
  if (!disk.isMounted) return;
  setup = await prepareSetup({}, disk.folder);
  receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
  service = await startService(setup.environment);
});

afterAll(async () => {
  await service?.end('SIGKILL');
  await receiver?.close();
  disk.dispose();
});

it('on a full disk acknowledged events arrive, and every refused one was answered as refused', {
  timeout: 240_000,
}, async ({ skip }) => {
  if (!disk.isMounted) return skip(NO_SMALL_DISK);
  const merchant = new MerchantClient(setup, () => service);
  await merchant.createEndpoint(`${receiver.url}/full`);
  const makeRoom = disk.crowd(LEFT_MB);

  const acknowledged: string[] = [];
  let refusal: { status: number; body: { code: string; detail: string } } | undefined;
  for (let batch = 0; !refusal; batch += 1) {
    expect(batch, 'batches that fit on a disk of 12 MB').toBeLessThan(1000);
    const events = Array.from({ length: BATCH }, (_, index) =>
      jsonEventOf(setup.merchantId, `full-${batch}-${index}`),
    );
    const answer = await merchant.publish(events);
    if (answer.status === 202) acknowledged.push(...events.map((event) => event.header.eventId));
    else refusal = answer;
  }
  expect(refusal).toMatchObject({ status: 503, body: { code: 'temporarily_unavailable' } });
  expect((await fetch(`${service.operationsUrl}/livez`)).status).toBe(200);

  makeRoom();
  await eventually(
    'every acknowledged event has arrived',
    () => {
      const arrived = new Set(receiver.arrivals.map((arrival) => arrival.eventId));
      return acknowledged.every((id) => arrived.has(id));
    },
    // A generous bound. Tasks beyond the endpoint's queue are parked, and come back once they are durable.
    150_000,
  );
  await eventually(
    'the service is ready again',
    async () => (await fetch(`${service.operationsUrl}/readyz`)).status === 200,
  );
  const again = await merchant.publish([jsonEventOf(setup.merchantId, 'after')]);
  expect(again.status).toBe(202);
  await eventually('the log says that there is room', () =>
    service.output.some((line) => line.includes('broker.db can be written again')),
  );
  expectFewLines(service.output);
  expect(await service.end('SIGTERM')).toBe(0);
});

/** One line per database when it cannot be written, with its path and what to do, and one when it can again. */
function expectFewLines(output: readonly string[]): void {
  const lines = output.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  for (const name of ['broker', 'store']) {
    const full = lines.filter(({ event }) => event === `${name}_not_writable`);
    const again = lines.filter(({ event }) => event === `${name}_writable`);
    expect(Math.abs(full.length - again.length), `transitions of ${name}.db`).toBeLessThanOrEqual(1);
    for (const { msg } of full) {
      expect(msg).toContain(join(setup.dataDir, `${name}.db cannot be written`));
      expect(msg).toContain('free space on its disk');
    }
  }
  expect(lines.filter(({ event }) => event === 'broker_not_writable').length).toBeGreaterThan(0);
  const errors = lines.filter(({ level }) => level >= 50);
  expect(errors.length, JSON.stringify(errors.slice(0, 20), null, 1)).toBeLessThan(20);
}
