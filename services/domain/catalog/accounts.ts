import { type Field, optional, required } from './field.ts';

/** The one subType of accounts and profiles (docs/specification.md, "Event types"). */
export const STATUS_UPDATE = ['statusUpdate'] as const;

const LEDGER_STATUSES = ['ACTIVE', 'WAITING_CREATION', 'FAILED_CREATION', 'DISABLED'] as const;

/** docs/specification.md, "Data of serviceBankAccount" and "API versions": 2.2.8 has other names for two statuses. */
export const SERVICE_BANK_ACCOUNT_FIELDS: readonly Field[] = [
  required('uuid', 'string', 'Ledger identifier.'),
  required('currency', 'string', 'Ledger currency code.', { format: 'currency' }),
  required('bank_country', 'string', 'Bank country code.', { format: 'country' }),
  optional('iban', 'string', 'IBAN, if applicable.'),
  optional('bic', 'string', 'BIC, if applicable.'),
  optional('account_number', 'string', 'Account number, if applicable.'),
  optional('sort_code', 'string', 'Sort code, if applicable.'),
  optional('swift_code', 'string', 'SWIFT code, if applicable.'),
  optional('bank_code', 'string', 'Bank code, if applicable.'),
  optional('bank_name', 'string', 'Bank name, if applicable.'),
  optional('status', 'string', 'Status of the ledger.', {
    values: LEDGER_STATUSES,
    renamed: { '2.2.8': { WAITING_CREATION: 'PENDING', FAILED_CREATION: 'FAILED' } },
  }),
  // FAILED is what 2.2.8 calls FAILED_CREATION.
  optional('error', 'string', 'Error message when creation failed.', {
    onStatus: ['FAILED_CREATION', 'FAILED'],
  }),
];

/** docs/specification.md, "Data of linkedBankAccountProfile". */
export const LINKED_BANK_ACCOUNT_PROFILE_FIELDS: readonly Field[] = [
  required('uuid', 'string', 'Profile identifier.'),
  optional('status', 'string', 'Status of the profile.', { values: LEDGER_STATUSES }),
  optional('error', 'string', 'Error message when status is FAILED_CREATION.', {
    onStatus: ['FAILED_CREATION'],
  }),
];

const LINK_STATUSES = ['ACTIVE', 'CHECK_COMPLETED', 'PENDING', 'FAILED', 'DISABLED'] as const;

/** docs/specification.md, "Data of linkBankAccount". */
export const LINK_BANK_ACCOUNT_FIELDS: readonly Field[] = [
  required('uuid', 'string', 'Linked bank account identifier.'),
  required('status', 'string', 'Status of the linked account.', { values: LINK_STATUSES }),
  optional('error', 'string', 'Present when status is FAILED and a message is available.', {
    onStatus: ['FAILED'],
  }),
];

export const WALLET_CREATED_SUB_TYPES = ['CREATED'] as const;

/** docs/decisions.md, "Data of the open types". */
export const WALLET_CREATED_FIELDS: readonly Field[] = [
  required('uuid', 'uuid', 'Wallet identifier.'),
  required('chain', 'string', 'Its blockchain.'),
  required('address', 'string', 'Its address.'),
  required('tokens', 'array', 'Tokens it takes.'),
  required('createdAt', 'timestamp', 'When it was created.'),
];
