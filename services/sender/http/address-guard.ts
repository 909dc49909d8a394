import { promises as dns } from 'node:dns';
import { isIP, isIPv4 } from 'node:net';
import { type EgressAllow, isPublicAddress } from '../../egress/egress.ts';
import { ConnectFailure } from './connect-failure.ts';

/** Returns all addresses of a name, or rejects with the resolver's error code. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

export interface EgressPolicy {
  readonly ports: readonly number[];
  readonly allow: EgressAllow;
}

/** Longer lists of addresses are cut, once all of them were checked. */
const ADDRESSES_MAX = 32;

/**
 * Decides, at every connection, which addresses may be connected to (docs/design.md, "Address guard"). One bad address
 * refuses all of a name's: a mixed list is an attempt to get past a check.
 */
export class AddressGuard {
  readonly #policy: EgressPolicy;
  readonly #resolve: Resolve;
  readonly #resolveExempt: Resolve;
  /** Lookups in progress: connections opened together to one name share one, later ones ask again. */
  readonly #running = new Map<string, Promise<readonly string[]>>();

  constructor(
    policy: EgressPolicy,
    resolvers: { readonly resolve: Resolve; readonly resolveExempt: Resolve },
  ) {
    this.#policy = policy;
    this.#resolve = resolvers.resolve;
    this.#resolveExempt = resolvers.resolveExempt;
  }

  /**
   * Returns the addresses that may be connected to, IPv4 first, at least one. Rejects with a ConnectFailure:
   * `dns_error`, or `blocked_address` with the rule. `host` is a lower-case name or an address without brackets.
   */
  async addressesOf(host: string, port: number): Promise<readonly string[]> {
    if (this.isExempt(host)) return isIP(host) ? [host] : this.#lookup(host, this.#resolveExempt);
    if (isIP(host)) throw blocked('address_literal', `${host} is an address literal`);
    if (!this.#policy.ports.includes(port))
      throw blocked('port', `port ${port} is not among the allowed ones`);
    const addresses = await this.#lookup(host, this.#resolve);
    for (const address of addresses) {
      if (!this.permits(host, address))
        throw blocked('address', `${host} resolves to an address that is not public`);
    }
    return addresses.slice(0, ADDRESSES_MAX);
  }

  /** Returns whether the policy exempts this host, whatever it resolves to. */
  isExempt(host: string): boolean {
    return isIP(host) ? this.#policy.allow.address(host) : this.#policy.allow.name(host);
  }

  /** Returns whether a connection for this host may lead to this address; checked again on the opened socket. */
  permits(host: string, address: string): boolean {
    return this.#policy.allow.name(host) || this.#policy.allow.address(address) || isPublicAddress(address);
  }

  #lookup(host: string, resolve: Resolve): Promise<readonly string[]> {
    const running = this.#running.get(host);
    if (running) return running;
    const lookup = lookUp(host, resolve).finally(() => this.#running.delete(host));
    this.#running.set(host, lookup);
    return lookup;
  }
}

async function lookUp(host: string, resolve: Resolve): Promise<readonly string[]> {
  let answer: readonly string[];
  try {
    answer = await resolve(host);
  } catch (error) {
    const code = codeOf(error);
    // A resolver that cannot ask returns SERVFAIL or REFUSED, or times out: no receiver has shown that our network is
    // up.
    const sign = NO_SUCH_NAME.has(code) ? 'no_such_name' : 'silent';
    throw new ConnectFailure('dns_error', `${host} cannot be resolved: ${code}`, { sign });
  }
  if (answer.length === 0) {
    throw new ConnectFailure('dns_error', `${host} has no address`, { sign: 'no_such_name' });
  }
  const v4 = answer.filter((address) => isIPv4(address));
  return [...v4, ...answer.filter((address) => !isIPv4(address))];
}

/** The resolver's codes for a name that does not exist, or has no address. */
const NO_SUCH_NAME: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

function blocked(rule: string, detail: string): ConnectFailure {
  return new ConnectFailure('blocked_address', detail, { blockedBy: rule, sign: 'unknown' });
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : 'unknown error';
}

/**
 * Returns the resolver for merchants' names: it asks the DNS servers directly, without the hosts file and search
 * domains, and without the thread pool that one slow name could fill. `servers`: the system's by default.
 */
export function dnsResolver(timeoutMs: number, servers?: readonly string[]): Resolve {
  const resolver = new dns.Resolver({ timeout: timeoutMs, tries: 2 });
  if (servers) resolver.setServers(servers);
  return async (hostname) => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const errors: unknown[] = answers.flatMap((answer) =>
      answer.status === 'rejected' ? [answer.reason] : [],
    );
    // A name without IPv4 addresses may have others, which the resolver could not ask for.
    throw errors.find((error) => !NO_SUCH_NAME.has(codeOf(error))) ?? errors[0] ?? new Error('no address');
  };
}

/** Resolves exempt names such as `localhost`, which are in the hosts file but in no DNS. */
export const hostsResolver: Resolve = async (hostname) => {
  const answers = await dns.lookup(hostname, { all: true });
  return answers.map((answer) => answer.address);
};
