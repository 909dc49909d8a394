/**
 * Guarantee: an amount arrives at the receiver with exactly the digits the producer wrote: no exponent, no float
 * artefact, no trailing zeros. And the body's signature verifies with the Standard Webhooks library.
 */
import { rmSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Hookrail, startHookrail } from '../../services/main.ts';
import { eventually } from '../support/eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';

let setup: ServiceSetup;
let hookrail: Hookrail;
let receiver: LoggingReceiver;
let merchant: MerchantClient;

beforeAll(async () => {
  setup = await prepareSetup({ HOOKRAIL_LOG_LEVEL: 'silent' });
  receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
  hookrail = await startHookrail(setup.environment);
  merchant = new MerchantClient(setup, () => hookrail);
});

afterAll(async () => {
  await hookrail?.stop();
  await receiver?.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

const AMOUNTS: readonly (readonly [written: string, digits: string])[] = [
  ['0.3', '0.3'],
  ['0.30', '0.3'],
  ['1.234567890123456789', '1.234567890123456789'],
  ['0.0000001', '0.0000001'],
  ['12345678901234567890.5', '12345678901234567890.5'],
];

it('a webhook carries the exact digits of an amount, under a signature that verifies', async () => {
  const endpoint = await merchant.createEndpoint(`${receiver.url}/amounts`);
  for (const [index, [written, digits]] of AMOUNTS.entries()) {
    const event = jsonEventOf(setup.merchantId, `amount-${index}`);
    const answer = await merchant.publish([{ ...event, data: { ...event.data, amountFiat: written } }]);
    expect(answer.body).toMatchObject({ accepted: 1 });
    const arrival = await eventually('the webhook arrives', () => receiver.arrivals[index]);
    expect(arrival.body.toString()).toContain(`"amountFiat":${digits},`);
    const webhook = new Webhook(endpoint.signing_secret);
    expect(() => webhook.verify(arrival.body, arrival.headers)).not.toThrow();
    const altered = arrival.body.toString().replace(digits, `${digits}1`);
    expect(() => webhook.verify(altered, arrival.headers)).toThrow();
  }
});

it('an amount that is a JSON number is refused, as it may have been a float', async () => {
  const event = jsonEventOf(setup.merchantId, 'number');
  const answer = await merchant.publish([{ ...event, data: { ...event.data, amountFiat: 0.1 + 0.2 } }]);
  expect(answer.status).toBe(400);
  expect(answer.body.errors[0]).toMatchObject({ pointer: '/0/data/amountFiat', code: 'invalid_type' });
});
