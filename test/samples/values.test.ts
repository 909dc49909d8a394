/**
 * Values that samples make pass checks that are written here a second time, from their published rules, so that a fault
 * in the maker is not repeated in the test; and the money of 10,000 random transactions adds up.
 */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { EventData, EventValue } from '../../services/domain/event.ts';
import { uuidV5 } from '../../services/domain/ids.ts';
import { FIAT_CURRENCIES } from '../../services/samples/bank-accounts.ts';
import { CHAIN_NAMES, tokensOf } from '../../services/samples/chains.ts';
import { sampleEvent } from '../../services/samples/sample.ts';

const text = (value: EventValue | undefined) => String(value);
const object = (value: EventValue | undefined) => value as EventData;
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const digits = (digitText: string) => [...digitText].map(Number);
const weigh = (digitText: string, weights: readonly number[]) =>
  sum(digits(digitText).map((digit, i) => digit * (weights[i % weights.length] ?? 0)));

/** ISO 13616: the country and check digits go to the end, letters count from 10, the remainder by 97 is 1. */
function isIban(iban: string): boolean {
  const turned = iban.slice(4) + iban.slice(0, 4);
  const number = [...turned].map((character) => Number.parseInt(character, 36)).join('');
  return /^[A-Z]{2}\d{2}[A-Z0-9]+$/.test(iban) && BigInt(number) % 97n === 1n;
}

const isNuban = (bank: string, account: string) =>
  /^\d{10}$/.test(account) && (weigh(bank + account.slice(0, 9), [3, 7, 3]) + Number(account[9])) % 10 === 0;

const isAba = (routing: string) => /^\d{9}$/.test(routing) && weigh(routing, [3, 7, 1]) % 10 === 0;

/** Keccak-256 with the padding that Ethereum uses (0x01), which is not that of SHA-3. */
function keccak256(input: Uint8Array): Buffer {
  const mask = (1n << 64n) - 1n;
  const rotate = (lane: bigint, by: number) =>
    by === 0 ? lane : ((lane << BigInt(by)) | (lane >> BigInt(64 - by))) & mask;
  const state: bigint[] = Array(25).fill(0n);
  const at = (x: number, y: number) => (x % 5) + 5 * (y % 5);
  const padded = Buffer.alloc(Math.ceil((input.length + 1) / 136) * 136);
  padded.set(input);
  padded[input.length] = 0x01;
  padded[padded.length - 1] = (padded.at(-1) ?? 0) | 0x80;
  for (let block = 0; block < padded.length; block += 136) {
    for (let i = 0; i < 17; i += 1) state[i] = (state[i] ?? 0n) ^ padded.readBigUInt64LE(block + 8 * i);
    let register = 1;
    for (let round = 0; round < 24; round += 1) {
      const parity = [0, 1, 2, 3, 4].map((x) =>
        [0, 1, 2, 3, 4].reduce((all, y) => all ^ (state[at(x, y)] ?? 0n), 0n),
      );
      for (let i = 0; i < 25; i += 1) {
        const x = i % 5;
        state[i] = (state[i] ?? 0n) ^ (parity[(x + 4) % 5] ?? 0n) ^ rotate(parity[(x + 1) % 5] ?? 0n, 1);
      }
      let [x, y] = [1, 0];
      let moving = state[at(x, y)] ?? 0n;
      for (let t = 0; t < 24; t += 1) {
        [x, y] = [y, (2 * x + 3 * y) % 5];
        const kept = state[at(x, y)] ?? 0n;
        state[at(x, y)] = rotate(moving, (((t + 1) * (t + 2)) / 2) % 64);
        moving = kept;
      }
      for (let row = 0; row < 5; row += 1) {
        const lanes = [0, 1, 2, 3, 4].map((column) => state[at(column, row)] ?? 0n);
        for (let column = 0; column < 5; column += 1) {
          const [a, b, c] = [lanes[column], lanes[(column + 1) % 5], lanes[(column + 2) % 5]] as bigint[];
          state[at(column, row)] = (a ?? 0n) ^ (~(b ?? 0n) & mask & (c ?? 0n));
        }
      }
      for (let bit = 0; bit < 7; bit += 1) {
        if (register & 1) state[0] = (state[0] ?? 0n) ^ (1n << BigInt(2 ** bit - 1));
        register = (register << 1) ^ (register & 0x80 ? 0x171 : 0);
      }
    }
  }
  const out = Buffer.alloc(32);
  for (let i = 0; i < 4; i += 1) out.writeBigUInt64LE(state[i] ?? 0n, 8 * i);
  return out;
}

