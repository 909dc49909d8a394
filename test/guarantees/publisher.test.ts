/**
 * Guarantee: "who sent this?" has an answer for every event that was published over HTTP, also after a kill; the merchant does
 * not see it.
 */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { besides, toolAnswer } from '../support/service/operator-tool.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';

const RESTARTS = 3;

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

const operator = (...argv: string[]) => toolAnswer(besides(setup.environment, service), ...argv);

it('an event names its key after kills, in its log line too, and neither webhook nor API shows it', async () => {
  const merchant = new MerchantClient(setup, () => service);
  await merchant.createEndpoint(`${receiver.url}/hook`);
  const made = await operator('keys', 'create', '--producer', '--name', 'payouts', '--types', 'fiatToCrypto');
  const publish = (events: readonly unknown[]) =>
    fetch(`${service.apiUrl}/producer/events`, {
      method: 'POST',
      headers: { authorization: `API-Key ${made.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(events),
    });
  const events = Array.from({ length: RESTARTS }, (_, n) =>
    Array.from({ length: 20 }, (_event, at) =>
      jsonEventOf(setup.merchantId, `success ${n} ${at}`, { eventId: crypto.randomUUID() }),
    ),
  );
  for (const batch of events) {
    expect((await publish(batch)).status).toBe(202);
    await service.end('SIGKILL');
    service = await startService(setup.environment);
  }
  const kyc = jsonEventOf(setup.merchantId, 'kyc', { type: 'KYC', subType: 'FULL_USER' });
  expect((await publish([kyc])).status).toBe(403);
  for (const { header } of events.flat()) {
    await eventually('the webhook has arrived', () =>
      receiver.arrivals.find(({ eventId }) => eventId === header.eventId),
    );
    const shown = await eventually('the event is in the log', () =>
      operator('events', 'get', header.eventId).catch(() => null),
    );
    expect(shown).toMatchObject({
      ...{ merchantId: setup.merchantId, subType: 'SUCCESS' },
      ...{ publishedBy: made.keyId, key: made.hint, keyName: 'payouts' },
    });
  }
  const [first] = events.flat();
  const seen = await merchant.request('GET', `/merchant/events/${first?.header.eventId}`);
  expect(JSON.stringify([seen.body, receiver.arrivals])).not.toContain(made.keyId);
  const line = service.output.map((text) => JSON.parse(text)).find(({ key_id }) => key_id === made.keyId);
  expect(line).toMatchObject({ event_ids: [kyc.header.eventId], code: 'publish_not_allowed' });
});
