/** A seal fits exactly the record that it was made for, whatever somebody without the key ring changes. */
import { createSecretKey } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { DirectoryChange, Seal } from '../../../services/domain/directory.ts';
import type { Endpoint } from '../../../services/domain/endpoint.ts';
import { canonicalRecord } from '../../../services/domain/seals/canonical-record.ts';
import { RecordSeals, type SealKeys, type Verdict } from '../../../services/domain/seals/record-seals.ts';

const KEYS = new Map([
  ['k1', createSecretKey(Buffer.alloc(32, 1))],
  ['k2', createSecretKey(Buffer.alloc(32, 2))],
]);

const keys = (active: string): SealKeys => ({
  active,
  sealKey: (keyId) => KEYS.get(keyId),
});

const ENDPOINT: Endpoint = {
  uuid: 'an-endpoint',
  merchantId: 'a-merchant',
  url: 'https://example.com/hooks',
  subscribedEvents: ['KYC', 'AML'],
  status: 'active',
  apiVersion: '2.3.8',
  secret: { keyId: 'k1', ciphertext: 'sealed' },
  publicKeySignature: true,
  legacy: false,
  version: 4,
};

const endpoint = (change: Partial<Endpoint> = {}): DirectoryChange => {
  const value = { ...ENDPOINT, ...change };
  return { kind: 'endpoint', id: value.uuid, version: value.version, value };
};

const merchant = (change: object = {}): DirectoryChange => {
  const value = {
    merchantId: 'a-merchant',
    name: 'A',
    state: 'active',
    senderAccountDetails: true,
    version: 4,
  };
  return {
    kind: 'merchant',
    id: 'a-merchant',
    version: 4,
    value: { ...value, ...change },
  } as DirectoryChange;
};

const deleted: DirectoryChange = { kind: 'endpoint', id: 'an-endpoint', version: 5, value: null };
const seals = new RecordSeals(keys('k1'));

describe('a seal', () => {
  test.each([
    ['of an endpoint', endpoint()],
    ['of a merchant', merchant()],
    ['of a deletion', deleted],
  ])('%s fits its record, by any key of the ring', (_name, change) => {
    expect(seals.verdict(seals.sealed(change))).toBe('valid');
    expect(new RecordSeals(keys('k2')).verdict(seals.sealed(change))).toBe('valid');
    expect(seals.verdict(new RecordSeals(keys('k2')).sealed(change))).toBe('valid');
  });

  test.each<[string, Partial<Endpoint>]>([
    ['URL', { url: 'https://evil.example/hooks' }],
    ['merchant', { merchantId: 'another' }],
    ['status', { status: 'disabled' }],
    ['status, as if switched off', { status: 'auto_disabled' }],
    ['filter, to all types', { subscribedEvents: null }],
    ['filter, to none', { subscribedEvents: [] }],
    ['filter, to other types', { subscribedEvents: ['KYC'] }],
    ['API version', { apiVersion: '2.2.8' }],
    ['sealed secret', { secret: { keyId: 'k1', ciphertext: 'of a sibling' } }],
    ['key of the secret', { secret: { keyId: 'k2', ciphertext: 'sealed' } }],
    ['signature of the platform’s key', { publicKeySignature: false }],
    ['prepared secret', { prepared: { keyId: 'k1', ciphertext: 'of before' } }],
    ['headers', { headers: { names: ['X-A'], sealed: { keyId: 'k1', ciphertext: 'of another' } } }],
    ['limit of requests', { requestsPerSecond: 5 }],
    ['kind of endpoint', { legacy: true }],
    ['kind of endpoint, to operational', { notices: 'json' }],
  ])('does not fit when the %s was changed', (_what, change) => {
    const { seal } = seals.sealed(endpoint());
    expect(seals.verdict({ ...endpoint(change), seal })).toBe('forged');
  });

  test('does not fit another version, another endpoint, a deletion or another merchant', () => {
    const { seal } = seals.sealed(endpoint());
    expect(seals.verdict({ ...endpoint({ version: 9 }), seal })).toBe('stale');
    expect(seals.verdict({ ...endpoint({ version: 9 }), seal: { ...seal, version: 9 } })).toBe('forged');
    expect(seals.verdict({ ...endpoint({ uuid: 'other' }), seal })).toBe('forged');
    expect(seals.verdict({ ...endpoint(), id: 'other', seal })).toBe('forged');
    expect(seals.verdict({ ...deleted, version: 4, seal })).toBe('forged');
    const { seal: ofMerchant } = seals.sealed(merchant());
    for (const change of [{ state: 'paused' }, { name: 'B' }, { senderAccountDetails: false }])
      expect(seals.verdict({ ...merchant(change), seal: ofMerchant })).toBe('forged');
  });

  test.each<[string, Partial<Seal> | undefined, string]>([
    ['absent', undefined, 'unsealed'],
    ['of an unknown key', { keyId: 'k9' }, 'key_missing'],
    ['of another key', { keyId: 'k2' }, 'forged'],
    ['empty', { mac: '' }, 'forged'],
    ['cut short', { mac: 'AAAA' }, 'forged'],
    ['not base64', { mac: '\u0000💥' }, 'forged'],
  ])('that is %s is told apart', (_name, change, verdict) => {
    const { seal, ...rest } = seals.sealed(endpoint());
    const changed = change ? { ...rest, seal: { ...seal, ...change } } : rest;
    expect(seals.verdict(changed as DirectoryChange)).toBe(verdict);
  });

  test('does not fit what is no record at all, and nothing is thrown', () => {
    const { seal } = seals.sealed(endpoint());
    for (const value of [
      {},
      [],
      'text',
      7,
      { ...ENDPOINT, version: 4.5 },
      { ...ENDPOINT, secret: { keyId: 1 } },
    ])
      expect(seals.verdict({ ...endpoint(), value, seal } as unknown as DirectoryChange)).toMatch(/forged/);
  });

  test('of an active endpoint stands for it after it was switched off, and for no other change', () => {
    const { seal } = seals.sealed(endpoint());
    const off = endpoint({ status: 'auto_disabled', version: 6 });
    expect(seals.verdict({ ...off, seal })).toBe('switched_off');
    const moved = endpoint({ status: 'auto_disabled', version: 6, url: 'https://evil.example/' });
    expect(seals.verdict({ ...moved, seal })).toBe('stale');
    expect(seals.verdict({ ...endpoint({ status: 'disabled', version: 6 }), seal })).toBe('stale');
    expect(seals.verdict({ ...endpoint({ status: 'auto_disabled', version: 2 }), seal })).toBe('stale');
  });

  test.each<[Verdict, boolean]>([
    ['valid', true],
    ['switched_off', true],
    ['unsealed', false],
    ['stale', false],
    ['forged', false],
    ['key_missing', false],
  ])('that is judged %s puts its record in force: %s', (verdict, isInForce) => {
    expect(seals.isSound(verdict)).toBe(isInForce);
  });
});

