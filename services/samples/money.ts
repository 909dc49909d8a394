import { canonicalDecimal } from '../domain/text/decimal.ts';
import { SampleChoiceError } from './choice-error.ts';

/** Exact arithmetic: amounts are integers of their smallest unit (`decimals` places). */

/** Digits after the point of a fiat currency (ISO 4217); two unless listed. */
const FIAT_DECIMALS: Readonly<Record<string, number>> = { VND: 0, JPY: 0, KRW: 0, UGX: 0, XAF: 0, XOF: 0 };

export function fiatDecimals(currency: string): number {
  return FIAT_DECIMALS[currency] ?? 2;
}

/** Converts a plain decimal to smallest units. Throws SampleChoiceError when it is malformed, or finer than a unit. */
export function toUnits(text: string, decimals: number): bigint {
  const decimal = canonicalDecimal(text);
  if (decimal === undefined)
    throw new SampleChoiceError(`amount "${text}" is not a plain decimal such as 250.5`);
  const [whole = '0', fraction = ''] = decimal.split('.');
  if (fraction.length > decimals) {
    throw new SampleChoiceError(`amount "${text}" has more than ${decimals} digits after the point`);
  }
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** Converts smallest units to a plain decimal; never negative here. */
export function fromUnits(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  const text = decimals === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return canonicalDecimal(text) ?? text;
}

/** A rate: fiat per token, with eight digits after the point. */
const RATE_DECIMALS = 8;
const RATE_ONE = 10n ** BigInt(RATE_DECIMALS);

const tenTo = (decimals: number) => 10n ** BigInt(decimals);

/** Returns floor((amountFiat − fees) / rate), to the token's decimals. All in smallest units. */
export function fiatToToken(net: bigint, fiatPlaces: number, rate: bigint, tokenPlaces: number): bigint {
  return (net * RATE_ONE * tenTo(tokenPlaces)) / (rate * tenTo(fiatPlaces));
}

/** Returns floor((amountCrypto − fees) × rate), to the currency's decimals. All in smallest units. */
export function tokenToFiat(net: bigint, tokenPlaces: number, rate: bigint, fiatPlaces: number): bigint {
  return (net * rate * tenTo(fiatPlaces)) / (RATE_ONE * tenTo(tokenPlaces));
}
