/**
 * The presence table says what the specification says. The expectation is written out by hand from
 * docs/specification.md and docs/decisions.md, "Event data", so that a slip in the catalog cannot hide in code that
 * reads the catalog.
 */
import { describe, expect, it } from 'vitest';
import { ACCOUNT_DETAILS, accountLayoutsOf } from '../../services/domain/catalog/account-details.ts';
import {
  entityKindsOf,
  fieldsOf,
  isShown,
  SUB_TYPES,
  subTypesOf,
  typesOf,
} from '../../services/domain/catalog/catalog.ts';
import type { ApiVersion } from '../../services/domain/endpoint.ts';
import { EVENT_TYPES, type EventType } from '../../services/domain/event.ts';

/** Fields in the body's order; `?` = may be absent. */
function shownFields(type: EventType, subType: string, version: ApiVersion): string {
  return fieldsOf(type)
    .filter((field) => isShown(field, subType, version))
    .map((field) => `${field.name}${field.required ? '' : '?'}`)
    .join(' ');
}

const ON_RAMP_HEAD = 'status transactionUuid direction';
const ON_RAMP_OLD = `${ON_RAMP_HEAD} amountFiat walletAddress? currencyFiat internalBankAccountId? chain?`;
const ON_RAMP_SENT_OLD =
  `${ON_RAMP_HEAD} amountCrypto amountFiat walletAddress? transactionHash currencyFiat currencyCrypto fees ` +
  'internalBankAccountId? chain?';
const SENDER = ' senderDetails? sendingWalletAddress? linkedBankAccountUuid?';
const OFF_RAMP_OLD =
  'status transactionUuid direction amountCrypto transactionHash currencyCrypto sendingAddress? ' +
  'remoteBankAccountUuid? chain?';
const OFF_RAMP_SENT_OLD =
  'status transactionUuid direction amountCrypto amountFiat transactionHash currencyFiat currencyCrypto fees ' +
  'sendingAddress? remoteBankAccountUuid? chain?';
const KYC = 'status can_retry attempt updated_at';
const LEDGER =
  'uuid currency bank_country iban? bic? account_number? sort_code? swift_code? bank_code? bank_name? status? error?';

const LATEST: Readonly<Record<EventType, Readonly<Record<string, string>>>> = {
  fiatToCrypto: {
    PENDING: ON_RAMP_OLD + SENDER,
    IN_PROGRESS: ON_RAMP_OLD + SENDER,
    CRYPTO_TRANSFER_ISSUED: ON_RAMP_SENT_OLD + SENDER,
    SUCCESS: ON_RAMP_SENT_OLD + SENDER,
    ON_HOLD: ON_RAMP_OLD + SENDER,
    FAILED: ON_RAMP_OLD + SENDER,
    REFUNDED: ON_RAMP_OLD.replace('amountFiat', 'amountFiat amountRefunded') + SENDER,
  },
  cryptoToFiat: {
    PENDING: `${OFF_RAMP_OLD} beneficiaryDetails?`,
    IN_PROGRESS: `${OFF_RAMP_OLD} beneficiaryDetails?`,
    FIAT_TRANSFER_ISSUED: `${OFF_RAMP_SENT_OLD} beneficiaryDetails?`,
    SUCCESS: `${OFF_RAMP_SENT_OLD} beneficiaryDetails?`,
    ON_HOLD: `${OFF_RAMP_OLD} beneficiaryDetails?`,
    FAILED: `${OFF_RAMP_OLD} beneficiaryDetails?`,
    LIMIT_BREACHED: `${OFF_RAMP_OLD} limit beneficiaryDetails?`,
    REFUNDED: `${OFF_RAMP_OLD.replace('amountCrypto', 'amountCrypto amountRefunded')} beneficiaryDetails?`,
  },
  KYC: {
    KYC_NEEDED: KYC,
    PENDING_KYC_DATA: KYC.replace('status', 'status docs_missing?'),
    KYC_PENDING: KYC,
    SOFT_KYC_FAILED: KYC.replace(
      'status',
      'status docs_missing? kyc_reject_label? kyc_enduser_error_message?',
    ),
    HARD_KYC_FAILED: KYC.replace('status', 'status kyc_reject_label?'),
    FULL_USER: KYC,
    SUSPENDED: KYC,
  },
  KYB: {
    CREATED: 'status legal_name registration_number? country updated_at',
    KYB_PENDING: 'status legal_name registration_number? country associated_persons? updated_at',
    ACTIVE: 'status legal_name registration_number? country associated_persons? updated_at',
    REJECTED: 'status legal_name registration_number? country rejection_reasons? updated_at',
  },
  AML: {
    AML_CHECKS_IN_PROGRESS: 'status screeningUuid subject transactionUuid? updatedAt',
    AML_CHECKS_COMPLETED: 'status screeningUuid subject transactionUuid? updatedAt',
    AML_CHECKS_REJECTED: 'status screeningUuid subject transactionUuid? updatedAt',
    AML_CHECKS_FAILED: 'status screeningUuid subject transactionUuid? updatedAt',
  },
  serviceBankAccount: { statusUpdate: LEDGER },
  entityStatusUpdate: {
    BLOCKED: 'uuid status? reason?',
    UNBLOCKED: 'uuid status? reason?',
    MISSING_TERMS_AND_CONDITIONS_SIGNED: 'uuid status? reason?',
  },
  walletCreated: { CREATED: 'uuid chain address tokens createdAt' },
  linkedBankAccountProfile: { statusUpdate: 'uuid status? error?' },
  linkBankAccount: { statusUpdate: 'uuid status error?' },
  duplicateUser: { DUPLICATE_DETECTED: 'status matchedOn existingUserUuid? detectedAt' },
  senderNameMismatch: {
    DETECTED: 'transactionUuid expectedName senderName matchResult currencyFiat amountFiat action',
  },
  otpNotification: { EMAIL_DELIVERY_FAILED: 'failureType emailAddress diagnosticCode timestamp' },
};

