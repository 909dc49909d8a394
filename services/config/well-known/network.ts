import { isIPv4, isIPv6 } from 'node:net';
import { ipv6Groups } from '../../process/access/ipv6-groups.ts';
import { Malformed } from '../variables.ts';

/** A range of addresses, with its first address as a number. */
export interface Network {
  readonly family: 4 | 6;
  readonly first: bigint;
  /** The length of the prefix. */
  readonly bits: number;
}

const WIDTH = { 4: 32, 6: 128 } as const;
/** The upper bits of IPv6 addresses that are IPv4 addresses. */
const MAPPED = 0xffffn;

/** Reads an address, or a range such as `203.0.113.0/28`. Throws Malformed with what is wrong. */
export function parseNetwork(entry: string): Network {
  const [address = '', prefix, ...more] = entry.split('/');
  const family = isIPv4(address) ? 4 : isIPv6(address) && !address.includes('%') ? 6 : undefined;
  const width = family && WIDTH[family];
  const isPrefix = prefix === undefined || /^(?:0|[1-9]\d{0,2})$/.test(prefix);
  const bits = prefix === undefined ? width : Number(prefix);
  if (!family || !width || bits === undefined || more.length > 0 || !isPrefix || bits > width)
    throw new Malformed(
      `must be addresses and CIDRs (203.0.113.7, 203.0.113.0/28, 2001:db8::/48); "${entry}" is neither`,
    );
  const number = family === 4 ? numberOfIPv4(address) : numberOfIPv6(address);
  if (family === 6 && number >> 32n === MAPPED)
    throw new Malformed(`has the IPv4 address "${entry}" in the form of IPv6: write it as IPv4`);
  if (bits === 0) throw new Malformed(`names no address: "${entry}" is every address`);
  const rest = BigInt(width - bits);
  const network = { family, first: (number >> rest) << rest, bits } as const;
  if (network.first !== number)
    throw new Malformed(
      `has "${entry}", which is no CIDR: firewalls take its first address, ${cidrOf(network)}`,
    );
  return network;
}

/** Returns a range in the one form that it has: a single address too has its prefix. */
export function cidrOf({ family, first, bits }: Network): string {
  return `${family === 4 ? textOfIPv4(first) : textOfIPv6(first)}/${bits}`;
}

/** Orders ranges: IPv4 before IPv6, then by the first address, wider ones first. */
export function compareNetworks(a: Network, b: Network): number {
  if (a.family !== b.family) return a.family - b.family;
  if (a.first !== b.first) return a.first < b.first ? -1 : 1;
  return a.bits - b.bits;
}

function numberOfIPv4(address: string): bigint {
  return address.split('.').reduce((number, part) => (number << 8n) | BigInt(part), 0n);
}

function textOfIPv4(number: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 0xffn).join('.');
}

function numberOfIPv6(address: string): bigint {
  return ipv6Groups(address).reduce((number, group) => (number << 16n) | BigInt(group), 0n);
}

/** Writes an IPv6 address as RFC 5952 has it, without dots. */
function textOfIPv6(number: bigint): string {
  const groups = Array.from({ length: 8 }, (_, at) => (number >> BigInt(16 * (7 - at))) & 0xffffn);
  const text = groups.map((group) => group.toString(16)).join(':');
  return new URL(`http://[${text}]/`).hostname.slice(1, -1);
}
