import type { EventData } from '../domain/event.ts';
import { countriesOf, currencyOf, sampleAccount } from './bank-accounts.ts';
import { minimumOf, sampleAddress, sampleTransactionHash, tokenDecimals, tokensOf } from './chains.ts';
import { Chance } from './chance.ts';
import { mustBeOneOf, SampleChoiceError } from './choice-error.ts';
import { fiatDecimals, fiatToToken, fromUnits, tokenToFiat, toUnits } from './money.ts';
import { corporateName, personName } from './names.ts';
import type { SampleThing } from './sample-thing.ts';

/** Units of fiat per US dollar, times 10^8 (a rate's digits). */
const FIAT_PER_DOLLAR: Readonly<Record<string, bigint>> = {
  EUR: 92_000_000n,
  GBP: 79_000_000n,
  USD: 100_000_000n,
  NGN: 154_050_000_000n,
  KES: 12_940_000_000n,
  VND: 2_540_000_000_000n,
  GHS: 1_210_000_000n,
  ZAR: 1_810_000_000n,
  BRL: 540_000_000n,
  MXN: 1_870_000_000n,
};

/** The price of a token in whole dollars. */
const DOLLARS: Readonly<Record<string, bigint>> = { USDC: 1n, USDT: 1n, BTC: 64_000n };

/** A conversion's amounts and rate, from the choices: the same for every event of one transaction. */
interface Conversion {
  readonly chain: string;
  readonly token: string;
  readonly tokenPlaces: number;
  readonly currency: string;
  readonly fiatPlaces: number;
  readonly country: string;
  /** Fiat per token, eight digits after the point. */
  readonly rate: bigint;
}

function conversionOf(thing: SampleThing): Conversion {
  const { choices } = thing;
  const chance = new Chance('conversion', thing.entityId, thing.subject);
  const currency =
    choices.currencyFiat ?? (choices.country === undefined ? 'EUR' : currencyOf(choices.country));
  const countries = countriesOf(currency);
  const country = choices.country ?? chance.pick(countries);
  const chain = choices.chain ?? 'polygon';
  const token = choices.token ?? tokensOf(chain)[0] ?? 'USDC';
  const tokenPlaces = tokenDecimals(chain, token);
  // A spread of up to one percent, in hundredths of a percent, so that rates differ between transactions.
  const spread = 10_000n + BigInt(chance.between(0, 100));
  const rate = ((FIAT_PER_DOLLAR[currency] ?? 100_000_000n) * (DOLLARS[token] ?? 1n) * spread) / 10_000n;
  return { chain, token, tokenPlaces, currency, fiatPlaces: fiatDecimals(currency), country, rate };
}

/** Addresses made lately: their checksums are most of a sample's cost, and entities recur. */
const ADDRESSES = new Map<string, string>();
const ADDRESSES_MAX = 10_000;

function addressOf(chain: string, ...owner: readonly string[]): string {
  const key = `${chain} ${owner.join(' ')}`;
  const known = ADDRESSES.get(key);
  if (known !== undefined) return known;
  const address = sampleAddress(chain, new Chance(...owner, chain));
  if (ADDRESSES.size >= ADDRESSES_MAX) ADDRESSES.clear();
  ADDRESSES.set(key, address);
  return address;
}

/** Returns the wallet of a user or corporate on a chain: the same in every event that shows it. */
export function walletAddressOf(entityId: string, chain: string): string {
  return addressOf(chain, 'wallet', entityId);
}

/** Returns the service's own wallet, from which crypto is sent. */
function treasuryAddressOf(chain: string): string {
  return addressOf(chain, 'treasury');
}

function holderOf(thing: SampleThing, country: string): string {
  return thing.entityKind === 'CORPORATE'
    ? corporateName(thing.entityId, country)
    : personName(thing.entityId, thing.choices.locale ?? 'ascii');
}

/** Returns one and a half percent in whole units, rounded up to a multiple of `step`. */
function feeOf(amount: bigint, step: bigint): bigint {
  const fee = (amount * 15n) / 1_000n;
  return ((fee + step - 1n) / step) * step;
}

function received(thing: SampleThing, decimals: number, drawn: bigint): bigint {
  const { amount } = thing.choices;
  if (amount === undefined) return drawn;
  const units = toUnits(amount, decimals);
  if (units <= 0n) throw new SampleChoiceError(`amount "${amount}" must be more than 0`);
  return units;
}

