import { type Field, optional, required } from './field.ts';

/**
 * Bank details by currency (docs/decisions.md, "Bank details by currency"): the fields after `currency`, in their order.
 * KES comes as a bank account or as mobile money. A currency that is not listed has the layout of `other`.
 */
const ACCOUNT_LAYOUTS = {
  EUR: [['iban']],
  GBP: [['accountNumber', 'sortCode']],
  USD: [['accountNumber', 'routingNumber', 'accountType']],
  NGN: [['accountNumber', 'bankCode', 'bankName']],
  KES: [
    ['accountNumber', 'bankCode', 'bankName'],
    ['phoneNumber', 'provider'],
  ],
  other: [['accountNumber', 'bankCode', 'bankName']],
} as const satisfies Record<string, readonly (readonly string[])[]>;

/** Returns the layouts that a currency's details may have. */
export function accountLayoutsOf(currency: string): readonly (readonly string[])[] {
  return Object.hasOwn(ACCOUNT_LAYOUTS, currency)
    ? ACCOUNT_LAYOUTS[currency as keyof typeof ACCOUNT_LAYOUTS]
    : ACCOUNT_LAYOUTS.other;
}

/** The union of all layouts, in an order consistent with each of them. */
export const ACCOUNT_DETAILS: readonly Field[] = [
  required(
    'currency',
    'string',
    'Currency code of the account; it decides which of the other fields are there.',
    { format: 'currency' },
  ),
  optional('iban', 'string', 'EUR: the IBAN.'),
  optional('accountNumber', 'string', 'The account number; 8 digits for GBP, a 10-digit NUBAN for NGN.'),
  optional('sortCode', 'string', 'GBP: the sort code, 6 digits.'),
  optional('routingNumber', 'string', 'USD: the ABA routing number, 9 digits.'),
  optional('accountType', 'string', 'USD: the kind of account, for example CHECKING.'),
  optional('bankCode', 'string', 'The bank’s code in its country.'),
  optional('bankName', 'string', 'The bank’s name.'),
  optional('phoneNumber', 'string', 'KES mobile money: the phone number.'),
  optional('provider', 'string', 'KES mobile money: the provider.'),
];
