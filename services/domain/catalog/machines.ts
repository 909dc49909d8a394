/**
 * The processes of the platform as tables: state → states that may follow. `start` is before the first event.
 * The specification lists the states (3.2) and leaves most moves open; these are the moves the simulator plays.
 */
export type Table = Readonly<Record<string, readonly string[]>>;

export const START = 'start';

const ON_RAMP: Table = {
  [START]: ['PENDING'],
  PENDING: ['IN_PROGRESS', 'ON_HOLD', 'FAILED'],
  IN_PROGRESS: ['CRYPTO_TRANSFER_ISSUED', 'ON_HOLD', 'FAILED'],
  ON_HOLD: ['IN_PROGRESS', 'REFUNDED', 'FAILED'],
  CRYPTO_TRANSFER_ISSUED: ['SUCCESS', 'FAILED'],
  FAILED: ['REFUNDED'],
  SUCCESS: [],
  REFUNDED: [],
};

const OFF_RAMP: Table = {
  // Too small an amount starts no transaction: LIMIT_BREACHED is first and last, and has no transactionUuid.
  [START]: ['PENDING', 'LIMIT_BREACHED'],
  LIMIT_BREACHED: [],
  PENDING: ['IN_PROGRESS', 'ON_HOLD', 'FAILED'],
  IN_PROGRESS: ['FIAT_TRANSFER_ISSUED', 'ON_HOLD', 'FAILED'],
  ON_HOLD: ['IN_PROGRESS', 'REFUNDED', 'FAILED'],
  FIAT_TRANSFER_ISSUED: ['SUCCESS', 'FAILED'],
  FAILED: ['REFUNDED'],
  SUCCESS: [],
  REFUNDED: [],
};

const KYC: Table = {
  [START]: ['KYC_NEEDED'],
  KYC_NEEDED: ['PENDING_KYC_DATA'],
  PENDING_KYC_DATA: ['KYC_PENDING'],
  KYC_PENDING: ['FULL_USER', 'SOFT_KYC_FAILED', 'HARD_KYC_FAILED'],
  SOFT_KYC_FAILED: ['PENDING_KYC_DATA', 'KYC_PENDING'],
  FULL_USER: ['SUSPENDED', 'KYC_NEEDED'],
  HARD_KYC_FAILED: [],
  SUSPENDED: [],
};

const KYB: Table = {
  [START]: ['CREATED'],
  CREATED: ['KYB_PENDING'],
  KYB_PENDING: ['ACTIVE', 'REJECTED', 'CREATED'],
  ACTIVE: [],
  REJECTED: [],
};

/** Ledgers (serviceBankAccount) and profiles (linkedBankAccountProfile) have the same states. */
const BANK_ACCOUNT: Table = {
  [START]: ['WAITING_CREATION'],
  WAITING_CREATION: ['ACTIVE', 'FAILED_CREATION'],
  FAILED_CREATION: ['WAITING_CREATION'],
  ACTIVE: ['DISABLED'],
  DISABLED: ['ACTIVE'],
};

const LINK_BANK_ACCOUNT: Table = {
  // Linking may fail at once, for an account of the wrong kind.
  [START]: ['PENDING', 'FAILED'],
  PENDING: ['CHECK_COMPLETED', 'ACTIVE', 'FAILED', 'DISABLED'],
  CHECK_COMPLETED: ['ACTIVE', 'FAILED', 'DISABLED'],
  // From any earlier state the flow may complete, fail or be undone (docs/specification.md, "Event subTypes").
  ACTIVE: ['FAILED', 'DISABLED'],
  FAILED: ['ACTIVE', 'DISABLED'],
  DISABLED: ['ACTIVE', 'FAILED'],
};

const ENTITY_STATUS: Table = {
  [START]: ['BLOCKED', 'MISSING_TERMS_AND_CONDITIONS_SIGNED'],
  BLOCKED: ['UNBLOCKED'],
  UNBLOCKED: ['BLOCKED', 'MISSING_TERMS_AND_CONDITIONS_SIGNED'],
  MISSING_TERMS_AND_CONDITIONS_SIGNED: ['BLOCKED'],
};

const AML: Table = {
  [START]: ['AML_CHECKS_IN_PROGRESS'],
  AML_CHECKS_IN_PROGRESS: ['AML_CHECKS_COMPLETED', 'AML_CHECKS_REJECTED', 'AML_CHECKS_FAILED'],
  // A failed check can be run again; the other two are verdicts.
  AML_CHECKS_FAILED: ['AML_CHECKS_IN_PROGRESS'],
  AML_CHECKS_COMPLETED: [],
  AML_CHECKS_REJECTED: [],
};

/**
 * The machine of each event type. Types that report a single occurrence (a wallet was created, an e-mail bounced) have
 * none: their events may come at any time.
 */
export const MACHINES: Readonly<Record<string, Table>> = {
  fiatToCrypto: ON_RAMP,
  cryptoToFiat: OFF_RAMP,
  KYC,
  KYB,
  AML,
  serviceBankAccount: BANK_ACCOUNT,
  linkedBankAccountProfile: BANK_ACCOUNT,
  linkBankAccount: LINK_BANK_ACCOUNT,
  entityStatusUpdate: ENTITY_STATUS,
};
