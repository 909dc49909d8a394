/** Secrets of a merchant's own choice: those that can be guessed are refused, random ones never, and little is shown. */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chosenSecretFault, newSecret, secretHint } from '../../services/domain/secret.ts';

const whsec = (bytes: Uint8Array) => `whsec_${Buffer.from(bytes).toString('base64')}`;

test.each([
  ...['aaaaaaaaaaaaaaaa', 'a'.repeat(128), '0000000000000000', `${'\\'.repeat(15)}Z`, 'aaaaaaaaaaaaaaab'],
  ...['abababababababab', 'abcabcabcabcabcabc', 'abcdabcdabcdabcd', '1212121212121212', 'xyxyxyxyxyxyxyxyz'],
  ...['0123456789abcdef', 'abcdefghijklmnop', 'ponmlkjihgfedcba', '12345678901234567890', 'ABCDEFGHIJKLMNOP'],
  ...[
    'AbCdEfGhIjKlMnOp',
    'acegikmoqsuwyacegi',
    'aabbccddeeffgghhii',
    'a1b2c3d4e5f6g7h8',
    'aaaabbbbccccddddeeee',
  ],
  ...['qwertyuiopasdfgh', 'asdfghjklasdfghjkl', '1qaz1qaz1qaz1qaz', '!"#$%&\'()*+,-./01', 'abcdefghhgfedcba'],
  ...['passwordpassword', 'changemechangeme', 'secretsecretsecret', 'test-test-test-1', 'hookrailhookrail'],
  ...['passwordpasswordpasswordpassword', 'abcdefgh'.repeat(16), 'SecretsecretSECRET'],
  ...[new Uint8Array(32), new Uint8Array(24).fill(255), Buffer.from('ab'.repeat(16))].map(whsec),
  ...[
    Uint8Array.from({ length: 32 }, (_, i) => i),
    Uint8Array.from({ length: 32 }, (_, i) => 255 - 3 * i),
  ].map(whsec),
])('%s is refused', (secret) => {
  expect(chosenSecretFault(secret)).toMatch(/^must not be easy to guess: .*openssl rand -hex 24$/);
});

test('the command of the message gives a secret that is accepted', () => {
  expect(chosenSecretFault(randomBytes(24).toString('hex'))).toBeNull();
});

test.each([
  'chosen-by-the-merchant',
  'a-secret-of-my-own#1',
  '4]|,%_>&{<6r-"7(',
  '(_@\\]!,#!gAcFnyS\\',
  '!?%&[}{;~*+:#.$_',
  '8VxN2kqLzT0cWm5RyB7d',
  'correct horse'.replace(' ', '-battery-'),
])('%s is accepted', (secret) => expect(chosenSecretFault(secret)).toBeNull());

const ALPHABETS = {
  hex: '0123456789abcdef',
  'capital letters': 'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
  letters: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
  base64: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
  'visible characters': Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).join(''),
};

test.each(Object.entries(ALPHABETS))('random %s are accepted, of every length', (_, alphabet) => {
  fc.assert(
    fc.property(fc.integer({ min: 16, max: 128 }), (length) => {
      // Uniform draws: fast-check's own strings favour small and equal values.
      const bytes = randomBytes(length * 4);
      const secret = Array.from(
        { length },
        (__, i) => alphabet[bytes.readUInt32LE(i * 4) % alphabet.length],
      ).join('');
      return secret.startsWith('whsec_') || chosenSecretFault(secret) === null;
    }),
    { numRuns: 3000 },
  );
});

test('random digits are accepted from 20 on, as are the secrets that hookrail makes', () => {
  for (let n = 0; n < 3000; n += 1) {
    const digits = [...randomBytes(20 + (n % 100))].map((byte) => byte % 10).join('');
    expect([digits, chosenSecretFault(digits)]).toEqual([digits, null]);
    const made = newSecret(randomBytes(24 + (n % 41)));
    expect([made, chosenSecretFault(made)]).toEqual([made, null]);
  }
});

test('is decided in time that does not grow out of hand', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[!-~]{16,128}$/), (secret) => {
      const fault = chosenSecretFault(secret);
      return fault === null || !fault.includes(secret);
    }),
  );
});

test.each([
  ['chosen-16-charac', '…'],
  ['chosen-18-characte', '…te'],
  ['chosen-by-the-merchant', '…hant'],
  ['whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAwXY=', '…AwXY'],
])('of %s, %s is shown', (secret, shown) => {
  expect(secretHint(secret)).toBe(shown);
});
