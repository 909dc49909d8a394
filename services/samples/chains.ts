import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58, bech32, createBase58check, hex } from '@scure/base';
import type { Chance } from './chance.ts';
import { mustBeOneOf } from './choice-error.ts';

/**
 * Addresses and hashes have the form of their chain and pass its checks. They are derived from a seed: nobody holds
 * their keys, so never send anything to one.
 */

interface Chain {
  readonly family: 'evm' | 'tron' | 'solana' | 'bitcoin';
  /** Digits after the point, per token. */
  readonly tokens: Readonly<Record<string, number>>;
  /** The smallest amount of a token that is converted; a smaller one is LIMIT_BREACHED. */
  readonly minimum: string;
}

/**
 * Stablecoins have six decimals, on BSC eighteen. The minimum is 1, or more where transfers cost more (TRON 5,
 * Ethereum 20).
 */
const CHAINS: Readonly<Record<string, Chain>> = {
  ethereum: { family: 'evm', tokens: { USDC: 6, USDT: 6 }, minimum: '20' },
  polygon: { family: 'evm', tokens: { USDC: 6, USDT: 6 }, minimum: '1' },
  bsc: { family: 'evm', tokens: { USDC: 18, USDT: 18 }, minimum: '1' },
  arbitrum: { family: 'evm', tokens: { USDC: 6, USDT: 6 }, minimum: '1' },
  base: { family: 'evm', tokens: { USDC: 6 }, minimum: '1' },
  tron: { family: 'tron', tokens: { USDT: 6 }, minimum: '5' },
  solana: { family: 'solana', tokens: { USDC: 6, USDT: 6 }, minimum: '1' },
  bitcoin: { family: 'bitcoin', tokens: { BTC: 8 }, minimum: '0.0001' },
};

/** Every chain that samples support. */
export const CHAIN_NAMES: readonly string[] = Object.keys(CHAINS);

/** Returns the chain's entry. Throws SampleChoiceError, naming the known chains, for any other. */
function chainOf(name: string): Chain {
  mustBeOneOf('chain', name, CHAIN_NAMES);
  return CHAINS[name] as Chain;
}

/** Returns the tokens of a chain. */
export function tokensOf(chain: string): readonly string[] {
  return Object.keys(chainOf(chain).tokens);
}

/** Returns the digits after the point of a token on a chain. */
export function tokenDecimals(chain: string, token: string): number {
  const { tokens } = chainOf(chain);
  mustBeOneOf(`token on ${chain}`, token, Object.keys(tokens));
  return tokens[token] as number;
}

/** Returns the smallest amount that is converted, as a plain decimal (the `limit` of LIMIT_BREACHED). */
export function minimumOf(chain: string): string {
  return chainOf(chain).minimum;
}

const base58check = createBase58check(sha256);

/** TRON's version byte, which makes its addresses begin with T. */
const TRON_VERSION = 0x41;

/**
 * Writes an address with its checksum in upper and lower case: a letter is upper where the hash's digit is 8 or more
 * (EIP-55).
 */
export function eip55(address: string): string {
  const digits = address.replace(/^0x/i, '').toLowerCase();
  const hash = hex.encode(keccak_256(new TextEncoder().encode(digits)));
  let text = '0x';
  for (let i = 0; i < digits.length; i += 1) {
    const digit = digits.charAt(i);
    text += hash.charAt(i) >= '8' ? digit.toUpperCase() : digit;
  }
  return text;
}

export function validEip55(address: string): boolean {
  return /^0x[0-9a-fA-F]{40}$/.test(address) && eip55(address) === address;
}

export function validTronAddress(address: string): boolean {
  try {
    const bytes = base58check.decode(address);
    return bytes.length === 21 && bytes[0] === TRON_VERSION;
  } catch {
    return false;
  }
}

export function validSolanaAddress(address: string): boolean {
  try {
    return base58.decode(address).length === 32;
  } catch {
    return false;
  }
}

/** Returns whether this is a native segwit address, version 0 (BIP 173). */
export function validBitcoinAddress(address: string): boolean {
  const decoded = bech32.decodeUnsafe(address);
  return decoded !== undefined && decoded.prefix === 'bc' && decoded.words[0] === 0;
}

/** Returns whether an address passes the checks of its chain. */
export function validAddress(chain: string, address: string): boolean {
  const checks = {
    evm: validEip55,
    tron: validTronAddress,
    solana: validSolanaAddress,
    bitcoin: validBitcoinAddress,
  };
  return checks[chainOf(chain).family](address);
}

/** Returns an address in the chain's form. Never send funds to it: nobody has its key. */
export function sampleAddress(chain: string, chance: Chance): string {
  switch (chainOf(chain).family) {
    case 'evm':
      return eip55(chance.hex(40));
    case 'tron':
      return base58check.encode(Uint8Array.of(TRON_VERSION, ...chance.bytes(20)));
    case 'solana':
      return base58.encode(chance.bytes(32));
    case 'bitcoin':
      return bech32.encode('bc', [0, ...bech32.toWords(chance.bytes(20))]);
  }
}

/** Returns a transaction hash in the chain's form: 0x and 64 digits, 64 digits, or a base58 signature on Solana. */
export function sampleTransactionHash(chain: string, chance: Chance): string {
  switch (chainOf(chain).family) {
    case 'evm':
      return `0x${chance.hex(64)}`;
    case 'tron':
    case 'bitcoin':
      return chance.hex(64);
    case 'solana':
      return base58.encode(chance.bytes(64));
  }
}