const HEADERS = { headers: { names: ['X-A'], sealed: { keyId: 'k1', ciphertext: 'sealed' } } };
const HEADERS_OF_KEY = { headers: { names: [], sealed: { keyId: 'k1', ciphertext: 'sealedX-A' } } };

test('no two records have the same bytes', () => {
  const alike: DirectoryChange[] = [
    endpoint({ subscribedEvents: null }),
    endpoint({ subscribedEvents: [] }),
    endpoint({ subscribedEvents: ['KYC'] }),
    endpoint({ subscribedEvents: ['KYCAML' as 'KYC'] }),
    endpoint({ merchantId: 'a-merchanth', url: 'ttps://example.com/hooks' }),
    endpoint({ url: '', merchantId: 'a-merchanthttps://example.com/hooks' }),
    endpoint({ secret: { keyId: 'k', ciphertext: '1sealed' } }),
    endpoint({ secret: { keyId: 'k1sealed', ciphertext: '' } }),
    endpoint({ prepared: { keyId: 'k1', ciphertext: 'sealed' } }),
    endpoint({ prepared: { keyId: 'k1sealed', ciphertext: '' } }),
    endpoint({ version: 2 ** 40 }),
    ...[{}, HEADERS, HEADERS_OF_KEY].flatMap((headers) =>
      [{}, { requestsPerSecond: 5 }].flatMap((limit) =>
        [{}, { notices: 'json' }, { notices: 'slack' }].map((notices) =>
          endpoint({ ...headers, ...limit, ...notices } as Partial<Endpoint>),
        ),
      ),
    ),
    { ...endpoint(), version: 5 },
    merchant(),
    merchant({ name: 'Aactive', state: '' }),
    { ...deleted, version: 4 },
    deleted,
    { kind: 'merchant', id: 'an-endpoint', version: 5, value: null },
  ];
  expect(new Set(alike.map((change) => Buffer.from(canonicalRecord(change)).toString('hex'))).size).toBe(
    alike.length,
  );
});

test('a record of any length has its bytes, also where a text is long or has characters of several bytes', () => {
  const long = endpoint({ url: `https://example.com/${'é💥'.repeat(5000)}` });
  const bytes = Buffer.from(canonicalRecord(long));
  expect(bytes.includes(Buffer.from(long.value === null ? '' : (long.value as Endpoint).url))).toBe(true);
  expect(Buffer.from(canonicalRecord(long))).toEqual(bytes);
  expect(seals.verdict(seals.sealed(long))).toBe('valid');
});

test('the bytes of a record are what earlier seals were made of', () => {
  expect(Buffer.from(canonicalRecord(deleted)).toString('latin1')).toBe(
    '\x01\x00\x00\x00\x1bhookrail directory record 2\x01\x00\x00\x00\x08endpoint\x01\x00\x00\x00\x0ban-endpoint' +
      '\x02\x00\x00\x00\x00\x00\x00\x00\x05\x00',
  );
  const { mac } = seals.sealed(endpoint()).seal;
  expect(mac).toMatchInlineSnapshot(`"HHCK7QpVeLO0x4or00bWdbga8nqeD7gMmelLz5dgHj0="`);
  const bytes = (change: Partial<Endpoint>) =>
    Buffer.from(canonicalRecord(endpoint(change))).toString('latin1');
  // A field that was added later follows what was there before it.
  for (const before of [{}, HEADERS, { requestsPerSecond: 5 }])
    expect(bytes({ ...before, notices: 'json' }).startsWith(bytes(before))).toBe(true);
  expect(bytes({ notices: 'json' })).toBe(`${bytes({})}\0\0\x01\0\0\0\x04json`);
});
