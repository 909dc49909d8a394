/** An API key says its environment, and a mistyped one is told from an unknown one without asking the store. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  apiKeyHint,
  environmentOfKey,
  hashApiKey,
  newApiKey,
  parseApiKey,
} from '../../services/domain/api-key.ts';

const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
const kinds = fc.constantFrom(
  ['merchant', 'sandbox', 'sk_sandbox_'] as const,
  ['merchant', 'production', 'sk_live_'] as const,
  ['producer', 'sandbox', 'pk_sandbox_'] as const,
  ['producer', 'production', 'pk_live_'] as const,
);
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('an API key', () => {
  test('that is new parses to its prefix and hash, and has one length per prefix', () => {
    fc.assert(
      fc.property(bytes, kinds, (random, [kind, environment, text]) => {
        const key = newApiKey(kind, environment, random);
        expect(key.startsWith(text)).toBe(true);
        expect(key).toHaveLength(text.length + 49);
        expect(parseApiKey(key)).toEqual({ ok: true, kind, environment, hash: hashApiKey(key) });
        expect(environmentOfKey(key)).toBe(environment);
        expect(environmentOfKey(apiKeyHint(key))).toBe(environment);
      }),
    );
  });

  test('with one wrong character is always noticed', () => {
    fc.assert(
      fc.property(bytes, fc.nat(48), fc.nat(61), (random, place, other) => {
        const key = newApiKey('merchant', 'sandbox', random);
        const at = 'sk_sandbox_'.length + place;
        const wrong = key.slice(0, at) + ALPHABET.charAt(other) + key.slice(at + 1);
        expect(parseApiKey(wrong).ok).toBe(wrong === key);
      }),
    );
  });

  test('is different for different bytes', () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        const same = Buffer.from(a).equals(Buffer.from(b));
        expect(newApiKey('producer', 'sandbox', a) === newApiKey('producer', 'sandbox', b)).toBe(same);
      }),
    );
  });

  test.each([
    '',
    'sk_',
    'sk_test_abc',
    `sk_live_${'a'.repeat(48)}`,
    `pk_${'!'.repeat(49)}`,
    'pk_1fJjkkpe9PiTw9KSulA8Ghct30vZz4HpdQ5c5b9cPF13o4Q9B',
    `pk_${'a'.repeat(4900)}`,
    `pk_test_${'a'.repeat(49)}`,
    `pk_live${'a'.repeat(49)}`,
    `pk_sandbox_${'a'.repeat(48)}`,
  ])('is not %j, and the reason does not repeat it', (text) => {
    const parsed = parseApiKey(text);
    expect(parsed.ok).toBe(false);
    if (!parsed.ok && text.length > 20) expect(parsed.detail).not.toContain(text.slice(8));
  });

  test('is not made from too few random bytes', () => {
    expect(() => newApiKey('merchant', 'sandbox', new Uint8Array(16))).toThrow(RangeError);
  });

  test('has a hint that shows eight characters of the secret part', () => {
    const key = newApiKey('merchant', 'production', new Uint8Array(32).fill(7));
    expect(apiKeyHint(key)).toMatch(/^sk_live_.{4}….{4}$/);
  });
});