/** Returns every field that an on-ramp's events may show; the catalog decides which event shows which. */
export function fiatToCryptoData(thing: SampleThing): EventData {
  const conversion = conversionOf(thing);
  const { chain, token, tokenPlaces, currency, fiatPlaces, country, rate } = conversion;
  const chance = new Chance('fiatToCrypto', thing.entityId, thing.subject);
  const whole = toUnits('1', fiatPlaces);
  // 30 to 1,200 dollars' worth, in whole units of the currency.
  const drawn =
    (BigInt(chance.between(30, 1_200)) * (FIAT_PER_DOLLAR[currency] ?? 100_000_000n)) / 100_000_000n;
  const amountFiat = received(thing, fiatPlaces, drawn * whole);
  const fees = feeOf(amountFiat, 1n);
  const amountCrypto = fiatToToken(amountFiat - fees, fiatPlaces, rate, tokenPlaces);
  const account = sampleAccount(currency, country, chance);
  // Dollars come by ACH pull, from the account that linkBankAccount's sample of the same subject links.
  const linked =
    thing.choices.linkedBankAccountUuid ?? (currency === 'USD' ? thing.id('linked-account') : undefined);
  return {
    transactionUuid: thing.id('transaction'),
    amountCrypto: fromUnits(amountCrypto, tokenPlaces),
    amountFiat: fromUnits(amountFiat, fiatPlaces),
    amountRefunded: fromUnits(amountFiat, fiatPlaces),
    walletAddress: walletAddressOf(thing.entityId, chain),
    transactionHash: sampleTransactionHash(chain, chance),
    currencyFiat: currency,
    currencyCrypto: token,
    fees: fromUnits(fees, fiatPlaces),
    internalBankAccountId: thing.choices.internalBankAccountId ?? thing.id('internal-bank-account'),
    chain,
    senderDetails: {
      senderName: holderOf(thing, country),
      senderCountry: country,
      accountDetails: { ...account.details },
    },
    sendingWalletAddress: treasuryAddressOf(chain),
    ...(linked === undefined ? {} : { linkedBankAccountUuid: linked }),
  };
}

/**
 * Returns every field that an off-ramp's events may show. On LIMIT_BREACHED the amount is below the chain's minimum.
 */
export function cryptoToFiatData(thing: SampleThing): EventData {
  const { chain, token, tokenPlaces, currency, fiatPlaces, country, rate } = conversionOf(thing);
  const chance = new Chance('cryptoToFiat', thing.entityId, thing.subject);
  const minimum = toUnits(minimumOf(chain), tokenPlaces);
  const isBreached = thing.subType === 'LIMIT_BREACHED';
  const drawn = isBreached
    ? (minimum * BigInt(chance.between(10, 95))) / 100n
    : (minimum * BigInt(chance.between(200, 4_000))) / 100n + toUnits('0.01', tokenPlaces);
  const amountCrypto = received(thing, tokenPlaces, drawn);
  if (isBreached !== amountCrypto < minimum) {
    throw new SampleChoiceError(
      `amount "${thing.choices.amount}" must be ${isBreached ? 'below' : 'at least'} the minimum of ` +
        `${minimumOf(chain)} ${token} on ${chain} for ${thing.subType}`,
    );
  }
  // Fees are shown to six digits at most, however fine the token is.
  const fees = feeOf(amountCrypto, 10n ** BigInt(Math.max(0, tokenPlaces - 6)));
  const amountFiat = tokenToFiat(amountCrypto - fees, tokenPlaces, rate, fiatPlaces);
  return {
    transactionUuid: thing.id('transaction'),
    amountCrypto: fromUnits(amountCrypto, tokenPlaces),
    amountFiat: fromUnits(amountFiat, fiatPlaces),
    amountRefunded: fromUnits(amountCrypto, tokenPlaces),
    transactionHash: sampleTransactionHash(chain, chance),
    currencyFiat: currency,
    currencyCrypto: token,
    fees: fromUnits(fees, tokenPlaces),
    sendingAddress: walletAddressOf(thing.entityId, chain),
    ...(isBreached ? { limit: minimumOf(chain) } : destination(thing, currency, country, chance)),
    chain,
  };
}

/** Returns the destination of the fiat. A breached limit has none, because there is no transaction. */
function destination(thing: SampleThing, currency: string, country: string, chance: Chance): EventData {
  return {
    remoteBankAccountUuid: thing.id('remote-bank-account'),
    beneficiaryDetails: {
      receiverName: holderOf(thing, country),
      accountDetails: { ...sampleAccount(currency, country, chance).details },
    },
  };
}

const MATCH_RESULTS = ['CLOSE_MATCH', 'NO_MATCH', 'MATCH_NOT_POSSIBLE'];

/** Returns the data of the on-ramp of the same subject, whose money came from somebody else. */
export function senderNameMismatchData(thing: SampleThing): EventData {
  const { transactionUuid, currencyFiat, amountFiat } = fiatToCryptoData(thing);
  const { country } = conversionOf(thing);
  const chance = new Chance('senderNameMismatch', thing.entityId, thing.subject);
  const expectedName = holderOf(thing, country);
  const [first = '', ...rest] = expectedName.split(' ');
  const drawn = chance.below(2) === 0 ? 'CLOSE_MATCH' : 'NO_MATCH';
  const matchResult = thing.choices.matchResult ?? drawn;
  mustBeOneOf('matchResult', matchResult, MATCH_RESULTS);
  const isClose = matchResult === 'CLOSE_MATCH';
  return {
    transactionUuid: transactionUuid ?? '',
    expectedName,
    senderName: isClose
      ? `${first.charAt(0)}. ${rest.join(' ')}`
      : personName(`sender of ${thing.id('transaction')}`, thing.choices.locale ?? 'ascii'),
    matchResult,
    currencyFiat: currencyFiat ?? '',
    amountFiat: amountFiat ?? '',
    // Money of somebody else goes back; a doubt is looked into.
    action: matchResult === 'NO_MATCH' ? 'REFUND' : 'ON_HOLD_PROCESS',
  };
}
