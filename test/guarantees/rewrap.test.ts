/**
 * Guarantee: sealing every secret with another key harms nothing. While deliveries and rotations go on, every webhook
 * arrives at its first attempt, none under a secret that was replaced more than a second before, and in the end nothing
 * needs the old key. A start without a needed key is refused, and says which. The whole service runs, with real HTTPS.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Hookrail, startHookrail } from '../../services/main.ts';
import { eventually } from '../support/eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { besides, toolAnswer } from '../support/service/operator-tool.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';

const ENDPOINTS = 20;
const ROUNDS = 3;
const EVENTS = 120;

let setup: ServiceSetup;
let hookrail: Hookrail;
let receiver: LoggingReceiver;
let merchant: MerchantClient;
let keyRingFile: string;
/** Secrets of each endpoint, with the time at which the answer that replaced them came. */
const secrets = new Map<string, { readonly secret: string; replacedAt: number }[]>();

beforeAll(async () => {
  setup = await prepareSetup({ HOOKRAIL_LOG_LEVEL: 'silent' });
  keyRingFile = join(setup.dataDir, 'keyring.json');
  receiver = await startLoggingReceiver(setup.receiverCert, () => 200);
  hookrail = await startHookrail(setup.environment);
  merchant = new MerchantClient(setup, () => hookrail);
});

afterAll(async () => {
  await hookrail?.stop();
  await receiver?.close();
  rmSync(setup.dataDir, { recursive: true, force: true });
});

const operator = (...argv: string[]) => toolAnswer(besides(setup.environment, hookrail), ...argv);

const note = (uuid: string, secret: string) =>
  secrets.get(uuid)?.push({ secret, replacedAt: Number.POSITIVE_INFINITY });

async function rotate(uuid: string): Promise<void> {
  const answer = await merchant.request('PATCH', `/merchant/webhook-endpoints/${uuid}/secret`);
  expect(answer.status).toBe(200);
  const before = secrets.get(uuid)?.at(-1);
  if (before) before.replacedAt = Date.now();
  note(uuid, answer.body.signing_secret);
}

it('a rewrap disturbs no delivery and no rotation meanwhile', async () => {
  for (let n = 0; n < ENDPOINTS; n += 1) {
    const { uuid, signing_secret } = await merchant.createEndpoint(`${receiver.url}/${n}`);
    secrets.set(uuid, []);
    note(uuid, signing_secret);
  }
  const uuids = [...secrets.keys()];
  let isOver = false;
  const rotating = (async () => {
    for (let n = 0; !isOver; n += 1) await rotate(uuids[n % (ENDPOINTS / 2)] ?? '');
  })();
  const published: string[] = [];
  const publishing = (async () => {
    for (let n = 0; n < EVENTS; n += 1) {
      const event = jsonEventOf(setup.merchantId, `rewrap ${n}`);
      expect((await merchant.publish([event])).status).toBe(202);
      published.push(event.header.eventId);
      await sleep(10);
    }
  })();
  let active = '';
  for (let round = 0; round < ROUNDS; round += 1) {
    ({ added: active } = await operator('keyring', 'add'));
    expect((await operator('keyring', 'rewrap')).active).toBe(active);
  }
  await publishing;
  isOver = true;
  await rotating;

  const wanted = published.length * ENDPOINTS;
  await eventually('every webhook has arrived', () => receiver.arrivals.length >= wanted, 60_000);
  const seen = new Set(receiver.arrivals.map(({ eventId, endpointId }) => `${eventId} ${endpointId}`));
  expect([seen.size, receiver.arrivals.filter(({ attempt }) => attempt > 1)]).toEqual([wanted, []]);
  const stale = receiver.arrivals.filter(({ endpointId, authorization, headers }) => {
    const known = secrets.get(endpointId)?.find(({ secret }) => authorization === `API-Key ${secret}`);
    // In whole seconds, so that a moment too early is the worst it says.
    const startedAt = Number(headers['webhook-timestamp']) * 1000;
    return known === undefined || startedAt > known.replacedAt + 1000;
  });
  // A secret whose rotation was not yet answered when its webhook arrived was noted later all the same.
  expect(stale).toEqual([]);
  const rotations = [...secrets.values()].reduce((sum, { length }) => sum + length - 1, 0);
  expect(rotations).toBeGreaterThan(ROUNDS);

  for (const key of Object.keys(JSON.parse(readFileSync(keyRingFile, 'utf8')).keys)) {
    if (key !== active) await operator('keyring', 'remove', '--id', key);
  }
  expect(await operator('keyring', 'list')).toMatchObject([{ id: active, endpoints: ENDPOINTS }]);
  // Without the old keys in the file, and read anew from it.
  await hookrail.stop();
  hookrail = await startHookrail(setup.environment);
  const event = jsonEventOf(setup.merchantId, 'after the rewrap');
  await merchant.publish([event]);
  const last = await eventually('the last event has arrived everywhere', () => {
    const found = receiver.arrivals.filter(({ eventId }) => eventId === event.header.eventId);
    return found.length === ENDPOINTS ? found : null;
  });
  for (const { endpointId, authorization } of last) {
    expect(authorization).toBe(`API-Key ${secrets.get(endpointId)?.at(-1)?.secret}`);
  }
}, 180_000);

it('a start without a needed key is refused, with the key and the number of secrets', async () => {
  await hookrail.stop();
  const { active, keys } = JSON.parse(readFileSync(keyRingFile, 'utf8'));
  const other = { 'another-key': Buffer.alloc(32, 5).toString('base64') };
  writeFileSync(keyRingFile, JSON.stringify({ active: 'another-key', keys: other }));
  await expect(startHookrail(setup.environment)).rejects.toThrow(
    `key ring ${keyRingFile} lacks key "${active}", which ${ENDPOINTS} endpoints need`,
  );
  writeFileSync(keyRingFile, JSON.stringify({ active: 'another-key', keys: { ...keys, ...other } }));
  hookrail = await startHookrail(setup.environment);
});
