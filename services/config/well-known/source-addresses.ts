import { as, Malformed } from '../variables.ts';
import { INSTANT_EXAMPLE, parseInstant } from './instant.ts';
import { cidrOf, compareNetworks, parseNetwork } from './network.ts';

/** A range of addresses from which webhooks are sent. */
export interface SourceAddress {
  readonly cidr: string;
  /** Milliseconds; null where it is in use already. */
  readonly validFrom: number | null;
  /** Milliseconds; null where no end is known. */
  readonly validUntil: number | null;
}

const ENTRY = /^(\S+)(?:\s+from\s+(\S+))?(?:\s+until\s+(\S+))?$/;

/**
 * Parses HOOKRAIL_SOURCE_ADDRESSES, sorted. A firewall that is set up by the list must never shut everything out, so at
 * any time at least one address is valid.
 */
export function sourceAddresses(text: string): readonly SourceAddress[] {
  const entries = as
    .list(sourceEntry)(text)
    .toSorted((a, b) => compareNetworks(a.network, b.network));
  const sources = entries.map(({ network, validFrom, validUntil }) => ({
    cidr: cidrOf(network),
    validFrom,
    validUntil,
  }));
  const repeated = sources.find(({ cidr }, at) => sources[at + 1]?.cidr === cidr);
  if (repeated) throw new Malformed(`names ${repeated.cidr} twice`);
  refuseGaps(sources);
  return sources;
}

function sourceEntry(entry: string) {
  const [, network, from, until] = ENTRY.exec(entry) ?? [];
  if (network === undefined)
    throw new Malformed(
      `must be addresses and CIDRs, each with "from" and "until" where it comes or goes; "${entry}" is none`,
    );
  const validFrom = instant(from, entry);
  const validUntil = instant(until, entry);
  if (validFrom !== null && validUntil !== null && validUntil <= validFrom)
    throw new Malformed(`ends before it begins: "${entry}"`);
  return { network: parseNetwork(network), validFrom, validUntil };
}

function instant(text: string | undefined, entry: string): number | null {
  if (text === undefined) return null;
  const at = parseInstant(text);
  if (at === undefined) throw new Malformed(`has "${text}" in "${entry}": a time is ${INSTANT_EXAMPLE}`);
  return at;
}

function refuseGaps(sources: readonly SourceAddress[]): void {
  if (sources.length === 0) return;
  const shown = (at: number) => new Date(at).toISOString();
  let reached = Number.NEGATIVE_INFINITY;
  for (const source of sources.toSorted((a, b) => (a.validFrom ?? 0) - (b.validFrom ?? 0))) {
    const begin = source.validFrom ?? Number.NEGATIVE_INFINITY;
    if (begin > reached) {
      const since = Number.isFinite(reached) ? ` from ${shown(reached)}` : '';
      throw new Malformed(`has no address${since} until ${shown(begin)}: one must be valid at any time`);
    }
    reached = Math.max(reached, source.validUntil ?? Number.POSITIVE_INFINITY);
  }
  if (Number.isFinite(reached))
    throw new Malformed(`has no address from ${shown(reached)} on: one must be valid at any time`);
}
