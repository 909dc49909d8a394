/** The signature v1a is verified by any of the public keys, over exactly what was sent; each way to fail has a sentence. */
import { describe, expect, test } from 'vitest';
import { sign, signAsPlatform } from '../../../services/domain/signature.ts';
import {
  type PlatformKey,
  platformKeysIn,
} from '../../../services/domain/verification/platform-signature.ts';
import { publicKeySet } from '../../../services/keys/key-schedule.ts';
import { newSigningKey, privateKeyOf } from '../../../services/keys/signing-keys.ts';
import { verifyRequest } from '../../../simulator/receiver/verification.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const ID = '0b5f4c1e-7a57-4f0c-9a0a-3d4b1c2e5f60';
const AT = 1_790_000_000;
const BODY = '{"type":"KYC","name":"Zoë"}';
const [former, signing, foreign] = [0, 1, 2].map((at) => newSigningKey('sandbox', at));
const made = (key = signing) => signAsPlatform(privateKeyOf(key?.seed ?? Buffer.alloc(32)), ID, AT, BODY);
const keysOf = (...keys: (typeof signing)[]) =>
  platformKeysIn(
    JSON.stringify(
      publicKeySet(
        keys.flatMap((key) => key ?? []),
        'sandbox',
      ),
    ),
  );

/** Returns the verdict on a request, with the check of v1a. */
function verdict(signature: string, keys: readonly PlatformKey[] | undefined, body = BODY, id = ID) {
  const headers = {
    authorization: `API-Key ${SECRET}`,
    ...{ 'webhook-id': id, 'webhook-timestamp': `${AT}` },
    'webhook-signature': signature,
  };
  const { authentic, checks } = verifyRequest({ headers, body: Buffer.from(body) }, SECRET, AT, 300, keys);
  return { authentic, v1a: checks.find(({ name }) => name === 'v1a') };
}

const OWN = sign(SECRET, ID, AT, BODY);

test('any of the keys may have made it, wherever it stands, and the answer names that key', () => {
  for (const [key, signature] of [
    [signing, `${OWN} ${made()}`],
    [former, `${made(former)} ${OWN}`],
    [signing, `${OWN} v1a,AAAA ${made()}`],
  ] as const) {
    const { authentic, v1a } = verdict(signature, keysOf(former, signing));
    expect([authentic, v1a?.detail]).toEqual([true, `the platform has made it, with the key ${key?.kid}`]);
  }
});

test('without keys the request is judged as ever, with v1a or without', () => {
  expect(verdict(OWN, undefined)).toEqual({ authentic: true, v1a: undefined });
  expect(verdict(`${OWN} ${made()}`, undefined)).toEqual({ authentic: true, v1a: undefined });
});

describe('a request whose v1a is not right is refused, although the secret has signed it:', () => {
  const keys = keysOf(former, signing);
  test.each([
    ['without it', OWN, keys, /^there is no signature v1a/],
    [
      'by a key that is not published',
      `${OWN} ${made(foreign)}`,
      keys,
      /^none of the 2 public keys verifies it/,
    ],
    [
      'by another than the one key',
      `${OWN} ${made(foreign)}`,
      keysOf(signing),
      /^the one public key does not/,
    ],
    ['broken off', `${OWN} ${made().slice(0, -9)}`, keys, /^the signature is not whole/],
    ['where there is no key', `${OWN} ${made()}`, keysOf(), /^there is no public key/],
  ] as const)('%s', (_what, signature, given, says) => {
    const { authentic, v1a } = verdict(signature, given);
    expect([authentic, v1a?.ok]).toEqual([false, false]);
    expect(v1a?.detail).toMatch(says);
  });

  test('over another body or another id', () => {
    expect(verdict(`${sign(SECRET, ID, AT, `${BODY} `)} ${made()}`, keys, `${BODY} `).v1a?.ok).toBe(false);
    expect(verdict(`${sign(SECRET, 'other', AT, BODY)} ${made()}`, keys, BODY, 'other').v1a?.ok).toBe(false);
  });
});

test('a set may have keys of other kinds, and what is no set says why', () => {
  const [key] = keysOf(signing);
  const text = (keys: unknown) => JSON.stringify({ keys });
  const ours = { kty: 'OKP', crv: 'Ed25519', ...key };
  expect(
    platformKeysIn(text([{ kty: 'RSA', n: 'x', e: 'AQAB' }, null, ours, { ...ours, x: 'short' }])),
  ).toEqual([key]);
  expect(() => platformKeysIn('<html>')).toThrow('it is not JSON');
  for (const other of ['null', '[]', '{}', '{"keys":{}}'])
    expect(() => platformKeysIn(other)).toThrow('no list');
});
