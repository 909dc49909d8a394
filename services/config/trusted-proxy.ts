import { AddressList } from '../process/access/address-list.ts';
import { Malformed } from './variables.ts';

/** Parses one entry of HOOKRAIL_TRUSTED_PROXIES. */
export function trustedProxy(entry: string): string {
  if (!new AddressList().add(entry)) {
    throw new Malformed(`must be addresses and CIDRs (10.0.0.0/8); "${entry}" is neither`);
  }
  if (/\/0+$/.test(entry)) {
    throw new Malformed(`names no proxy: "${entry}" is every address, so every client could name its own`);
  }
  return entry;
}
