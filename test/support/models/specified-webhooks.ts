/**
 * The specification's tables of webhook data, typed in by hand from docs/specification.md ("Resources", "Event types",
 * "API versions") and, where that is open, from docs/decisions.md ("Data of the open types"). They do not use the
 * catalog, so that the two can be compared.
 */

export const VERSIONS = ['2.3.8', '2.2.8'] as const;
export type Version = (typeof VERSIONS)[number];
type JsonType = 'string' | 'number' | 'boolean' | 'array';

/** One event of a type: a subType, or a status of a type that has one subType. */
interface Column {
  readonly name: string;
  readonly subType: string;
  readonly status?: string;
}

interface SpecifiedField {
  readonly name: string;
  readonly type: JsonType;
  /** As a producer sends it; amounts are texts. */
  readonly sent: unknown;
  /** Columns that have it; absent = all. */
  readonly on?: readonly string[];
  /** 2.2.8 does not have it. */
  readonly isNew?: true;
  /** An event without it is refused: it is there always, on named subTypes, or identifies the object. */
  readonly must?: true;
}

interface SpecifiedType {
  readonly entityKind: 'USER' | 'CORPORATE';
  readonly columns: readonly Column[];
  /** Columns that 2.2.8 does not have; absent = it does not have the type. */
  readonly missing?: readonly string[];
  readonly fields: readonly SpecifiedField[];
}

type Rest = Omit<SpecifiedField, 'name' | 'type' | 'sent'>;

const text = (name: string, sent: unknown, rest: Rest = {}): SpecifiedField => {
  return { name, type: 'string', sent, ...rest };
};
const amount = (name: string, sent: string, rest: Rest = {}): SpecifiedField => {
  return { name, type: 'number', sent, ...rest };
};
const list = (name: string, sent: readonly unknown[], rest: Rest = {}): SpecifiedField => {
  return { name, type: 'array', sent, ...rest };
};

const MUST = { must: true } as const;
const NEW = { isNew: true } as const;
const UUID = '7d734bd7-8875-4a1c-8bce-c6e70a4584a1';
const TIME = '2030-01-01T00:00:00.000Z';
const subTypes = (...names: string[]): Column[] => names.map((name) => ({ name, subType: name }));
const statuses = (...names: string[]): Column[] =>
  names.map((name) => ({ name, subType: 'statusUpdate', status: name }));
/** `status` of a type repeats the subType, unless its column says otherwise. */
const STATUS = text('status', undefined, MUST);

const CRYPTO_SENT = ['CRYPTO_TRANSFER_ISSUED', 'SUCCESS'];
const FIAT_SENT = ['FIAT_TRANSFER_ISSUED', 'SUCCESS'];
const LEDGER_STATUSES = statuses('ACTIVE', 'WAITING_CREATION', 'FAILED_CREATION', 'DISABLED');

