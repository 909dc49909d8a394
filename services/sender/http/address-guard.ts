import { isIP } from 'node:net';
import { describedFailure } from '../../domain/failures/failure-signs.ts';
import { type EgressAllow, isPublicAddress } from '../../egress/egress.ts';
import { codeOf } from '../../messages/error-message.ts';
import { ConnectFailure } from './connect-failure.ts';
import { type Addresses, familiesInTurn, NameFailure, type Resolve } from './names/addresses.ts';
import { NO_SUCH_NAME, UNKNOWN } from './names/asking.ts';

export interface EgressPolicy {
  readonly ports: readonly number[];
  readonly allow: EgressAllow;
}

/** Longer lists of addresses of one answer are cut, once all of them were checked. */
const ADDRESSES_MAX = 32;

/**
 * Decides, at every connection, which addresses may be connected to (docs/design/security.md, "Address guard"). One bad address
 * refuses all of a name's: a mixed list is an attempt to get past a check.
 */
export class AddressGuard {
  readonly #policy: EgressPolicy;
  readonly #resolve: Resolve;
  readonly #resolveExempt: Resolve;
  readonly #nameServers: { readonly failing: string | null } | null;
  /** Lookups in progress: connections opened together to one name share one, later ones ask again. */
  readonly #running = new Map<string, Promise<Addresses>>();

  constructor(
    policy: EgressPolicy,
    resolvers: {
      readonly resolve: Resolve;
      readonly resolveExempt: Resolve;
      readonly nameServers?: { readonly failing: string | null };
    },
  ) {
    this.#policy = policy;
    this.#resolve = resolvers.resolve;
    this.#resolveExempt = resolvers.resolveExempt;
    this.#nameServers = resolvers.nameServers ?? null;
  }

  /**
   * Returns the addresses that may be connected to, IPv4 and IPv6 in turn, at least one; `later` rejects when a later one
   * may not be. Rejects with a ConnectFailure: `dns_error`, or `blocked_address` with the rule. `host` is a lower-case
   * name or an address without brackets.
   */
  async addressesOf(host: string, port: number): Promise<Addresses> {
    const isExempt = this.isExempt(host);
    if (isExempt && isIP(host)) return { first: [host], later: null };
    if (!isExempt) {
      if (isIP(host)) throw blocked('address_literal', `${host} is an address literal`);
      if (!this.#policy.ports.includes(port))
        throw blocked('port', `port ${port} is not among the allowed ones`);
    }
    const {
      first,
      later,
      isHeldUp = false,
    } = await this.#lookup(host, isExempt ? this.#resolveExempt : this.#resolve);
    const checked = later?.then((addresses) => this.#checked(host, addresses)) ?? null;
    // Nobody waits for them once a connection is established.
    checked?.catch(() => {});
    return { first: this.#checked(host, first), later: checked, isHeldUp };
  }

  #checked(host: string, addresses: readonly string[]): readonly string[] {
    for (const address of addresses) {
      if (!this.permits(host, address))
        throw blocked('address', `${host} resolves to an address that is not public`);
    }
    return familiesInTurn(addresses).slice(0, ADDRESSES_MAX);
  }

  /** Returns the failure of a look-up that has not ended in time. */
  notInTime(host: string): ConnectFailure {
    const failing = this.#nameServers?.failing ?? null;
    if (failing !== null) return unresolved(host, new NameFailure('ETIMEOUT', failing));
    return new ConnectFailure('dns_error', `${host} was not resolved in time`, { sign: 'silent' });
  }

  /** Returns whether the policy exempts this host, whatever it resolves to. */
  isExempt(host: string): boolean {
    return isIP(host) ? this.#policy.allow.address(host) : this.#policy.allow.name(host);
  }

  /** Returns whether a connection for this host may lead to this address; checked again on the opened socket. */
  permits(host: string, address: string): boolean {
    return this.#policy.allow.name(host) || this.#policy.allow.address(address) || isPublicAddress(address);
  }

  #lookup(host: string, resolve: Resolve): Promise<Addresses> {
    const running = this.#running.get(host);
    if (running) return running;
    const lookup = lookUp(host, resolve).finally(() => this.#running.delete(host));
    this.#running.set(host, lookup);
    return lookup;
  }
}

async function lookUp(host: string, resolve: Resolve): Promise<Addresses> {
  let answer: readonly string[] | Addresses;
  try {
    answer = await resolve(host);
  } catch (error) {
    throw unresolved(host, error);
  }
  const addresses = 'first' in answer ? answer : { first: answer, later: null };
  if (addresses.first.length === 0) {
    throw new ConnectFailure('dns_error', `${host} has no address`, { sign: 'no_such_name' });
  }
  return addresses;
}

function unresolved(host: string, error: unknown): ConnectFailure {
  if (error instanceof NameFailure && error.ours !== null) {
    const detail = `${host} cannot be resolved: ${error.ours}`;
    return new ConnectFailure('dns_error', detail, { ownFault: 'network_down', sign: 'silent' });
  }
  const code = codeOf(error, UNKNOWN);
  // SERVFAIL, REFUSED or silence: no receiver has shown that our network is up.
  const sign = NO_SUCH_NAME.has(code) ? 'no_such_name' : 'silent';
  const detail = `${host} cannot be resolved: ${describedFailure(code, '')}`;
  return new ConnectFailure('dns_error', detail, { sign });
}

function blocked(rule: string, detail: string): ConnectFailure {
  return new ConnectFailure('blocked_address', detail, { blockedBy: rule, sign: 'unknown' });
}
