import type { IncomingMessage } from 'node:http';
import { isIP, SocketAddress } from 'node:net';
import type { AddressList } from '../../process/access/address-list.ts';

/**
 * Returns the address of the client that sent a request, for limits per address: the peer of its connection, or, where
 * that is a trusted proxy, the last address in X-Forwarded-For that is none. Addresses are written in one way only, and
 * IPv4 never as IPv6. Empty when the connection closed before anybody asked for its peer.
 */
export type ClientAddress = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string;

export function clientAddressOf(proxies: Pick<AddressList, 'has'>): ClientAddress {
  return ({ headers, socket }) => {
    const peer = socket.remoteAddress ?? '';
    let address = plainAddress(peer) ?? peer;
    // Each proxy adds the peer that it saw, so only what trusted ones added is believed, from the end on.
    const hops = `${headers['x-forwarded-for'] ?? ''}`.split(',');
    while (proxies.has(address)) {
      const hop = plainAddress(hops.pop()?.trim() ?? '');
      if (hop === undefined) break;
      address = hop;
    }
    return address;
  };
}

const WITH_PORT = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d{1,5})?$/;
const IPV4_AS_IPV6 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;

/** Returns an address as it is written here; some proxies add the port. Undefined when the text is no address. */
function plainAddress(text: string): string | undefined {
  const [, inBrackets, ipv4] = WITH_PORT.exec(text) ?? [];
  const ip = inBrackets ?? ipv4 ?? text;
  const version = isIP(ip);
  if (version === 0 || ip.includes('%')) return undefined;
  const { address } = new SocketAddress({ address: ip, family: version === 4 ? 'ipv4' : 'ipv6' });
  return IPV4_AS_IPV6.exec(address)?.[1] ?? address;
}