/** EIP-55: a letter is upper where the digit of the hash is 8 or more. */
function isEip55(address: string): boolean {
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) return false;
  const hash = keccak256(Buffer.from(address.slice(2).toLowerCase())).toString('hex');
  return [...address.slice(2)].every((character, i) => {
    const isUpper = Number.parseInt(hash[i] ?? '0', 16) >= 8;
    return /\d/.test(character) || (character === character.toUpperCase()) === isUpper;
  });
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

function fromBase58(encoded: string): Buffer {
  let number = 0n;
  for (const character of encoded) {
    const digit = BASE58.indexOf(character);
    if (digit < 0) return Buffer.alloc(0);
    number = number * 58n + BigInt(digit);
  }
  const hex = number.toString(16);
  const zeros = /^1*/.exec(encoded)?.[0].length ?? 0;
  return Buffer.concat([
    Buffer.alloc(zeros),
    number === 0n ? Buffer.alloc(0) : Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex'),
  ]);
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();

/** A TRON address is 0x41 and 20 bytes, with the first four bytes of their double SHA-256. */
function isTron(address: string): boolean {
  const bytes = fromBase58(address);
  const [payload, check] = [bytes.subarray(0, -4), bytes.subarray(-4)];
  return bytes.length === 25 && bytes[0] === 0x41 && sha256(sha256(payload)).subarray(0, 4).equals(check);
}

const BECH32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

/** BIP 173: the polynomial of prefix, data and checksum is 1; witness version 0, 20 or 32 bytes. */
function isSegwit(address: string): boolean {
  const [prefix = '', data = ''] = address.split('1');
  const values = [...data].map((character) => BECH32.indexOf(character));
  if (address !== address.toLowerCase() || values.some((value) => value < 0)) return false;
  const expanded = [...prefix].map((character) => character.charCodeAt(0));
  const all = [...expanded.map((code) => code >> 5), 0, ...expanded.map((code) => code & 31), ...values];
  let check = 1;
  for (const value of all) {
    const top = check >> 25;
    check = ((check & 0x1ffffff) << 5) ^ value;
    for (const [i, part] of [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3].entries()) {
      if ((top >> i) & 1) check ^= part;
    }
  }
  return prefix === 'bc' && check === 1 && values[0] === 0 && [39, 59].includes(data.length);
}

function isAddress(chain: string, address: string): boolean {
  if (chain === 'tron') return isTron(address);
  if (chain === 'solana') return fromBase58(address).length === 32;
  return chain === 'bitcoin' ? isSegwit(address) : isEip55(address);
}

test('the checks of this file agree with published vectors', () => {
  expect([isIban('DE89370400440532013000'), isIban('DE89370400440532013001')]).toEqual([true, false]);
  expect([isNuban('011', '0000014579'), isNuban('058', '0123456785'), isNuban('058', '0123456786')]).toEqual([
    true,
    true,
    false,
  ]);
  expect([isAba('021000021'), isAba('123456789')]).toEqual([true, false]);
  expect(keccak256(Buffer.alloc(0)).toString('hex')).toMatch(/^c5d2460186f7233c/);
  expect(isEip55('0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48')).toBe(true);
  expect(isEip55('0xa0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48')).toBe(false);
  expect([
    isTron('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'),
    isTron('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u'),
  ]).toEqual([true, false]);
  expect(isAddress('solana', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v')).toBe(true);
  expect(isSegwit('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4')).toBe(true);
  expect(isSegwit('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5')).toBe(false);
});

/** Returns one of 10,000 transactions: chains, tokens and currencies in turn, the entity and the amount by number. */
function transaction(type: 'fiatToCrypto' | 'cryptoToFiat', number: number): EventData {
  const chain = CHAIN_NAMES[number % CHAIN_NAMES.length] ?? '';
  const tokens = tokensOf(chain);
  const currencyFiat = FIAT_CURRENCIES[Math.floor(number / 3) % FIAT_CURRENCIES.length] ?? '';
  const token = tokens[number % tokens.length] ?? '';
  return sampleEvent({
    type,
    subType: 'SUCCESS',
    merchantId: 'm',
    entityId: uuidV5('values', String(number % 500)),
    seed: `values ${number}`,
    occurredAt: 1_900_000_000_000,
    choices: { chain, token, currencyFiat },
  }).data;
}

const NUMBERS = Array.from({ length: 5000 }, (_, i) => i);

test('every account number and address of a transaction passes its check', () => {
  const failed: string[] = [];
  const check = (isValid: boolean, what: EventValue | undefined) => {
    if (!isValid) failed.push(text(what));
  };
  for (const number of NUMBERS.slice(0, 1000)) {
    const bought = transaction('fiatToCrypto', number);
    const sold = transaction('cryptoToFiat', number);
    const chain = text(bought.chain);
    for (const address of [bought.walletAddress, bought.sendingWalletAddress, sold.sendingAddress]) {
      check(isAddress(chain, text(address)), address);
    }
    for (const holder of [object(bought.senderDetails), object(sold.beneficiaryDetails)]) {
      const account = object(holder.accountDetails);
      if (account.iban !== undefined) check(isIban(text(account.iban)), account.iban);
      if (account.routingNumber !== undefined)
        check(isAba(text(account.routingNumber)), account.routingNumber);
      if (account.currency !== 'NGN') continue;
      check(isNuban(text(account.bankCode), text(account.accountNumber)), account.accountNumber);
    }
  }
  expect(failed).toEqual([]);
});

const PLACES = 18;
/** Exact: in units of 10^-18. */
const units = (value: EventValue | undefined) => {
  const [whole = '', fraction = ''] = text(value).split('.');
  return BigInt(whole + fraction.padEnd(PLACES, '0'));
};
const placesOf = (value: EventValue | undefined) => text(value).split('.')[1]?.length ?? 0;

/** Fiat per token: dollars at the rates that the samples have, one percent of spread at most. */
const PER_DOLLAR: Readonly<Record<string, number>> = {
  EUR: 0.92,
  GBP: 0.79,
  USD: 1,
  NGN: 1540.5,
  KES: 129.4,
  VND: 25_400,
  GHS: 12.1,
  ZAR: 18.1,
  BRL: 5.4,
  MXN: 18.7,
};

test('the money of 10,000 transactions adds up to the last digit', () => {
  for (const type of ['fiatToCrypto', 'cryptoToFiat'] as const) {
    for (const number of NUMBERS) {
      const { amountFiat, amountCrypto, fees, currencyFiat, currencyCrypto, chain } = transaction(
        type,
        number,
      );
      const [received, paid] =
        type === 'fiatToCrypto' ? [amountFiat, amountCrypto] : [amountCrypto, amountFiat];
      const net = units(received) - units(fees);
      expect(units(fees) > 0n && net > 0n && units(paid) > 0n, text(received)).toBe(true);
      // One and a half percent, to a whole unit: a cent, or a millionth of a token.
      const percent = Number(units(fees)) / Number(units(received));
      const feeUnit = type === 'fiatToCrypto' ? (currencyFiat === 'VND' ? 1 : 0.01) : 1e-6;
      expect(Math.abs(percent - 0.015)).toBeLessThanOrEqual((feeUnit / Number(text(received))) * 1.000_001);
      const fiatPlaces = currencyFiat === 'VND' ? 0 : 2;
      const tokenPlaces = currencyCrypto === 'BTC' ? 8 : chain === 'bsc' ? 18 : 6;
      expect(placesOf(amountFiat)).toBeLessThanOrEqual(fiatPlaces);
      expect(placesOf(amountCrypto)).toBeLessThanOrEqual(tokenPlaces);
      const fiat = Number(type === 'fiatToCrypto' ? net : units(amountFiat));
      const crypto = Number(type === 'fiatToCrypto' ? units(amountCrypto) : net);
      const rate =
        fiat / crypto / ((PER_DOLLAR[text(currencyFiat)] ?? 0) * (currencyCrypto === 'BTC' ? 64_000 : 1));
      // Rounded down to a unit of what is paid out, which a small amount of a coarse unit shows most.
      const unit =
        type === 'fiatToCrypto' ? 10 ** (PLACES - tokenPlaces) / crypto : 10 ** (PLACES - fiatPlaces) / fiat;
      expect(rate).toBeGreaterThan(0.999_999 - unit);
      expect(rate).toBeLessThan(1.010_001 + unit);
    }
  }
});
