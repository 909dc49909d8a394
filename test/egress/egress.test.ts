/**
 * Guarantee: only addresses in public use are public. The table is our own; another library is the oracle, and
 * where the two differ on purpose it is said here.
 */
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { isPublicAddress, parseEgressAllow } from '../../services/egress/egress.ts';

/** The first and the last address of every refused range, and what lies just outside it. */
const EDGES: readonly (readonly [within: string[], outside: string[]])[] = [
  [['0.0.0.0', '0.255.255.255'], ['1.0.0.0']],
  [
    ['10.0.0.0', '10.255.255.255'],
    ['9.255.255.255', '11.0.0.0'],
  ],
  [
    ['100.64.0.0', '100.127.255.255'],
    ['100.63.255.255', '100.128.0.0'],
  ],
  [
    ['127.0.0.0', '127.255.255.255'],
    ['126.255.255.255', '128.0.0.0'],
  ],
  [['168.63.129.16'], ['168.63.129.15', '168.63.129.17']],
  [
    ['169.254.0.0', '169.254.255.255'],
    ['169.253.255.255', '169.255.0.0'],
  ],
  [
    ['172.16.0.0', '172.31.255.255'],
    ['172.15.255.255', '172.32.0.0'],
  ],
  [
    ['192.0.0.0', '192.0.0.255'],
    ['191.255.255.255', '192.0.1.0'],
  ],
  [
    ['192.0.2.0', '192.0.2.255'],
    ['192.0.1.255', '192.0.3.0'],
  ],
  [
    ['192.88.99.0', '192.88.99.255'],
    ['192.88.98.255', '192.88.100.0'],
  ],
  [
    ['192.168.0.0', '192.168.255.255'],
    ['192.167.255.255', '192.169.0.0'],
  ],
  [
    ['198.18.0.0', '198.19.255.255'],
    ['198.17.255.255', '198.20.0.0'],
  ],
  [
    ['198.51.100.0', '198.51.100.255'],
    ['198.51.99.255', '198.51.101.0'],
  ],
  [
    ['203.0.113.0', '203.0.113.255'],
    ['203.0.112.255', '203.0.114.0'],
  ],
  [['224.0.0.0', '239.255.255.255', '240.0.0.0', '255.255.255.255'], ['223.255.255.255']],
  [
    ['::', '::1', '1fff:ffff::', '4000::', 'fc00::1', 'fe80::1', 'ff02::1'],
    ['2003::', '3ffd:ffff::'],
  ],
  [['2001::', '2001:1ff:ffff::'], ['2001:200::']],
  [
    ['2001:db8::', '2001:db8:ffff:ffff::'],
    ['2001:db7:ffff::', '2001:db9::'],
  ],
  [
    ['2002::', '2002:ffff:ffff::'],
    ['2003::', '2001:ffff::'],
  ],
  [
    ['2620:4f:8000::', '2620:4f:8000:ffff::'],
    ['2620:4f:7fff::', '2620:4f:8001::'],
  ],
  [['3fff::', '3fff:fff:ffff::'], ['3fff:1000::']],
  [['3ffe::', '3ffe:ffff:ffff::'], ['3ffd:ffff::']],
];

describe('the check for public addresses', () => {
  test.each(EDGES)('refuses %j, and calls %j public', (within, outside) => {
    for (const ip of within) expect([ip, isPublicAddress(ip)]).toEqual([ip, false]);
    for (const ip of outside) expect([ip, isPublicAddress(ip)]).toEqual([ip, true]);
  });
});

test.each([
  '::ffff:8.8.8.8',
  '::8.8.8.8',
  '64:ff9b::808:808',
  '64:ff9b:1::808:808',
  '2606:4700:4700::1111%eth0',
  'fe80::1%1',
  '8.8.8',
  '08.8.8.8',
  '[2606:4700:4700::1111]',
  'hooks.merchant-a.com',
  '',
])('the address %j is not a plain public one', (ip) => expect(isPublicAddress(ip)).toBe(false));

test('an address that another library calls special is never public', () => {
  const v4 = fc.ipV4();
  const v6 = fc
    .tuple(fc.integer({ min: 0x1ff0, max: 0x4010 }), fc.bigInt({ min: 0n, max: (1n << 112n) - 1n }))
    .map(([first, rest]) => {
      const hex = first.toString(16).padStart(4, '0') + rest.toString(16).padStart(28, '0');
      return hex.replace(/(.{4})(?=.)/g, '$1:');
    });
  let publicOnes = 0;
  fc.assert(
    fc.property(fc.oneof(v4, v6, fc.ipV6()), (ip) => {
      if (!isPublicAddress(ip)) return;
      publicOnes += 1;
      expect([ip, ipaddr.parse(ip).range()]).toEqual([ip, 'unicast']);
    }),
    { numRuns: 20_000 },
  );
  expect(publicOnes).toBeGreaterThan(1000);
});

test('an address that another library calls ordinary is public, except for those refused on purpose', () => {
  const onPurpose = (ip: string) => ip === '168.63.129.16' || ip.startsWith('3ffe:');
  fc.assert(
    fc.property(fc.ipV4(), (ip) => {
      if (ipaddr.parse(ip).range() === 'unicast' && !onPurpose(ip))
        expect([ip, isPublicAddress(ip)]).toEqual([ip, true]);
    }),
    { numRuns: 5_000 },
  );
});

describe('the exemptions from the address check', () => {
  const allow = parseEgressAllow(' 127.0.0.0/8, ::1/128,10.1.2.3 ,LocalHost,receiver.test,');

  test('cover the addresses and names listed, and no others', () => {
    for (const ip of ['127.0.0.1', '127.255.0.1', '::1', '10.1.2.3']) expect(allow.address(ip)).toBe(true);
    for (const ip of ['128.0.0.1', '::2', '10.1.2.4', '::1%lo', 'localhost', ''])
      expect(allow.address(ip)).toBe(false);
    for (const host of ['localhost', 'receiver.test']) expect(allow.name(host)).toBe(true);
    for (const host of ['x.localhost', 'test', '127.0.0.1', '']) expect(allow.name(host)).toBe(false);
  });

  test('cover nothing when the list is empty', () => {
    expect(parseEgressAllow('').address('127.0.0.1')).toBe(false);
  });

  test.each(['10.0.0.0/33', '10.0.0.0/', '10.0/8', '::1/129', 'localhost:443', 'https://x', '*'])(
    'do not parse with %j',
    (text) => {
      expect(() => parseEgressAllow(`127.0.0.1,${text}`)).toThrow(`"${text}" is neither`);
    },
  );
});
