import { newApiKey } from '../../../services/domain/api-key.ts';
import { systemRandom } from '../../../services/process/random.ts';
import type { TestApi } from './test-api.ts';

type Keys = TestApi['keys'];
type WrongKey = readonly [key: (keys: Keys) => string | null, code: string];

/** Sorts of keys that open nothing, by the scheme that the operation takes: what is sent, and the code that answers. */
export const KEYS: Readonly<Record<string, Readonly<Record<string, WrongKey>>>> = {
  merchantKey: {
    missing: [() => null, 'api_key_missing'],
    'malformed: cut off': [(keys) => keys.own.slice(0, -3), 'api_key_malformed'],
    'malformed: mistyped': [(keys) => mistyped(keys.own), 'api_key_malformed'],
    'the other environment’s': [(keys) => keys.live, 'api_key_environment_mismatch'],
    revoked: [(keys) => keys.revoked, 'api_key_invalid'],
    unknown: [() => newApiKey('merchant', 'sandbox', systemRandom.bytes(32)), 'api_key_invalid'],
    'a producer’s': [(keys) => keys.producer, 'api_key_invalid'],
    'the platform’s': [(keys) => keys.platform, 'api_key_invalid'],
  },
  producerKey: {
    missing: [() => null, 'api_key_missing'],
    'malformed: cut off': [(keys) => keys.producer.slice(0, -3), 'api_key_malformed'],
    'malformed: mistyped': [(keys) => mistyped(keys.producer), 'api_key_malformed'],
    'the other environment’s': [
      () => newApiKey('producer', 'production', systemRandom.bytes(32)),
      'api_key_environment_mismatch',
    ],
    'a merchant’s of the other environment': [(keys) => keys.live, 'api_key_invalid'],
    revoked: [(keys) => keys.revokedProducer, 'api_key_invalid'],
    unknown: [() => newApiKey('producer', 'sandbox', systemRandom.bytes(32)), 'api_key_invalid'],
    'a merchant’s': [(keys) => keys.own, 'api_key_invalid'],
    'the platform’s': [(keys) => keys.platform, 'api_key_invalid'],
  },
  platformKey: {
    missing: [() => null, 'api_key_missing'],
    'malformed: cut off': [(keys) => keys.platform.slice(0, -3), 'api_key_malformed'],
    'malformed: mistyped': [(keys) => mistyped(keys.platform), 'api_key_malformed'],
    'the other environment’s': [
      () => newApiKey('platform', 'production', systemRandom.bytes(32)),
      'api_key_environment_mismatch',
    ],
    revoked: [(keys) => keys.revokedPlatform, 'api_key_invalid'],
    unknown: [() => newApiKey('platform', 'sandbox', systemRandom.bytes(32)), 'api_key_invalid'],
    'a merchant’s': [(keys) => keys.own, 'api_key_invalid'],
    'a producer’s': [(keys) => keys.producer, 'api_key_invalid'],
  },
};

function mistyped(key: string): string {
  return key.slice(0, -8) + (key.at(-8) === 'a' ? 'b' : 'a') + key.slice(-7);
}
