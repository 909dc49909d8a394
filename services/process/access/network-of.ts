import { isIPv6 } from 'node:net';
import { ipv6Groups } from './ipv6-groups.ts';

const IPV4_AS_IPV6 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
/** Of the eight groups of an IPv6 address, those that name a network of one customer: 64 bits. */
const NETWORK_GROUPS = 4;

/**
 * Returns what one client can be told by: its IPv4 address, or the /64 network of its IPv6 address, since whoever has one
 * address there has 2^64. Text that is no address is returned as it is.
 */
export function networkOf(address: string): string {
  const plain = IPV4_AS_IPV6.exec(address)?.[1] ?? address;
  const [withoutZone = ''] = plain.split('%');
  if (!isIPv6(withoutZone)) return plain;
  const groups = ipv6Groups(withoutZone).slice(0, NETWORK_GROUPS);
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`;
}
