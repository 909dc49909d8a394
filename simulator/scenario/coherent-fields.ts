import type { EventType } from '../../services/domain/event.ts';
import type { SampleChoices } from '../../services/samples/sample-thing.ts';
import { usage } from '../exit.ts';
import type { Output } from '../output.ts';

/** Flags that choose something from which several fields follow. */
export const COHERENT_OPTIONS = {
  amount: { type: 'string', describe: 'Amount received: fiat on-ramp, crypto off-ramp' },
  currency: { type: 'string', describe: 'Fiat currency: EUR, GBP, USD, NGN, KES, …' },
  chain: { type: 'string', describe: 'Blockchain: polygon, ethereum, tron, …' },
  token: { type: 'string', describe: 'Token: USDC, USDT' },
  country: { type: 'string', describe: 'Country of the bank account: DE, NG, …' },
} as const;

type Flag = keyof typeof COHERENT_OPTIONS;

export type CoherentOptions = { readonly [Name in Flag]?: string };

const CHOICE_OF = {
  amount: 'amount',
  currency: 'currencyFiat',
  chain: 'chain',
  token: 'token',
  country: 'country',
} as const satisfies Record<Flag, keyof SampleChoices>;

/** The flags that each type has a use for. */
const FLAGS_OF: Readonly<Partial<Record<EventType, readonly Flag[]>>> = {
  fiatToCrypto: ['amount', 'currency', 'chain', 'token', 'country'],
  cryptoToFiat: ['amount', 'currency', 'chain', 'token', 'country'],
  senderNameMismatch: ['amount', 'currency', 'country'],
  serviceBankAccount: ['currency', 'country'],
  walletCreated: ['chain', 'token'],
  KYB: ['country'],
};

/** Fields from which others follow: the flag that changes them together, and what follows. */
const LEADING: Readonly<Record<string, readonly [flag: Flag, follows: string]>> = {
  'fiatToCrypto data.amountFiat': ['amount', 'amountCrypto and fees'],
  'fiatToCrypto data.currencyFiat': ['currency', 'amounts, fees and bank account'],
  'fiatToCrypto data.currencyCrypto': ['token', 'amountCrypto'],
  'fiatToCrypto data.chain': ['chain', 'addresses and hash'],
  'cryptoToFiat data.amountCrypto': ['amount', 'amountFiat and fees'],
  'cryptoToFiat data.currencyFiat': ['currency', 'amountFiat and bank account'],
  'cryptoToFiat data.currencyCrypto': ['token', 'amounts and fees'],
  'cryptoToFiat data.chain': ['chain', 'addresses and hash'],
  'senderNameMismatch data.currencyFiat': ['currency', 'amountFiat'],
  'serviceBankAccount data.currency': ['currency', 'bank and account numbers'],
  'serviceBankAccount data.bank_country': ['country', 'bank and account numbers'],
  'KYB data.country': ['country', 'legal_name'],
  'walletCreated data.chain': ['chain', 'address and tokens'],
};

/** Returns the choices of a sample by the flags. Throws a usage failure for a flag that the type has no use for. */
export function choicesOf(type: EventType, options: CoherentOptions, event: string): SampleChoices {
  const known = FLAGS_OF[type] ?? [];
  const choices: { -readonly [Name in keyof SampleChoices]?: string } = {};
  for (const flag of Object.keys(CHOICE_OF) as Flag[]) {
    const value = options[flag];
    if (value === undefined) continue;
    if (!known.includes(flag)) {
      const has = known.length === 0 ? 'none of these flags' : known.map((name) => `--${name}`).join(', ');
      const right = `hookrail sim trigger ${event}`;
      throw usage(`${type} has nothing that --${flag} could change; it takes ${has}`, right);
    }
    choices[CHOICE_OF[flag]] = value;
  }
  return choices as SampleChoices;
}

/** A field of an event that is set alone. */
export interface FieldSet {
  readonly type: EventType;
  /** "data.amountFiat" */
  readonly path: string;
  readonly value: string;
}

/** Tells a person which fields no longer fit each other, and which flag changes them together. */
export function remarkIncoherent(output: Output, fields: readonly FieldSet[]): void {
  for (const { type, path, value } of fields) {
    const text = incoherence(type, path, value);
    if (text !== undefined) output.remark(text);
  }
}

function incoherence(type: EventType, path: string, value: string): string | undefined {
  const [flag, follows] = LEADING[`${type} ${path}`] ?? [];
  if (flag === undefined) return undefined;
  return `--set ${path} changes this field alone; with --${flag} ${value}, ${follows} fit it`;
}
