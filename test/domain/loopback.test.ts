import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isLoopbackHost } from '../../services/domain/text/loopback.ts';

describe('isLoopbackHost', () => {
  test.each(['localhost', '127.0.0.1', '127.0.0.0', '127.255.255.255', '127.10.99.200', '::1', '[::1]'])(
    '%s is this machine',
    (host) => expect(isLoopbackHost(host)).toBe(true),
  );

  test.each([
    ...['', ' ', 'localhost ', ' localhost', 'localhost.', 'localhost\n', '127.0.0.1\n', '\n127.0.0.1'],
    ...['localhost.evil.example', 'evil.localhost', 'localhost.localdomain', 'localhost:80', 'LOCALHOST'],
    ...['127.evil.example', '127.0.0.1.nip.io', '127.0.0.1.', '127.0.0.1:80', '127.0.0.1@evil.example'],
    ...['127', '127.1', '127.0.1', '2130706433', '0x7f.0.0.1', '0x7f000001', '0177.0.0.1', '127.0.0.01'],
    ...['127.0.0.256', '127.0.0.999', '127.0.0', '127.0.0.', '127..0.1', '127.0.0.1.1', '127.0.0.1/8'],
    ...[
      '127.0.0.１',
      '127。0。0。1',
      'ⅼocalhost',
      'localhoſt',
      '127%2e0.0.1',
      '0.0.0.0',
      '128.0.0.1',
      '12.7.0.1',
    ],
    ...[
      '::',
      '[::]',
      '::1%lo',
      '[::1%25lo]',
      '[::1',
      '::1]',
      '[[::1]]',
      '::ffff:127.0.0.1',
      '0:0:0:0:0:0:0:1',
    ],
    ...[
      '[::1].evil.example',
      'user@localhost',
      'localhost/',
      'localhost#',
      '127.0.0.1,evil.example',
      '/127.0.0.1',
    ],
  ])('%j is not', (host) => expect(isLoopbackHost(host)).toBe(false));

  test('every address of 127.0.0.0/8 is this machine, and no other IPv4 address', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(isLoopbackHost(address)).toBe(address.startsWith('127.'));
        expect(isLoopbackHost(address.replace(/^\d+/, '127'))).toBe(true);
      }),
    );
  });

  test.each(['2130706433', '0x7f.1', '127.1', '0177.0.0.1', 'LOCALHOST', '[0:0:0:0:0:0:0:1]'])(
    '%s is this machine once a URL has been parsed',
    (spelt) => expect(isLoopbackHost(new URL(`http://${spelt}/`).hostname)).toBe(true),
  );

  test.each(['127.0.0.1@evil.example', '127.0.0.1.nip.io', 'localhost:1@evil.example', '[::ffff:7f00:1]'])(
    '%s is not, once a URL has been parsed',
    (spelt) => expect(isLoopbackHost(new URL(`http://${spelt}/`).hostname)).toBe(false),
  );
});
