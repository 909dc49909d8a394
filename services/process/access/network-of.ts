import { isIPv6 } from 'node:net';

const IPV4_AS_IPV6 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
/** Of the eight parts of an IPv6 address, those that name a network of one customer: 64 bits. */
const NETWORK_PARTS = 4;
const PARTS = 8;

/**
 * Returns what one client can be told by: its IPv4 address, or the /64 network of its IPv6 address, since whoever has one
 * address there has 2^64. Text that is no address is returned as it is.
 */
export function networkOf(address: string): string {
  const plain = IPV4_AS_IPV6.exec(address)?.[1] ?? address;
  const [withoutZone = ''] = plain.split('%');
  if (!isIPv6(withoutZone)) return plain;
  const [head = '', tail] = withoutZone.split('::');
  const before = partsOf(head);
  const after = partsOf(tail ?? '');
  const zeros = Array<string>(Math.max(0, PARTS - before.length - after.length)).fill('0');
  const parts = [...before, ...zeros, ...after].slice(0, NETWORK_PARTS);
  return `${parts.map((part) => Number.parseInt(part, 16).toString(16)).join(':')}::/64`;
}

/** Returns the parts of 16 bits; an IPv4 address at the end is two of them, whose values do not matter here. */
function partsOf(text: string): readonly string[] {
  if (text === '') return [];
  return text.split(':').flatMap((part) => (part.includes('.') ? ['0', '0'] : [part]));
}
