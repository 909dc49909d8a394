/** The addresses that firewalls of merchants let in: each in its one form, in order, and at any time at least one. */
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../../services/config/config.ts';

const sourcesOf = (text: string) => readConfig({ HOOKRAIL_SOURCE_ADDRESSES: text }).api.sources;
const cidrsOf = (text: string) => sourcesOf(text).map(({ cidr }) => cidr);

describe('the source addresses', () => {
  test('are not fixed unless the operator names them', () => {
    expect(readConfig({}).api.sources).toEqual([]);
    expect(sourcesOf(' , ')).toEqual([]);
  });

  test('are sorted: IPv4 before IPv6, by the first address, wider ranges first', () => {
    const given = '2001:db8:0:1::/64,203.0.113.16/28,2001:db8::/32,9.0.0.1,203.0.113.16/29,10.1.0.0/16';
    expect(cidrsOf(given)).toEqual([
      '9.0.0.1/32',
      '10.1.0.0/16',
      '203.0.113.16/28',
      '203.0.113.16/29',
      '2001:db8::/32',
      '2001:db8:0:1::/64',
    ]);
  });

  test.each([
    ['203.0.113.7', '203.0.113.7/32'],
    ['2001:DB8::7', '2001:db8::7/128'],
    ['2001:0db8:0000:0000:0000:0000:0000:0000/48', '2001:db8::/48'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1/128'],
    ['64:ff9b::203.0.113.7', '64:ff9b::cb00:7107/128'],
  ])('have one form: %s is %s', (given, cidr) => {
    expect(cidrsOf(given)).toEqual([cidr]);
  });

  test('come and go at the times that are given, a date at midnight UTC', () => {
    const given = '203.0.113.7 until 2027-03-01, 203.0.113.9  from 2027-02-01T12:00:00+01:00, 203.0.113.8';
    expect(sourcesOf(given)).toEqual([
      { cidr: '203.0.113.7/32', validFrom: null, validUntil: Date.UTC(2027, 2, 1) },
      { cidr: '203.0.113.8/32', validFrom: null, validUntil: null },
      { cidr: '203.0.113.9/32', validFrom: Date.UTC(2027, 1, 1, 11), validUntil: null },
    ]);
  });

  test('may all be replaced, when the next is valid before the last has ended', () => {
    const given =
      '203.0.113.7 until 2027-03-01,203.0.113.8 from 2027-02-01 until 2027-05-01,203.0.113.9 from 2027-05-01';
    expect(cidrsOf(given)).toHaveLength(3);
  });

  test.each([
    ['webhooks.example.com', 'must be addresses and CIDRs'],
    ['203.0.113.7/33', '"203.0.113.7/33" is neither'],
    ['203.0.113.7/', 'is neither'],
    ['203.0.113.0/08', 'is neither'],
    ['203.0.113', 'is neither'],
    ['fe80::1%eth0', 'is neither'],
    ['2001:db8::/129', 'is neither'],
    ['203.0.113.7/28', 'is no CIDR: firewalls take its first address, 203.0.113.0/28'],
    ['2001:db8::7/48', 'is no CIDR: firewalls take its first address, 2001:db8::/48'],
    ['0.0.0.0/0', 'is every address'],
    ['::/0', 'is every address'],
    ['::ffff:203.0.113.7', 'write it as IPv4'],
    ['203.0.113.7,203.0.113.7/32', 'names 203.0.113.7/32 twice'],
    [
      '203.0.113.7 from tomorrow,203.0.113.8',
      'has "tomorrow" in "203.0.113.7 from tomorrow": a time is 2027-01-31',
    ],
    ['203.0.113.7 from 2027-02-30,203.0.113.8', 'a time is'],
    ['203.0.113.7 from 2027-02-01T12:00:00,203.0.113.8', 'a time is'],
    ['203.0.113.7 since 2027-02-01,203.0.113.8', 'each with "from" and "until"'],
    ['203.0.113.7 from 2027-02-01 until 2027-02-01,203.0.113.8', 'ends before it begins'],
    ['203.0.113.7 from 2027-02-01', 'has no address until 2027-02-01T00:00:00.000Z'],
    ['203.0.113.7 until 2027-02-01', 'has no address from 2027-02-01T00:00:00.000Z on'],
    [
      '203.0.113.7 until 2027-02-01,203.0.113.8 from 2027-02-02',
      'has no address from 2027-02-01T00:00:00.000Z until 2027-02-02T00:00:00.000Z: one must be valid at any time',
    ],
  ])('"%s" is refused', (given, says) => {
    expect(() => sourcesOf(given)).toThrow(says);
    expect(() => sourcesOf(given)).toThrow('HOOKRAIL_SOURCE_ADDRESSES=');
  });
});
