/**
 * Guarantee: at an ordinary rate a crash repeats only the webhooks whose ends were not committed yet. Each event is
 * published when the webhook before it has arrived, so its commit has the ends of the earlier ones.
 */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';

const CRASHES = 5;
const EVENTS = 20;
/** The last webhook, and the one before if its end came after the commit of the last event had begun. */
const REPEATED_MAX = 2;

let setup: ServiceSetup;
let receiver: LoggingReceiver;
let service: Service;

beforeAll(async () => {
  setup = await prepareSetup();
  receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
  service = await startService(setup.environment);
});

afterAll(async () => {
  await service?.end('SIGKILL');
  await receiver?.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

it(`${CRASHES} crashes, each after ${EVENTS} webhooks, repeat at most the last two`, async () => {
  const merchant = new MerchantClient(setup, () => service);
  await merchant.createEndpoint(`${receiver.url}/a`);
  let repeated = 0;
  for (let crash = 0; crash < CRASHES; crash += 1) {
    const before = receiver.arrivals.length;
    const events = Array.from({ length: EVENTS }, (_, n) => jsonEventOf(setup.merchantId, `${crash}-${n}`));
    for (const [n, event] of events.entries()) {
      expect((await merchant.publish([event])).status).toBe(202);
      await eventually('it arrives', () => receiver.arrivals.length === before + n + 1);
    }
    await service.end('SIGKILL');
    service = await startService(setup.environment);
    const last = jsonEventOf(setup.merchantId, `${crash}-last`);
    await merchant.publish([last]);
    const arrived = () => receiver.arrivals.slice(before);
    await eventually('the last one arrives', () =>
      arrived().some(({ eventId }) => eventId === last.header.eventId),
    );
    const again = arrived()
      .slice(EVENTS)
      .map(({ eventId }) => events.findIndex(({ header }) => header.eventId === eventId))
      .filter((n) => n >= 0);
    expect(again.filter((n) => n < EVENTS - REPEATED_MAX)).toEqual([]);
    repeated += again.length;
  }
  console.log(`${CRASHES} crashes: ${repeated} webhooks repeated`);
  expect(repeated).toBeLessThanOrEqual(CRASHES * REPEATED_MAX);
});
