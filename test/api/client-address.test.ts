/** The address a request comes from: nobody but a trusted proxy may say that it comes from another one. */
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { clientAddressOf } from '../../services/api/access/client-address.ts';
import { addressListOf } from '../../services/process/access/address-list.ts';

const clientAddress = clientAddressOf(addressListOf(['10.0.0.0/8', 'fd00::/16', '127.0.0.1']));

function from(peer: string | undefined, forwarded?: string): string {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return clientAddress({ headers, socket: { remoteAddress: peer } as Socket });
}

test.each([
  ['a client without a proxy', '192.0.2.1', undefined, '192.0.2.1'],
  ['a client that names another address', '192.0.2.1', '198.51.100.7', '192.0.2.1'],
  ['a client on a socket for both families', '::ffff:192.0.2.1', '198.51.100.7', '192.0.2.1'],
  ['a proxy for a client', '10.0.0.1', '198.51.100.7', '198.51.100.7'],
  ['a proxy as IPv6 writes it', '::ffff:10.0.0.1', '198.51.100.7', '198.51.100.7'],
  [
    'a proxy for a client that names another address',
    '10.0.0.1',
    '203.0.113.9, 198.51.100.7',
    '198.51.100.7',
  ],
  ['a proxy for a client that names a proxy', '10.0.0.1', '10.0.0.2,198.51.100.7', '198.51.100.7'],
  ['two proxies', '10.0.0.1', '203.0.113.9, 198.51.100.7, fd00::5', '198.51.100.7'],
  ['a proxy with the port of its client', '10.0.0.1', '198.51.100.7:4711', '198.51.100.7'],
  ['a proxy with the port of its IPv6 client', '10.0.0.1', '[2001:DB8:0::7]:4711', '2001:db8::7'],
  ['an IPv6 client, written in full', '10.0.0.1', '2001:0db8:0:0:0:0:0:7', '2001:db8::7'],
  ['an IPv4 client, written as IPv6', '10.0.0.1', '::ffff:c633:6407', '198.51.100.7'],
  ['a request of a proxy itself', '10.0.0.1', undefined, '10.0.0.1'],
  ['a request of a proxy behind a proxy', '10.0.0.1', '10.0.0.2', '10.0.0.2'],
  ['a proxy that hides its client', '10.0.0.1', '203.0.113.9, unknown', '10.0.0.1'],
  ['a proxy with an empty entry', '10.0.0.1', '203.0.113.9,', '10.0.0.1'],
  ['a proxy with an address of a link', '10.0.0.1', 'fe80::1%eth0', '10.0.0.1'],
  ['a client of a link', 'fe80::1%eth0', '198.51.100.7', 'fe80::1%eth0'],
  ['a connection that has closed', undefined, '198.51.100.7', ''],
])('%s is taken to be at its own address', (_case, peer, forwarded, expected) => {
  expect(from(peer, forwarded)).toBe(expected);
});

test('a header of 16 KB takes no time that matters', () => {
  const startedAt = performance.now();
  for (const part of ['10.0.0.1,', ',', '1', '[', '::', ':1'])
    from('10.0.0.1', part.repeat(16_384 / part.length));
  expect(performance.now() - startedAt).toBeLessThan(2000);
});
