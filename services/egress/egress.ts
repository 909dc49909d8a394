import { isIP, isIPv4, isIPv6 } from 'node:net';
import { AddressList } from '../process/access/address-list.ts';

/**
 * Which addresses are public, and which a sandbox exempts (docs/design/security.md, "Address guard"). This is our own table,
 * because what a library calls private changes with its releases; tests compare it with libraries.
 */

/** IPv4 that is not public: IANA's special-purpose registry, multicast, reserved, and a cloud's host address. */
const NOT_PUBLIC_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
] as const;

/** The only IPv6 range assigned for public use. IPv4-mapped, -compatible and NAT64 forms lie outside it. */
const GLOBAL_IPV6 = ['2000::/3'] as const;

/** Inside 2000::/3 and still not public: protocol assignments with Teredo, documentation, 6to4, AS112, 6bone. */
const NOT_PUBLIC_IPV6 = [
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
  '3ffe::/16',
] as const;

const notPublicIPv4 = listOf(NOT_PUBLIC_IPV4);
const globalIPv6 = listOf(GLOBAL_IPV6);
const notPublicIPv6 = listOf(NOT_PUBLIC_IPV6);

/**
 * Returns whether webhooks may be sent to an address. Anything that is not a plain address (zone ids too) is refused.
 */
export function isPublicAddress(ip: string): boolean {
  if (isIPv4(ip)) return !notPublicIPv4.has(ip);
  return isIPv6(ip) && globalIPv6.has(ip) && !notPublicIPv6.has(ip);
}

/** Exemptions from the address guard: host names, whatever they resolve to, and addresses. */
export interface EgressAllow {
  name(host: string): boolean;
  address(ip: string): boolean;
}

/** No exemptions: production. */
export const NOTHING_EXEMPT: EgressAllow = { name: () => false, address: () => false };

const HOST_NAME = /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/;

/**
 * Parses HOOKRAIL_EGRESS_ALLOW: a comma-separated list of CIDRs, addresses and host names (each exactly that host, any
 * port). Throws EgressAllowError naming the entry that is neither.
 */
export function parseEgressAllow(text: string): EgressAllow {
  const names = new Set<string>();
  const addresses = new AddressList();
  for (const entry of text.split(',').map((part) => part.trim().toLowerCase())) {
    if (entry === '') continue;
    if (isIP(entry) !== 0 || entry.includes('/')) addTo(addresses, entry);
    else if (HOST_NAME.test(entry)) names.add(entry);
    else throw new EgressAllowError(entry);
  }
  return {
    name: (host) => names.has(host),
    address: (ip) => addresses.has(ip),
  };
}

class EgressAllowError extends Error {
  override readonly name = 'EgressAllowError';

  constructor(entry: string) {
    super(`"${entry}" is neither a CIDR (10.0.0.0/8), an address nor a host name`);
  }
}

function listOf(subnets: readonly string[]): AddressList {
  const list = new AddressList();
  for (const subnet of subnets) addTo(list, subnet);
  return list;
}

function addTo(list: AddressList, entry: string): void {
  if (!list.add(entry)) throw new EgressAllowError(entry);
}
