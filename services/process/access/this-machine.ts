import { addressListOf } from './address-list.ts';

const LOOPBACK = addressListOf(['127.0.0.0/8', '::1']);
const IPV4_AS_IPV6 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/**
 * Returns whether a connection comes from this machine, so that nothing of it crosses a network: from a loopback address,
 * or from the very address that it reached.
 */
export function isFromHere(from: string, reached: string | undefined): boolean {
  if (LOOPBACK.has(from)) return true;
  return from !== '' && plain(from) === plain(reached ?? '');
}

const plain = (address: string) => address.replace(IPV4_AS_IPV6, '$1');
