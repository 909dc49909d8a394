import type { Chance } from './chance.ts';
import { makeAba, makeIban, makeNuban } from './check-digits.ts';
import { SampleChoiceError } from './choice-error.ts';

/** A bank account with the fields of its currency's layout, and the further fields of a ledger. */
export interface SampleAccount {
  readonly details: { readonly [field: string]: string };
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  readonly bic: string;
  readonly bankName: string;
}

/** Invented banks. */
const BANK_NAMES = [
  'Harbour Bank',
  'Meridian Bank',
  'Lantern Bank',
  'Cedar Trust Bank',
  'Bluewater Bank',
] as const;

/** Generators of the national account number of each country whose euro accounts have an IBAN. */
const BBANS: Readonly<Record<string, (chance: Chance) => string>> = {
  DE: (chance) => `${chance.between(1, 8)}${chance.digits(17)}`,
  AT: (chance) => chance.digits(16),
  BE: belgianBban,
  ES: spanishBban,
  FR: frenchBban,
  IE: (chance) => `${chance.letters(4)}9${chance.digits(13)}`,
  LT: (chance) => chance.digits(16),
  NL: (chance) => `${chance.letters(4)}${chance.digits(10)}`,
};

/** The countries whose accounts each currency has. */
const COUNTRIES: Readonly<Record<string, readonly string[]>> = {
  EUR: Object.keys(BBANS),
  GBP: ['GB'],
  USD: ['US'],
  NGN: ['NG'],
  KES: ['KE'],
  VND: ['VN'],
  GHS: ['GH'],
  ZAR: ['ZA'],
  BRL: ['BR'],
  MXN: ['MX'],
};

/** Every fiat currency that samples support. */
export const FIAT_CURRENCIES: readonly string[] = Object.keys(COUNTRIES);

/** Returns the countries whose accounts a currency has. */
export function countriesOf(currency: string): readonly string[] {
  const countries = COUNTRIES[currency];
  if (countries !== undefined) return countries;
  throw new SampleChoiceError(`currency "${currency}" is not one of: ${FIAT_CURRENCIES.join(', ')}`);
}

/** Returns the currency of a country's accounts. */
export function currencyOf(country: string): string {
  const found = Object.entries(COUNTRIES).find(([, countries]) => countries.includes(country));
  if (found !== undefined) return found[0];
  const known = Object.values(COUNTRIES).flat();
  throw new SampleChoiceError(`country "${country}" is not one of: ${known.join(', ')}`);
}

/** Returns an account in a currency, with valid check digits at an invented bank. */
export function sampleAccount(currency: string, country: string, chance: Chance): SampleAccount {
  const countries = countriesOf(currency);
  if (!countries.includes(country)) {
    throw new SampleChoiceError(
      `a ${currency} account is in one of: ${countries.join(', ')}; not in "${country}"`,
    );
  }
  const bankName = chance.pick(BANK_NAMES);
  const bic = `${chance.letters(4)}${country}${chance.letters(2)}`;
  return { details: { currency, ...layout(currency, country, bankName, chance) }, country, bic, bankName };
}

function layout(
  currency: string,
  country: string,
  bankName: string,
  chance: Chance,
): { [field: string]: string } {
  switch (currency) {
    case 'EUR':
      return { iban: makeIban(country, bbanOf(country, chance)) };
    case 'GBP':
      return { accountNumber: chance.digits(8), sortCode: chance.digits(6) };
    case 'USD': {
      // The first two digits name one of the twelve Federal Reserve districts.
      const district = String(chance.between(1, 12)).padStart(2, '0');
      return {
        accountNumber: chance.digits(10),
        routingNumber: makeAba(district + chance.digits(6)),
        accountType: chance.pick(['CHECKING', 'SAVINGS']),
      };
    }
    case 'NGN': {
      const bankCode = chance.digits(3);
      return { accountNumber: makeNuban(bankCode, chance.digits(9)), bankCode, bankName };
    }
    case 'KES':
      if (chance.below(2) === 0) return { phoneNumber: `+2547${chance.digits(8)}`, provider: 'MPESA' };
      return { accountNumber: chance.digits(12), bankCode: chance.digits(2), bankName };
    default:
      return { accountNumber: chance.digits(12), bankCode: chance.digits(3), bankName };
  }
}

function bbanOf(country: string, chance: Chance): string {
  const make = BBANS[country];
  if (make === undefined) throw new RangeError(`no IBAN is known for ${country}`);
  return make(chance);
}

/** The last two digits are the first ten modulo 97, 97 standing for 0. */
function belgianBban(chance: Chance): string {
  const digits = chance.digits(10);
  const check = Number(BigInt(digits) % 97n) || 97;
  return `${digits}${String(check).padStart(2, '0')}`;
}

/** Bank and branch, two check digits, account; weights 1, 2, 4, 8, 5, 10, 9, 7, 3, 6. */
function spanishBban(chance: Chance): string {
  const bank = chance.digits(8);
  const account = chance.digits(10);
  const check = (digits: string) => {
    let sum = 0;
    const weights = [1, 2, 4, 8, 5, 10, 9, 7, 3, 6];
    for (let i = 0; i < weights.length; i += 1) sum += Number(digits[i]) * (weights[i] ?? 0);
    const rest = 11 - (sum % 11);
    return rest === 11 ? 0 : rest === 10 ? 1 : rest;
  };
  return `${bank}${check(`00${bank}`)}${check(account)}${account}`;
}

/** Bank, branch, account and the RIB key: 97 − (89 bank + 15 branch + 3 account) mod 97. */
function frenchBban(chance: Chance): string {
  const bank = chance.digits(5);
  const branch = chance.digits(5);
  const account = chance.digits(11);
  const sum = 89n * BigInt(bank) + 15n * BigInt(branch) + 3n * BigInt(account);
  return `${bank}${branch}${account}${String(97n - (sum % 97n)).padStart(2, '0')}`;
}
