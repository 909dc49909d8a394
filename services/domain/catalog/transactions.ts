import { ACCOUNT_DETAILS } from './account-details.ts';
import { type Field, LATEST_ONLY, optional, required, statusOf } from './field.ts';

const HOLDS = ['ON_HOLD_KYC', 'ON_HOLD_PROCESS'] as const;

export const FIAT_TO_CRYPTO_SUB_TYPES = [
  'PENDING',
  'IN_PROGRESS',
  'CRYPTO_TRANSFER_ISSUED',
  'SUCCESS',
  'ON_HOLD',
  'FAILED',
  'REFUNDED',
] as const;

const CRYPTO_SENT = ['CRYPTO_TRANSFER_ISSUED', 'SUCCESS'] as const;

/**
 * docs/specification.md, "Data of fiatToCrypto". Required fields: those it calls present "always" or on named subTypes,
 * and those that identify the transaction. A field without stated presence is optional, so that its absence never holds
 * an event back.
 */
export const FIAT_TO_CRYPTO_FIELDS: readonly Field[] = [
  statusOf(FIAT_TO_CRYPTO_SUB_TYPES, 'Process status: the subType, or on ON_HOLD the reason of the hold.', {
    ON_HOLD: HOLDS,
  }),
  required(
    'transactionUuid',
    'uuid',
    'Transaction identifier. Quote it to support when a transaction FAILED.',
  ),
  required('direction', 'string', 'Always fiatToCrypto.', { constant: 'fiatToCrypto' }),
  required('amountCrypto', 'decimal', 'Crypto amount transferred.', { on: CRYPTO_SENT }),
  required('amountFiat', 'decimal', 'Fiat amount received.'),
  required('amountRefunded', 'decimal', 'Refunded amount, in currencyFiat.', {
    on: ['REFUNDED'],
    versions: LATEST_ONLY,
  }),
  optional('walletAddress', 'string', 'Wallet receiving the crypto.'),
  required('transactionHash', 'string', 'Blockchain transaction hash.', { on: CRYPTO_SENT }),
  required('currencyFiat', 'string', 'Fiat currency code.', { format: 'currency' }),
  required('currencyCrypto', 'string', 'Crypto currency.', { on: CRYPTO_SENT }),
  required('fees', 'decimal', 'Fees, in currencyFiat.', { on: CRYPTO_SENT }),
  optional('internalBankAccountId', 'uuid', 'Bank account of the service where the fiat was received.'),
  optional('chain', 'string', 'Target blockchain.'),
  optional('senderDetails', 'object', 'Who sent the fiat.', {
    versions: LATEST_ONLY,
    fields: [
      required('senderName', 'string', 'Full name of the sending account’s holder.'),
      required('senderCountry', 'string', 'Country of the sender’s bank, ISO 3166-1 alpha-2.', {
        format: 'country',
      }),
      optional('accountDetails', 'object', 'The sender’s bank details; returned only to certain merchants.', {
        fields: ACCOUNT_DETAILS,
        entitlement: 'senderAccountDetails',
      }),
    ],
  }),
  optional('sendingWalletAddress', 'string', 'Crypto address; may be absent for open-banking transfers.', {
    versions: LATEST_ONLY,
  }),
  optional('linkedBankAccountUuid', 'string', 'Returned when the transfer is made with an ACH pull.', {
    versions: LATEST_ONLY,
  }),
];

export const CRYPTO_TO_FIAT_SUB_TYPES = [
  'PENDING',
  'IN_PROGRESS',
  'FIAT_TRANSFER_ISSUED',
  'SUCCESS',
  'ON_HOLD',
  'FAILED',
  'LIMIT_BREACHED',
  'REFUNDED',
] as const;

const FIAT_SENT = ['FIAT_TRANSFER_ISSUED', 'SUCCESS'] as const;

/**
 * docs/specification.md, "Data of cryptoToFiat". LIMIT_BREACHED means that no transaction was initiated: its
 * transactionUuid is null.
 */
export const CRYPTO_TO_FIAT_FIELDS: readonly Field[] = [
  statusOf(
    CRYPTO_TO_FIAT_SUB_TYPES,
    'Process status: the subType; on ON_HOLD the reason of the hold; FAILED may say PROCESS_INITIATION_FAILED.',
    { ON_HOLD: HOLDS, FAILED: ['FAILED', 'PROCESS_INITIATION_FAILED'] },
  ),
  required('transactionUuid', 'uuid', 'Transaction identifier; null on LIMIT_BREACHED.', {
    nullOn: ['LIMIT_BREACHED'],
  }),
  required('direction', 'string', 'Always cryptoToFiat.', { constant: 'cryptoToFiat' }),
  required('amountCrypto', 'decimal', 'Crypto amount received.'),
  required('amountFiat', 'decimal', 'Fiat amount transferred.', { on: FIAT_SENT }),
  required('amountRefunded', 'decimal', 'Refunded amount, in currencyCrypto.', {
    on: ['REFUNDED'],
    versions: LATEST_ONLY,
  }),
  required('transactionHash', 'string', 'Hash of the incoming crypto transfer.'),
  required('currencyFiat', 'string', 'Fiat currency code.', { on: FIAT_SENT, format: 'currency' }),
  required('currencyCrypto', 'string', 'Crypto currency.'),
  required('fees', 'decimal', 'Fees, in currencyCrypto.', { on: FIAT_SENT }),
  optional('sendingAddress', 'string', 'Blockchain address that sent the crypto.'),
  optional('remoteBankAccountUuid', 'uuid', 'Destination bank account of the fiat.'),
  optional('chain', 'string', 'Blockchain where the crypto was received.'),
  required('limit', 'decimal', 'Minimum amount for the chain and token.', { on: ['LIMIT_BREACHED'] }),
  optional('beneficiaryDetails', 'object', 'Who receives the fiat.', {
    versions: LATEST_ONLY,
    fields: [
      required('receiverName', 'string', 'Full name of the beneficiary.'),
      required('accountDetails', 'object', 'The destination’s bank details.', { fields: ACCOUNT_DETAILS }),
    ],
  }),
];

export const SENDER_NAME_MISMATCH_SUB_TYPES = ['DETECTED'] as const;

/** docs/decisions.md, "Data of the open types". */
export const SENDER_NAME_MISMATCH_FIELDS: readonly Field[] = [
  required('transactionUuid', 'uuid', 'The transaction whose sender was checked.'),
  required('expectedName', 'string', 'The name of the verified user or corporate.'),
  required('senderName', 'string', 'The name of the sending account’s holder.'),
  required('matchResult', 'string', 'How well the names match.', {
    values: ['CLOSE_MATCH', 'NO_MATCH', 'MATCH_NOT_POSSIBLE'],
  }),
  required('currencyFiat', 'string', 'Fiat currency code.', { format: 'currency' }),
  required('amountFiat', 'decimal', 'Fiat amount received.'),
  required('action', 'string', 'What happens to the transaction.', { values: ['ON_HOLD_PROCESS', 'REFUND'] }),
];
