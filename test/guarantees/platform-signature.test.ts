/**
 * Guarantee: an endpoint that asks for it gets the signature v1a beside v1, made with the key that signs at that moment and
 * verified by the published keys alone; whoever has seen a request cannot make another one. A key takes the place of another
 * without a webhook that no published key verifies; a sender without a key holds deliveries and loses none. Endpoints that do
 * not ask get what they always got. The whole service runs, with real HTTPS.
 */
import { createPublicKey, verify } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sign } from '../../services/domain/signature.ts';
import { type Hookrail, startHookrail } from '../../services/main.ts';
import { eventually } from '../support/eventually.ts';
import { pythonWith, runProgram, whyNoPackages } from '../support/python-environment.ts';
import {
  type Arrival,
  type LoggingReceiver,
  startLoggingReceiver,
} from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { besides, toolAnswer } from '../support/service/operator-tool.ts';
import { prepareSetup, type ServiceSetup } from '../support/service/system.ts';

/** Longer than a process takes to see that the file was replaced. */
const NOTICED_MS_MAX = 20_000;
const PYTHON_MS_MAX = 300_000;

interface Jwk {
  readonly kid: string;
  readonly x: string;
}

let setup: ServiceSetup;
let hookrail: Hookrail;
let receiver: LoggingReceiver;
let merchant: MerchantClient;
let ringFile: string;