export const SPECIFIED: Readonly<Record<string, SpecifiedType>> = {
  fiatToCrypto: {
    entityKind: 'USER',
    columns: [
      ...subTypes('PENDING', 'IN_PROGRESS', 'CRYPTO_TRANSFER_ISSUED', 'SUCCESS'),
      { name: 'ON_HOLD', subType: 'ON_HOLD', status: 'ON_HOLD_PROCESS' },
      ...subTypes('FAILED', 'REFUNDED'),
    ],
    missing: ['PENDING', 'REFUNDED'],
    fields: [
      STATUS,
      text('transactionUuid', UUID, MUST),
      text('direction', 'fiatToCrypto', MUST),
      amount('amountCrypto', '101.5', { on: CRYPTO_SENT, ...MUST }),
      amount('amountFiat', '100.25', MUST),
      amount('amountRefunded', '99.75', { on: ['REFUNDED'], ...NEW, ...MUST }),
      text('walletAddress', '0x532EE15645FAB2cb9AB5a95d0ba77F1aB4D9f66d'),
      text('transactionHash', '0x3edce582', { on: CRYPTO_SENT, ...MUST }),
      text('currencyFiat', 'EUR', MUST),
      text('currencyCrypto', 'USDC', { on: CRYPTO_SENT, ...MUST }),
      amount('fees', '1.5', { on: CRYPTO_SENT, ...MUST }),
      text('internalBankAccountId', UUID),
      text('chain', 'polygon'),
      text('senderDetails.senderName', 'Anna Keller', NEW),
      text('senderDetails.senderCountry', 'DE', NEW),
      text('senderDetails.accountDetails.currency', 'EUR', NEW),
      text('senderDetails.accountDetails.iban', 'ES4602495704910091589374', NEW),
      text('sendingWalletAddress', '0x222bb7601BE95C1f5E419605571EF1e31c4012F8', NEW),
      text('linkedBankAccountUuid', UUID, NEW),
    ],
  },
  cryptoToFiat: {
    entityKind: 'USER',
    columns: [
      ...subTypes('PENDING', 'IN_PROGRESS', 'FIAT_TRANSFER_ISSUED', 'SUCCESS'),
      { name: 'ON_HOLD', subType: 'ON_HOLD', status: 'ON_HOLD_KYC' },
      { name: 'FAILED', subType: 'FAILED', status: 'PROCESS_INITIATION_FAILED' },
      ...subTypes('LIMIT_BREACHED', 'REFUNDED'),
    ],
    missing: ['PENDING', 'REFUNDED'],
    fields: [
      STATUS,
      text('transactionUuid', UUID, MUST),
      text('direction', 'cryptoToFiat', MUST),
      amount('amountCrypto', '101.5', MUST),
      amount('amountFiat', '100.25', { on: FIAT_SENT, ...MUST }),
      amount('amountRefunded', '99.75', { on: ['REFUNDED'], ...NEW, ...MUST }),
      text('transactionHash', '0x3edce582', MUST),
      text('currencyFiat', 'NGN', { on: FIAT_SENT, ...MUST }),
      text('currencyCrypto', 'USDC', MUST),
      amount('fees', '1.5', { on: FIAT_SENT, ...MUST }),
      text('sendingAddress', '0x222bb7601BE95C1f5E419605571EF1e31c4012F8'),
      text('remoteBankAccountUuid', UUID),
      text('chain', 'polygon'),
      amount('limit', '20', { on: ['LIMIT_BREACHED'], ...MUST }),
      text('beneficiaryDetails.receiverName', 'Anna Keller', NEW),
      text('beneficiaryDetails.accountDetails.currency', 'NGN', NEW),
      text('beneficiaryDetails.accountDetails.accountNumber', '0123456789', NEW),
      text('beneficiaryDetails.accountDetails.bankCode', '044', NEW),
      text('beneficiaryDetails.accountDetails.bankName', 'Access Bank', NEW),
    ],
  },
  KYC: {
    entityKind: 'USER',
    columns: subTypes(
      'KYC_NEEDED',
      'PENDING_KYC_DATA',
      'KYC_PENDING',
      'SOFT_KYC_FAILED',
      'HARD_KYC_FAILED',
      'FULL_USER',
      'SUSPENDED',
    ),
    missing: ['SUSPENDED'],
    fields: [
      STATUS,
      list('docs_missing', [{ docType: 'PASSPORT', docSubType: 'FRONT_SIDE' }], {
        on: ['PENDING_KYC_DATA', 'SOFT_KYC_FAILED'],
      }),
      list('kyc_reject_label', ['BAD_PHOTO'], { on: ['SOFT_KYC_FAILED', 'HARD_KYC_FAILED'] }),
      text('kyc_enduser_error_message', 'The photo is too dark.', { on: ['SOFT_KYC_FAILED'] }),
      { name: 'can_retry', type: 'boolean', sent: true, ...MUST },
      { name: 'attempt', type: 'number', sent: 2, ...MUST },
      text('updated_at', TIME, MUST),
    ],
  },
  KYB: {
    entityKind: 'CORPORATE',
    columns: subTypes('CREATED', 'KYB_PENDING', 'ACTIVE', 'REJECTED'),
    fields: [
      STATUS,
      text('legal_name', 'Beacon Software GmbH', MUST),
      text('registration_number', 'HR406137'),
      text('country', 'DE', MUST),
      list('rejection_reasons', [{ code: 'DOCUMENTS', message: 'Documents are missing.' }], {
        on: ['REJECTED'],
      }),
      list('associated_persons', [{ uuid: UUID, role: 'UBO', kyc_status: 'FULL_USER' }], {
        on: ['KYB_PENDING', 'ACTIVE'],
      }),
      text('updated_at', TIME, MUST),
    ],
  },
  AML: {
    entityKind: 'USER',
    columns: subTypes(
      'AML_CHECKS_IN_PROGRESS',
      'AML_CHECKS_COMPLETED',
      'AML_CHECKS_REJECTED',
      'AML_CHECKS_FAILED',
    ),
    fields: [
      STATUS,
      text('screeningUuid', UUID, MUST),
      text('subject', 'TRANSACTION', MUST),
      text('transactionUuid', UUID),
      text('updatedAt', TIME, MUST),
    ],
  },
  serviceBankAccount: {
    entityKind: 'USER',
    columns: LEDGER_STATUSES,
    missing: [],
    fields: [
      text('uuid', UUID, MUST),
      text('currency', 'EUR', MUST),
      text('bank_country', 'DE', MUST),
      text('iban', 'ES4602495704910091589374'),
      text('bic', 'DEUTDEFF'),
      text('account_number', '12345678'),
      text('sort_code', '123456'),
      text('swift_code', 'DEUTDEFF'),
      text('bank_code', '044'),
      text('bank_name', 'A bank'),
      text('status', undefined),
      text('error', 'The bank refused.', { on: ['FAILED_CREATION'] }),
    ],
  },
  linkedBankAccountProfile: {
    entityKind: 'CORPORATE',
    columns: LEDGER_STATUSES,
    fields: [
      text('uuid', UUID, MUST),
      text('status', undefined),
      text('error', 'The bank refused.', { on: ['FAILED_CREATION'] }),
    ],
  },
  linkBankAccount: {
    entityKind: 'CORPORATE',
    columns: statuses('PENDING', 'CHECK_COMPLETED', 'ACTIVE', 'FAILED', 'DISABLED'),
    fields: [
      text('uuid', UUID, MUST),
      STATUS,
      text('error', 'The account type is not supported.', { on: ['FAILED'] }),
    ],
  },
  entityStatusUpdate: {
    entityKind: 'USER',
    columns: subTypes('BLOCKED', 'UNBLOCKED', 'MISSING_TERMS_AND_CONDITIONS_SIGNED'),
    fields: [text('uuid', UUID, MUST), text('status', undefined), text('reason', 'After a review.')],
  },
  otpNotification: {
    entityKind: 'USER',
    columns: subTypes('EMAIL_DELIVERY_FAILED'),
    fields: [
      text('failureType', 'BOUNCE', MUST),
      text('emailAddress', 'anna@example.com', MUST),
      text('diagnosticCode', 'smtp; 550 5.1.1 User unknown', MUST),
      text('timestamp', TIME, MUST),
    ],
  },
  walletCreated: {
    entityKind: 'USER',
    columns: subTypes('CREATED'),
    fields: [
      text('uuid', UUID, MUST),
      text('chain', 'polygon', MUST),
      text('address', '0x532EE15645FAB2cb9AB5a95d0ba77F1aB4D9f66d', MUST),
      list('tokens', ['USDC'], MUST),
      text('createdAt', TIME, MUST),
    ],
  },
  duplicateUser: {
    entityKind: 'USER',
    columns: subTypes('DUPLICATE_DETECTED'),
    fields: [
      STATUS,
      list('matchedOn', ['PHONE'], MUST),
      text('existingUserUuid', UUID),
      text('detectedAt', TIME, MUST),
    ],
  },
  senderNameMismatch: {
    entityKind: 'CORPORATE',
    columns: subTypes('DETECTED'),
    fields: [
      text('transactionUuid', UUID, MUST),
      text('expectedName', 'Anna Keller', MUST),
      text('senderName', 'Oliver Carter', MUST),
      text('matchResult', 'NO_MATCH', MUST),
      text('currencyFiat', 'EUR', MUST),
      amount('amountFiat', '100.25', MUST),
      text('action', 'REFUND', MUST),
    ],
  },
};

/** Ledger statuses under their name in 2.2.8. */
export const EARLIER_STATUS: Readonly<Record<string, string>> = {
  WAITING_CREATION: 'PENDING',
  FAILED_CREATION: 'FAILED',
};

/** Returns whether the version has such events. */
export function has(type: SpecifiedType, column: Column, version: Version): boolean {
  return version === '2.3.8' || (type.missing !== undefined && !type.missing.includes(column.name));
}

/** Returns whether an event of the column shows the field. */
export function shows(field: SpecifiedField, column: Column, version: Version): boolean {
  return (field.on?.includes(column.name) ?? true) && !(field.isNew && version === '2.2.8');
}

/** Returns the field's value as the producer sends it. */
export function sentValue(field: SpecifiedField, column: Column): unknown {
  if (field.name === 'transactionUuid' && column.name === 'LIMIT_BREACHED') return null;
  return field.name === 'status' ? (column.status ?? column.subType) : field.sent;
}
