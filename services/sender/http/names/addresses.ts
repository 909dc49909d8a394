import { promises as dns } from 'node:dns';
import { isIPv4 } from 'node:net';

/** The addresses of a name. `later`: of the family that is not answered yet, if any; it never rejects. */
export interface Addresses {
  readonly first: readonly string[];
  readonly later: Promise<readonly string[]> | null;
  /** Our own name servers have taken so long that too little time may be left to connect. */
  readonly isHeldUp?: boolean;
}

/** Returns the addresses of a name, or rejects with a NameFailure, or an error with the resolver's code. */
export type Resolve = (hostname: string) => Promise<readonly string[] | Addresses>;

/** A name has no addresses. */
export class NameFailure extends Error {
  override readonly name = 'NameFailure';
  /** The resolver's code, such as ENOTFOUND. */
  readonly code: string;
  /** The fault of our own name servers that explains the failure; null: the name itself failed. */
  readonly ours: string | null;

  constructor(code: string, ours: string | null) {
    super(ours ?? code);
    this.code = code;
    this.ours = ours;
  }
}

/** Sorts addresses so that neither family keeps the other waiting: in turn, IPv4 first (RFC 8305, section 4). */
export function familiesInTurn(addresses: readonly string[]): string[] {
  const v4 = addresses.filter((address) => isIPv4(address));
  const v6 = addresses.filter((address) => !isIPv4(address));
  return inTurn(v4, v6);
}

/** Returns the items of two lists in turn, the first list's first. */
export function inTurn<Item>(one: readonly Item[], other: readonly Item[]): Item[] {
  const longest = Math.max(one.length, other.length);
  return Array.from({ length: longest }, (_, i) => [...one.slice(i, i + 1), ...other.slice(i, i + 1)]).flat();
}

/** Resolves exempt names such as `localhost`, which are in the hosts file but in no DNS. */
export const hostsResolver: Resolve = async (hostname) => {
  const answers = await dns.lookup(hostname, { all: true });
  return answers.map((answer) => answer.address);
};
