/**
 * Guarantee: a signing secret, a value of a merchant's own header or API key is nowhere but in the answer that gave it and in the Authorization header of
 * the request: not in a file, a log line, a metric, an error or any other answer, also when the receiver sends the request's
 * headers back. A planted canary is found, so the search works.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { uncompressSync } from 'lz4-napi';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';

let setup: ServiceSetup;
let receiver: LoggingReceiver;
let service: Service;
let merchant: MerchantClient;

beforeAll(async () => {
  setup = await prepareSetup({ HOOKRAIL_RETRY_SCALE: '10000', HOOKRAIL_LOG_LEVEL: 'trace' });

  const answer = ({ attempt }: { attempt: number }) => (attempt < 3 ? 500 : 200);
  receiver = await startLoggingReceiver(setup.receiverCert, answer, true);
  service = await startService(setup.environment);
  merchant = new MerchantClient(setup, () => service);
});

afterAll(async () => {
  await service?.end('SIGKILL');
  await receiver?.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

/** The contents of events, which the store packs: packed, a text could be in them unseen. */
const UNPACKED = 'store.db, unpacked';

/** Every file of the data directory in which one of the texts occurs. */
function filesWith(texts: readonly string[]): string[] {
  const has = (content: Buffer) => texts.some((text) => content.includes(text));
  const files = readdirSync(setup.dataDir).filter((name) => has(readFileSync(join(setup.dataDir, name))));
  const db = new Database(join(setup.dataDir, 'store.db'), { readonly: true });
  const packed = db.prepare('SELECT bytes FROM content').pluck().all() as Buffer[];
  db.close();
  return packed.some((bytes) => has(uncompressSync(bytes))) ? [...files, UNPACKED] : files;
}

const TOKEN = 'gateway-canary-0123456789abcdef';

/** Sets a header of the merchant's own, and returns the answers to that and to one that is refused. */
async function answersOnHeaders(resource: string) {
  const set = (value?: string) =>
    merchant.request('PATCH', resource, { headers: [{ name: 'X-Gateway-Key', value }] });
  const answers = [await set(`Bearer ${TOKEN}`), await set(`${TOKEN}\n`), await set()];
  expect(answers.map(({ status }) => status)).toEqual([200, 422, 200]);
  return answers;
}

/** Sends a test signed with the prepared secret, which the receiver sends back, and returns the answer on its delivery. */
async function preparedTest(resource: string) {
  const { delivery_uuid: test } = (
    await merchant.request('POST', `${resource}/test`, {
      ...{ type: 'KYC', subType: 'FULL_USER', user_uuid: '3f0c1d5e-8b1a-4a53-8f3f-2b7c6f0d9a11' },
      signed_with: 'prepared',
    })
  ).body;
  return eventually('the receiver sends the prepared secret back', async () => {
    const answer = await merchant.request('GET', `${resource}/deliveries/${test}`);
    return answer.body.attempts.length > 0 ? answer : undefined;
  });
}

it('no secret is in a file, a log line, a metric or an answer other than the one that gave it', async () => {
  const endpoint = await merchant.createEndpoint(`${receiver.url}/canary`);
  const resource = `/merchant/webhook-endpoints/${endpoint.uuid}`;
  const ofHeaders = await answersOnHeaders(resource);
  const rotated = (await merchant.request('PATCH', `${resource}/secret`)).body.signing_secret;
  const prepared = (await merchant.request('POST', `${resource}/secret/prepare`)).body.signing_secret;
  const chosen = 'chosen-canary-of-the-merchant';
  const single = { webhook_url: `${receiver.url}/single`, webhook_secret: chosen };
  expect((await merchant.request('PATCH', '/merchant', single)).status).toBe(200);
  await merchant.publish([jsonEventOf(setup.merchantId, 'canary')]);
  await eventually('an attempt gets a 2xx', () =>
    receiver.arrivals.some((arrival) => arrival.status === 200),
  );

  const ofTest = await preparedTest(resource);
  expect(ofTest.body.attempts[0].response_body).toContain('API-Key whsec_[secret removed]');

  const answers = [
    ofTest,
    await merchant.request('GET', resource),
    await merchant.request('GET', '/merchant/webhook-endpoints'),
    await merchant.request('GET', '/merchant'),
    await merchant.request('PATCH', '/merchant', { webhook_secret: `${chosen} with spaces` }),
    await merchant.request('PATCH', resource, { signing_secret: 'x' }),
    ...ofHeaders,
    await merchant.request('GET', `${resource}/deliveries`),
  ];
  const delivery = await eventually('the success is recorded', async () => {
    const answer = await merchant.request('GET', `${resource}/deliveries?status=delivered`);
    return answer.body.data[0];
  });
  const id = delivery.delivery_uuid;
  answers.push(await merchant.request('GET', `${resource}/deliveries/${id}`));
  const attempts: { response_body: string; response_headers: unknown }[] = answers.at(-1)?.body.attempts;
  expect(attempts).toHaveLength(3);
  for (const { response_body, response_headers } of attempts) {
    expect(response_body).toContain('API-Key whsec_[secret removed]');
    expect(JSON.stringify(response_headers)).toContain('API-Key whsec_[secret removed]');
  }
  const metrics = await (await fetch(`${service.operationsUrl}/metrics`)).text();
  expect(metrics).toContain('hookrail_');
  expect(await service.end('SIGTERM')).toBe(0);

  const secrets = [
    endpoint.signing_secret,
    rotated,
    prepared,
    chosen,
    TOKEN,
    setup.apiKey,
    setup.producerKey,
  ].flatMap((secret) => [secret, secret.replace(/^(whsec_|[a-z]+_sandbox_|pk_)/, '')]);
  expect(filesWith(secrets)).toEqual([]);
  for (const secret of secrets) {
    expect(service.output.filter((line) => line.includes(secret))).toEqual([]);
    expect(metrics).not.toContain(secret);
    expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain(secret);
  }
  const planted = join(setup.dataDir, 'planted.db');
  writeFileSync(planted, `…${rotated}…`);
  expect(filesWith(secrets)).toEqual(['planted.db']);
  expect(filesWith(['"subType"'])).toContain(UNPACKED);
});