beforeAll(async () => {
  setup = await prepareSetup({ HOOKRAIL_LOG_LEVEL: 'silent', HOOKRAIL_RETRY_SCALE: '100' });
  ringFile = join(setup.dataDir, 'keyring.json');
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

async function publishedKeys(): Promise<readonly Jwk[]> {
  const answer = await fetch(`${hookrail.apiUrl}/.well-known/webhook-keys`);
  expect(answer.status).toBe(200);
  const { keys } = (await answer.json()) as { readonly keys: readonly Jwk[] };
  return keys;
}

/** Publishes an event and resolves with the webhook of each endpoint. */
async function webhooksOf(endpoints: number, about: string): Promise<readonly Arrival[]> {
  const event = jsonEventOf(setup.merchantId, about);
  expect((await merchant.publish([event])).status).toBe(202);
  const of = () => receiver.arrivals.filter(({ eventId }) => eventId === event.header.eventId);
  await eventually('the webhooks are there', () => of().length >= endpoints, NOTICED_MS_MAX);
  return of();
}

const signaturesOf = ({ headers }: Arrival) => (headers['webhook-signature'] ?? '').split(' ');

/** Returns the ids of the keys that verify a webhook, as a receiver finds them. */
function verifiedBy(arrival: Arrival, keys: readonly Jwk[], body: Buffer = arrival.body): readonly string[] {
  const { headers } = arrival;
  const message = Buffer.concat([
    Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`),
    body,
  ]);
  const [signature = ''] = signaturesOf(arrival).filter((one) => one.startsWith('v1a,'));
  const bytes = Buffer.from(signature.slice('v1a,'.length), 'base64');
  return keys
    .filter(({ x }) => {
      const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
      return verify(null, message, key, bytes);
    })
    .map(({ kid }) => kid);
}

it('an endpoint that asks gets v1a beside v1, and others get v1 alone, as ever', async () => {
  const asks = await merchant.createEndpoint(`${receiver.url}/asks`, { public_key_signature: true });
  const plain = await merchant.createEndpoint(`${receiver.url}/plain`);
  const arrivals = await webhooksOf(2, 'both kinds');
  const to = (path: string) => arrivals.find((one) => one.path === path) as Arrival;
  const keys = await publishedKeys();
  expect(signaturesOf(to('/plain'))).toHaveLength(1);
  expect(verifiedBy(to('/plain'), keys)).toEqual([]);
  expect(signaturesOf(to('/asks')).map((one) => one.split(',')[0])).toEqual(['v1', 'v1a']);
  expect(verifiedBy(to('/asks'), keys)).toEqual([keys[0]?.kid]);
  expect(verifiedBy(to('/asks'), keys, Buffer.from(`${to('/asks').body} `))).toEqual([]);
  // The signature of the secret is the one of Standard Webhooks, with v1a beside it or not.
  for (const [{ signing_secret }, path] of [[asks, '/asks'] as const, [plain, '/plain'] as const]) {
    const { headers, body } = to(path);
    expect(new Webhook(signing_secret).verify(body.toString(), { ...headers })).toMatchObject({
      type: 'fiatToCrypto',
    });
    const at = Number(headers['webhook-timestamp']);
    expect(signaturesOf(to(path))[0]).toBe(sign(signing_secret, `${headers['webhook-id']}`, at, body));
  }
  // The log shows what was sent.
  const { headers } = to('/asks');
  const shown = async () => {
    const path = `/merchant/webhook-endpoints/${asks.uuid}/deliveries/${headers['webhook-delivery-id']}`;
    const { body } = await merchant.request('GET', path);
    return body.attempts?.[0]?.request_headers['webhook-signature'];
  };
  const logged = await eventually('the attempt is in the log', shown);
  expect(logged).toBe(headers['webhook-signature']);
});

it.skipIf((await whyNoPackages('cryptography')) !== undefined)(
  'Python’s cryptography verifies it by the published keys, and nothing that the secret alone has signed',
  async () => {
    const python = await pythonWith('receivers', 'test/support/receivers/requirements.txt');
    const [arrival] = (await webhooksOf(2, 'for Python')).filter(({ path }) => path === '/asks');
    const { headers, body } = arrival as Arrival;
    const given = (signature: string) =>
      JSON.stringify({
        ...{ id: headers['webhook-id'], timestamp: headers['webhook-timestamp'] },
        ...{ signature, body: body.toString('base64') },
      });
    const check = `
import base64, json, sys, urllib.request
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
given = json.loads(sys.argv[2])
[key] = json.load(urllib.request.urlopen(sys.argv[1]))["keys"]
public = Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(key["x"] + "="))
message = f'{given["id"]}.{given["timestamp"]}.'.encode() + base64.b64decode(given["body"])
[signature] = [each[4:] for each in given["signature"].split() if each.startswith("v1a,")]
public.verify(base64.b64decode(signature), message)
print("genuine")
`;
    const keys = `${hookrail.apiUrl}/.well-known/webhook-keys`;
    const signature = headers['webhook-signature'] ?? '';
    expect(await runProgram(python, ['-c', check, keys, given(signature)])).toEqual({
      code: 0,
      output: 'genuine\n',
    });
    const forged = `v1a,${Buffer.alloc(64, 1).toString('base64')}`;
    const refused = await runProgram(python, ['-c', check, keys, given(forged)]);
    expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('InvalidSignature')]);
  },
  PYTHON_MS_MAX,
);

it('a key takes the place of another while events flow, and every webhook is verified by a published key', async () => {
  const [old] = await publishedKeys();
  const { created } = await operator('signing-keys', 'rotate', '--in-hours', '1');
  const both = await eventually(
    'the next key is published',
    async () => {
      const keys = await publishedKeys();
      return keys.length === 2 ? keys : undefined;
    },
    NOTICED_MS_MAX,
  );
  expect(both.map(({ kid }) => kid)).toEqual([old?.kid, created]);
  const [before] = (await webhooksOf(2, 'before its time')).filter(({ path }) => path === '/asks');
  expect(verifiedBy(before as Arrival, both), 'it does not sign yet').toEqual([old?.kid]);

  // Its hour comes: as the file of a process that runs an hour later has it.
  const ring = JSON.parse(readFileSync(ringFile, 'utf8'));
  ring.signing[1].signsFrom = new Date(Date.now() + 8000).toISOString();
  writeFileSync(ringFile, JSON.stringify(ring));
  const signers = new Set<string>();
  for (let n = 0; n < 40 && !signers.has(created); n += 1) {
    const [arrival] = (await webhooksOf(2, `rotation ${n}`)).filter(({ path }) => path === '/asks');
    const found = verifiedBy(arrival as Arrival, both);
    expect(found).toHaveLength(1);
    signers.add(`${found[0]}`);
    await sleep(400);
  }
  expect([...signers]).toEqual([old?.kid, created]);
  await hookrail.stop();
  hookrail = await startHookrail(setup.environment);
  const [after] = (await webhooksOf(2, 'after a restart')).filter(({ path }) => path === '/asks');
  expect(verifiedBy(after as Arrival, await publishedKeys())).toEqual([created]);
}, 120_000);

it('without a key that signs deliveries are held, not sent with less, and arrive once there is one', async () => {
  const whole = readFileSync(ringFile, 'utf8');
  const { signing: _signing, ...without } = JSON.parse(whole);
  writeFileSync(ringFile, JSON.stringify(without));
  await eventually('no key is published', async () => (await publishedKeys()).length === 0, NOTICED_MS_MAX);
  const event = jsonEventOf(setup.merchantId, 'held');
  await merchant.publish([event]);
  const of = (path: string) =>
    receiver.arrivals.filter((one) => one.eventId === event.header.eventId && one.path === path);
  await eventually('the other endpoint has it', () => of('/plain').length === 1);
  await sleep(2000);
  expect(of('/asks')).toEqual([]);
  writeFileSync(ringFile, whole);
  await eventually('it arrives', () => of('/asks').length === 1, 60_000);
  const [late] = of('/asks');
  expect(late?.attempt, 'no attempt was counted').toBe(1);
  expect(verifiedBy(late as Arrival, await publishedKeys())).toHaveLength(1);
}, 120_000);