const EARLIER: Partial<Readonly<Record<EventType, Readonly<Record<string, string>>>>> = {
  fiatToCrypto: {
    IN_PROGRESS: ON_RAMP_OLD,
    CRYPTO_TRANSFER_ISSUED: ON_RAMP_SENT_OLD,
    SUCCESS: ON_RAMP_SENT_OLD,
    ON_HOLD: ON_RAMP_OLD,
    FAILED: ON_RAMP_OLD,
  },
  cryptoToFiat: {
    IN_PROGRESS: OFF_RAMP_OLD,
    FIAT_TRANSFER_ISSUED: OFF_RAMP_SENT_OLD,
    SUCCESS: OFF_RAMP_SENT_OLD,
    ON_HOLD: OFF_RAMP_OLD,
    FAILED: OFF_RAMP_OLD,
    LIMIT_BREACHED: `${OFF_RAMP_OLD} limit`,
  },
  KYC: {
    KYC_NEEDED: KYC,
    PENDING_KYC_DATA: KYC.replace('status', 'status docs_missing?'),
    KYC_PENDING: KYC,
    SOFT_KYC_FAILED: KYC.replace(
      'status',
      'status docs_missing? kyc_reject_label? kyc_enduser_error_message?',
    ),
    HARD_KYC_FAILED: KYC.replace('status', 'status kyc_reject_label?'),
    FULL_USER: KYC,
  },
  serviceBankAccount: { statusUpdate: LEDGER },
};

function tableOf(version: ApiVersion) {
  const entries = typesOf(version).map((type) => [
    type,
    Object.fromEntries(
      subTypesOf(type, version).map((subType) => [subType, shownFields(type, subType, version)]),
    ),
  ]);
  return Object.fromEntries(entries);
}

describe('the presence table', () => {
  it('matches the specification for 2.3.8', () => {
    expect(tableOf('2.3.8')).toEqual(LATEST);
  });

  it('leaves out for 2.2.8 what that version does not have', () => {
    expect(tableOf('2.2.8')).toEqual(EARLIER);
  });

  it('keeps the specification’s order of subTypes', () => {
    for (const type of EVENT_TYPES) expect(SUB_TYPES[type]).toEqual(Object.keys(LATEST[type]));
  });

  it('says whether events concern users, corporates or both', () => {
    const onlyUsers = EVENT_TYPES.filter((type) => entityKindsOf(type).join() === 'USER');
    const onlyCorporates = EVENT_TYPES.filter((type) => entityKindsOf(type).join() === 'CORPORATE');
    expect(onlyUsers).toEqual(['cryptoToFiat', 'KYC', 'entityStatusUpdate']);
    expect(onlyCorporates).toEqual(['KYB']);
  });

  it('lets status repeat the subType, except for holds and initiations that failed', () => {
    const statuses = (type: EventType) => fieldsOf(type).find(({ name }) => name === 'status')?.valuesOn;
    expect(statuses('fiatToCrypto')).toMatchObject({
      ON_HOLD: ['ON_HOLD_KYC', 'ON_HOLD_PROCESS'],
      FAILED: ['FAILED'],
    });
    expect(statuses('cryptoToFiat')).toMatchObject({
      ON_HOLD: ['ON_HOLD_KYC', 'ON_HOLD_PROCESS'],
      FAILED: ['FAILED', 'PROCESS_INITIATION_FAILED'],
      LIMIT_BREACHED: ['LIMIT_BREACHED'],
    });
    expect(statuses('KYC')).toMatchObject({ FULL_USER: ['FULL_USER'] });
  });

  it('has every field of every layout of bank details, each layout in order', () => {
    const names = ACCOUNT_DETAILS.map(({ name }) => name);
    for (const currency of ['EUR', 'GBP', 'USD', 'NGN', 'KES', 'VND', 'toString']) {
      for (const layout of accountLayoutsOf(currency)) {
        const places = layout.map((name) => names.indexOf(name));
        expect(places).not.toContain(-1);
        expect(places).toEqual([...places].sort((a, b) => a - b));
      }
    }
    expect(accountLayoutsOf('toString')).toEqual([['accountNumber', 'bankCode', 'bankName']]);
  });
});
