/**
 * The receivers of docs/receivers, told where the platform's public keys are, take only what the platform itself has signed:
 * whoever has seen a request, and with it the secret, cannot make another one. A new key is found without a restart. Each
 * verifies with the library of its language, none of which is ours.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '../../scripts/free-ports.ts';
import { signAsPlatform } from '../../services/domain/signature.ts';
import { publicKeySet } from '../../services/keys/key-schedule.ts';
import { newSigningKey, privateKeyOf, type SigningKey } from '../../services/keys/signing-keys.ts';
import { pythonWith, whyNoPackages } from '../support/python-environment.ts';
import {
  isInstalled,
  RUNTIMES,
  type RunningReceiver,
  startReceiverIn,
} from '../support/receivers/documented-receivers.ts';
import { post, type SignedWebhook, signedWebhook } from '../support/receivers/signed-webhook.ts';

const SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
const REQUIREMENTS = 'test/support/receivers/requirements.txt';
const RUN_MAX_MS = 300_000;

let server: Server;
let place: string;
let published: readonly SigningKey[];
let asked = 0;
let running: RunningReceiver | undefined;

beforeAll(async () => {
  server = createServer((_request, response) => {
    asked += 1;
    const status = published.length === 0 ? 503 : 200;
    response.writeHead(status).end(JSON.stringify(publicKeySet(published, 'sandbox')));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  place = `http://127.0.0.1:${(server.address() as AddressInfo).port}/.well-known/webhook-keys`;
});
afterAll(() => server.close());

beforeEach(() => {
  published = [newSigningKey('sandbox', 0)];
  asked = 0;
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

/** A webhook as the platform sends it: with the secret's signature and that of a key. */
function signedBy(key: SigningKey, webhook = signedWebhook(SECRET, 'KYC')): SignedWebhook {
  const { id, at, body } = webhook;
  return {
    ...webhook,
    signatures: (own) => `${own} ${signAsPlatform(privateKeyOf(key.seed), id, at, body)}`,
  };
}

const needsPackages = await whyNoPackages('cryptography');
if (needsPackages !== undefined) console.warn(`skipped: ${needsPackages}`);
const installed = RUNTIMES.filter(
  ({ name, probe }) => isInstalled(probe) && (name !== 'Python' || needsPackages === undefined),
);

describe.each(installed)(
  'the $name receiver with the platform’s keys',
  { timeout: RUN_MAX_MS },
  (runtime) => {
    /** Starts it; a Python has the library that its comment names. */
    const start = async (keys: string) => {
      const path =
        runtime.name === 'Python' ? `${dirname(await pythonWith('receivers', REQUIREMENTS))}:` : '';
      const more = { WEBHOOK_KEYS: keys, PATH: `${path}${process.env.PATH}` };
      running = await startReceiverIn(runtime, SECRET, await freePort(), more);
      return running;
    };

    test('takes what the platform has signed, and refuses what the secret alone has', async () => {
      const { url, handled } = await start(place);
      const [key = newSigningKey('sandbox', 0)] = published;
      const genuine = signedBy(key);
      expect(await post(url, genuine)).toBe(200);
      const forged = signedWebhook(SECRET, 'KYC');
      expect(await post(url, forged), 'the secret alone').toBe(401);
      expect(await post(url, signedBy(newSigningKey('sandbox', 0))), 'a key of somebody else').toBe(401);
      const seen = genuine.signatures?.('') ?? '';
      const withOld = (own: string) => `${own}${seen}`;
      expect(await post(url, { ...forged, signatures: withOld }), 'the signature of another webhook').toBe(
        401,
      );
      for (const odd of ['v1a,', 'v1a,AAAA', 'v1a,é', `v1a,${Buffer.alloc(64).toString('base64')}`])
        expect([odd, await post(url, { ...forged, signatures: (own) => `${own} ${odd}` })]).toEqual([
          odd,
          401,
        ]);
      const other = signedBy(key);
      const wrong = {
        ...other,
        signatures: (own: string) => `${other.signatures?.(own)}`.split(' ')[1] ?? '',
      };
      expect(await post(url, wrong), 'without the secret').toBe(401);
      expect(await post(url, { ...other, sentBody: other.body.replace('Zoë', 'Zoe') }), 'altered').toBe(401);
      expect(await post(url, other)).toBe(200);
      expect(await handled(2)).toEqual([`received ${genuine.id} KYC`, `received ${other.id} KYC`]);
      expect(asked, 'the keys are kept').toBe(1);
    });

    test('takes each of several published keys, and any order of the signatures', async () => {
      const [former, next] = [newSigningKey('sandbox', 0), newSigningKey('sandbox', 1)];
      published = [former, next];
      const { url } = await start(place);
      for (const key of [former, next]) expect(await post(url, signedBy(key))).toBe(200);
      const hook = signedBy(next);
      const reversed = (own: string) => `${hook.signatures?.(own)}`.split(' ').toReversed().join(' ');
      expect(await post(url, { ...hook, signatures: reversed })).toBe(200);
    });

    test('refuses everything while the keys cannot be got', async () => {
      const [key = newSigningKey('sandbox', 0)] = published;
      published = [];
      const { url } = await start(place);
      expect(await post(url, signedBy(key))).toBe(401);
      expect(await post(url, signedWebhook(SECRET, 'KYC'))).toBe(401);
      expect(asked).toBe(1);
    });
  },
);
