import type { EventType } from '../event.ts';

interface Meaning {
  /** The subject of the type's events, in a sentence. */
  readonly about: string;
  /** When each subType is sent. */
  readonly subTypes: Readonly<Record<string, string>>;
}

const HOLD =
  'The transaction is paused. `data.status` gives the reason: `ON_HOLD_KYC` until the user’s KYC is done, `ON_HOLD_PROCESS` while AML checks run. It continues by itself.';
const FAILED = 'The transaction failed. Contact support and quote `transactionUuid`.';
const STATUS = 'The status changed: see `data.status`.';

/** The words of the catalogue (docs/specification.md, "Event types"; docs/decisions.md, "Data of the open types"). */
export const EVENT_MEANINGS: Readonly<Record<EventType, Meaning>> = {
  fiatToCrypto: {
    about: 'An on-ramp transaction: fiat comes in, crypto goes out.',
    subTypes: {
      PENDING: 'The transaction was created and waits to be processed.',
      IN_PROGRESS: 'The fiat was received.',
      CRYPTO_TRANSFER_ISSUED: 'The crypto was sent to the network.',
      SUCCESS: 'The transaction is final. Credit your customer now, not earlier.',
      ON_HOLD: HOLD,
      FAILED,
      REFUNDED: 'The fiat was sent back to the customer.',
    },
  },
  cryptoToFiat: {
    about: 'An off-ramp transaction: crypto comes in, fiat goes out.',
    subTypes: {
      PENDING: 'The transaction was created and waits to be processed.',
      IN_PROGRESS: 'The crypto was received.',
      FIAT_TRANSFER_ISSUED: 'The fiat transfer was initiated; `amountFiat` is known.',
      SUCCESS: 'The transaction is final.',
      ON_HOLD: HOLD,
      FAILED,
      LIMIT_BREACHED: 'The amount is below the minimum in `limit`, so no transaction was started.',
      REFUNDED: 'The crypto was sent back to the customer.',
    },
  },
  KYC: {
    about: 'The verification of an individual user.',
    subTypes: {
      KYC_NEEDED: 'The user must verify their identity.',
      PENDING_KYC_DATA: 'The user has started; documents are missing.',
      KYC_PENDING: 'Everything was submitted; the checks run.',
      SOFT_KYC_FAILED: 'The checks failed; the user may correct their data.',
      HARD_KYC_FAILED: 'The checks failed for good; the user cannot be served.',
      FULL_USER: 'The user is verified.',
      SUSPENDED: 'Compliance suspended the user; no actions are possible.',
    },
  },
  KYB: {
    about: 'The verification of a corporate.',
    subTypes: {
      CREATED: 'The corporate was created.',
      KYB_PENDING: 'The checks run.',
      ACTIVE: 'The corporate is approved.',
      REJECTED: 'Compliance rejected the corporate.',
    },
  },
  AML: {
    about: 'A screening of an entity or a transaction against money laundering.',
    subTypes: {
      AML_CHECKS_IN_PROGRESS: 'The screening runs.',
      AML_CHECKS_COMPLETED: 'Nothing was found.',
      AML_CHECKS_REJECTED: 'The screening ended with a rejection.',
      AML_CHECKS_FAILED: 'The screening could not be completed; it can be run again.',
    },
  },
  serviceBankAccount: {
    about: 'A ledger: the bank account that the service provides for an entity.',
    subTypes: { statusUpdate: STATUS },
  },
  entityStatusUpdate: {
    about: 'A user is blocked or unblocked, or has to sign terms and conditions.',
    subTypes: {
      BLOCKED: 'No on-ramps, off-ramps or updates of the user are possible.',
      UNBLOCKED: 'The user may act again.',
      MISSING_TERMS_AND_CONDITIONS_SIGNED:
        'The KYC is done, but the validation hashes of the signed terms and conditions are missing.',
    },
  },
  walletCreated: {
    about: 'A wallet was created for an entity.',
    subTypes: { CREATED: 'The wallet exists and can be used.' },
  },
  linkedBankAccountProfile: {
    about: 'The profile of an external bank account.',
    subTypes: { statusUpdate: STATUS },
  },
  linkBankAccount: {
    about: 'An external bank account is linked, for ACH pulls.',
    subTypes: { statusUpdate: STATUS },
  },
  duplicateUser: {
    about: 'A new user looks like one that exists.',
    subTypes: {
      DUPLICATE_DETECTED: 'The duplicate was detected; `matchedOn` says what the two have in common.',
    },
  },
  senderNameMismatch: {
    about: 'The sender of a fiat transfer has another name than the verified entity.',
    subTypes: { DETECTED: 'The mismatch was detected; `action` says what happens to the transaction.' },
  },
  otpNotification: {
    about: 'A one-time password could not be delivered.',
    subTypes: { EMAIL_DELIVERY_FAILED: 'The e-mail with the one-time password bounced.' },
  },
};
