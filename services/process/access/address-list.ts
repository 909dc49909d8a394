import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

/** A list of addresses and CIDR ranges. An IPv4 address written as IPv6 (`::ffff:10.0.0.1`) is in it as IPv4. */
export class AddressList {
  readonly #list = new BlockList();

  /** Adds an address, or a range such as `10.0.0.0/8`. Returns false when the text is neither. */
  add(entry: string): boolean {
    if (entry.includes('%')) return false;
    const [address = '', prefix, ...more] = entry.split('/');
    if (isIP(address) === 0 || more.length > 0) return false;
    if (prefix === undefined) {
      this.#list.addAddress(address, family(address));
      return true;
    }
    const bits = /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
    if (!(bits <= (isIPv4(address) ? 32 : 128))) return false;
    this.#list.addSubnet(address, bits, family(address));
    return true;
  }

  /** Text that is no plain address (zone ids too) is in no list. */
  has(ip: string): boolean {
    if (isIPv4(ip)) return this.#list.check(ip, 'ipv4');
    return isIPv6(ip) && !ip.includes('%') && this.#list.check(ip, 'ipv6');
  }
}

function family(ip: string): 'ipv4' | 'ipv6' {
  return isIPv4(ip) ? 'ipv4' : 'ipv6';
}

/** A list of these entries, which were checked already. */
export function addressListOf(entries: readonly string[]): AddressList {
  const list = new AddressList();
  for (const entry of entries)
    if (!list.add(entry)) throw new RangeError(`"${entry}" is no address and no CIDR`);
  return list;
}
