/**
 * Guarantee: what hookrail signs verifies with the Standard Webhooks library that receivers use, and the delivery
 * log shows every header that was sent except the secret.
 */
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { chosenSecretFault, newSecret, secretHint } from '../../services/domain/secret.ts';
import { sign, signingKey, signWith } from '../../services/domain/signature.ts';
import {
  authorizationOf,
  redactedHeaders,
  USER_AGENT,
  webhookHeaders,
} from '../../services/domain/webhook-request.ts';

const delivery = {
  deliveryId: '7f3d1c52-7d43-5a86-a0a6-0f3f0f6f7a01',
  eventId: '0b7ad2a4-3a52-4a5e-9d2b-2f4f1f0c8a11',
  endpointId: '5f1b1c1e-98a7-4a52-8d43-8a37f2ab9c20',
  entityId: '3f0c1d5e-8b1a-4a53-8f3f-2b7c6f0d9a11',
  subjectId: '5b8e2f6a-0c1d-4e7f-9a3b-6d5c4b3a2f10',
  sequence: 1_709_209_815_007_042,
  apiVersion: '2.3.8',
  trigger: 'live',
  attempt: 3,
  occurredAt: Date.UTC(2024, 1, 29, 12, 30, 15, 7),
} as const;

test('a signature verifies with the Standard Webhooks library, whatever the secret and body', () => {
  const now = Math.floor(Date.now() / 1000);
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 24, maxLength: 64 }), fc.json(), (random, body) => {
      const secret = newSecret(random);
      const signature = sign(secret, delivery.eventId, now, Buffer.from(body));
      const headers = {
        'webhook-id': delivery.eventId,
        'webhook-timestamp': `${now}`,
        'webhook-signature': signature,
      };
      expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
      expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
    }),
  );
});

test('a secret that a merchant chose signs with its own bytes', () => {
  const expected = createHmac('sha256', 'merchant-chosen-é').update('id.5.{}').digest('base64');
  expect(sign('merchant-chosen-é', 'id', 5, '{}')).toBe(`v1,${expected}`);
  expect(sign('merchant-chosen-é', 'id', 5, Buffer.from('{}'))).toBe(`v1,${expected}`);
});

test('a plain secret verifies with the library in the forms that docs/api.md names, and not as it is', () => {
  const [secret, id, body] = ['plain-secret-0123456789', 'id', '{"type":"KYC"}'];
  const now = Math.floor(Date.now() / 1000);
  const headersOf = (chosen: string) => ({
    'webhook-id': id,
    'webhook-timestamp': `${now}`,
    'webhook-signature': sign(chosen, id, now, body),
  });
  const headers = headersOf(secret);
  expect(() => new Webhook(secret).verify(body, headers)).toThrow();
  expect(new Webhook(secret, { format: 'raw' }).verify(body, headers)).toEqual({ type: 'KYC' });
  const encoded = Buffer.from(secret).toString('base64');
  expect(new Webhook(encoded).verify(body, headers)).toEqual({ type: 'KYC' });
  const prefixed = `v1,${newSecret(new Uint8Array(32).fill(7))}`;
  const raw = new Webhook(prefixed, { format: 'raw' });
  expect(raw.verify(body, headersOf(prefixed)), 'v1,whsec_ is a plain secret').toEqual({ type: 'KYC' });
});

test('a key decoded once gives the same signatures', () => {
  const secret = newSecret(new Uint8Array(32).fill(7));
  const key = signingKey(secret);
  expect(signWith(key, 'id', 5, Buffer.from('{"a":1}'))).toBe(sign(secret, 'id', 5, '{"a":1}'));
});

test('a secret has enough random bytes, and its hint gives four characters away', () => {
  expect(newSecret(new Uint8Array(32))).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(() => newSecret(new Uint8Array(16))).toThrow(/24 to 64/);
  expect(secretHint('whsec_AAAABBBBCCCC3fK9=')).toBe('…3fK9');
  expect(secretHint('merchant-chosen-3fK9')).toBe('…3fK9');
});

test('a request has exactly the headers of the specification and the delivery', () => {
  const startedAt = Date.UTC(2024, 2, 1, 0, 0, 1) + 999.5;
  const flat = webhookHeaders({ delivery, startedAt, signature: 'v1,c2ln' }, authorizationOf('whsec_secret'));
  expect(flat).toEqual([
    ...['Accept', 'application/json', 'Content-type', 'application/json'],
    ...['Authorization', 'API-Key whsec_secret', 'User-Agent', USER_AGENT],
    ...['webhook-id', delivery.eventId, 'webhook-timestamp', '1709251201', 'webhook-signature', 'v1,c2ln'],
    ...['webhook-attempt', '3', 'webhook-delivery-id', delivery.deliveryId],
    ...['webhook-endpoint-id', delivery.endpointId, 'webhook-event-time', '2024-02-29T12:30:15.007Z'],
    ...['webhook-api-version', '2.3.8', 'webhook-subject-id', delivery.subjectId],
    ...['webhook-sequence', '1709209815007042'],
  ]);
});

test('only test deliveries have a header that says so', () => {
  const headersOf = (trigger: 'test' | 'live' | 'manual' | 'replay') =>
    redactedHeaders({ delivery: { ...delivery, trigger }, startedAt: 0, signature: 'v1,c2ln' });
  expect(headersOf('test')['webhook-test']).toBe('true');
  for (const trigger of ['live', 'manual', 'replay'] as const)
    expect(headersOf(trigger)).not.toHaveProperty('webhook-test');
});

test('the delivery log shows the headers that were sent, except for the secret', () => {
  const attempt = { delivery, startedAt: 1_709_251_201_000, signature: 'v1,c2ln' };
  const shown = redactedHeaders(attempt);
  expect(shown).toMatchObject({ Authorization: 'API-Key [redacted]', 'webhook-signature': 'v1,c2ln' });
  const sent = webhookHeaders(attempt, authorizationOf('whsec_secret'));
  expect(Object.keys(shown)).toEqual(sent.filter((_, index) => index % 2 === 0));
});

test('the user agent names the major version of the package', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(USER_AGENT).toBe(`hookrail/${version.split('.')[0]}`);
});

const VARIED = Uint8Array.from({ length: 64 }, (_, i) => (i * i * 37 + 11 * i + 5) % 251);

test.each([
  ['sixteen-of-them!', null],
  [newSecret(VARIED.subarray(0, 24)), null],
  [newSecret(VARIED).replace(/=+$/, ''), null],
  ['fifteen-of-them', /16 to 128/],
  ['x'.repeat(129), /16 to 128/],
  ['has a space in it', /visible ASCII/],
  ['line\nbreak-in-the-middle', /visible ASCII/],
  ['umlaut-ü-in-the-middle', /visible ASCII/],
  ['whsec_!!!!!!!!!!!!!!!!', /base64/],
  [`whsec_${Buffer.alloc(23).toString('base64')}`, /24 to 64/],
  [`whsec_${Buffer.alloc(65).toString('base64')}`, /24 to 64/],
  [`whsec_${Buffer.alloc(32).toString('base64')}?`, /base64/],
])('a secret that a merchant chose is checked: %s', (secret, fault) => {
  const found = chosenSecretFault(secret);
  if (fault === null) expect(found).toBeNull();
  else expect(found).toMatch(fault);
});
