import type { EventType } from '../../services/domain/event.ts';

export interface PlayStep {
  readonly type: EventType;
  readonly subType: string;
  /** Fields that replace those of the sample. */
  readonly data?: Readonly<Record<string, string | number>>;
}

/** A scenario of the simulator's library, as the console plays it. A test holds the two together. */
export interface PlayScenario {
  /** As `hookrail sim run` takes it. */
  readonly name: string;
  readonly title: string;
  readonly teaches: string;
  /** Whose state machine lights up. */
  readonly type: EventType;
  readonly steps: readonly PlayStep[];
}

const steps = (type: EventType, ...subTypes: readonly string[]): readonly PlayStep[] =>
  subTypes.map((subType) => ({ type, subType }));
const hold = (type: EventType, status: string): PlayStep => ({ type, subType: 'ON_HOLD', data: { status } });

export const SCENARIOS: readonly PlayScenario[] = [
  {
    name: 'onramp.hold-kyc-resume',
    title: 'The fiat arrives before the KYC is done; the transaction waits and goes on by itself.',
    teaches:
      'ON_HOLD is not an end. Ask the user for the KYC, keep the transaction open, and expect IN_PROGRESS twice.',
    type: 'fiatToCrypto',
    steps: [
      ...steps('fiatToCrypto', 'PENDING', 'IN_PROGRESS'),
      hold('fiatToCrypto', 'ON_HOLD_KYC'),
      ...steps('KYC', 'FULL_USER'),
      ...steps('fiatToCrypto', 'IN_PROGRESS', 'CRYPTO_TRANSFER_ISSUED', 'SUCCESS'),
    ],
  },
  {
    name: 'onramp.happy',
    title: 'Fiat comes in, crypto goes out.',
    teaches: 'Credit the user only on SUCCESS; the states before it are progress to show, not money.',
    type: 'fiatToCrypto',
    steps: steps('fiatToCrypto', 'PENDING', 'IN_PROGRESS', 'CRYPTO_TRANSFER_ISSUED', 'SUCCESS'),
  },
  {
    name: 'onramp.failed-then-refunded',
    title: 'The transfer of the crypto fails after it was issued; the fiat goes back.',
    teaches: 'CRYPTO_TRANSFER_ISSUED is not SUCCESS. Do not credit on it, and let FAILED become REFUNDED.',
    type: 'fiatToCrypto',
    steps: steps('fiatToCrypto', 'PENDING', 'IN_PROGRESS', 'CRYPTO_TRANSFER_ISSUED', 'FAILED', 'REFUNDED'),
  },
  {
    name: 'offramp.hold-kyc-resume',
    title: 'The crypto arrives before the KYC is done; the transaction waits and goes on by itself.',
    teaches: 'ON_HOLD is not an end. Ask the user for the KYC and keep the transaction open.',
    type: 'cryptoToFiat',
    steps: [
      ...steps('cryptoToFiat', 'PENDING', 'IN_PROGRESS'),
      hold('cryptoToFiat', 'ON_HOLD_KYC'),
      ...steps('KYC', 'FULL_USER'),
      ...steps('cryptoToFiat', 'IN_PROGRESS', 'FIAT_TRANSFER_ISSUED', 'SUCCESS'),
    ],
  },
  {
    name: 'offramp.happy',
    title: 'Crypto comes in, fiat goes out. --currency EUR, GBP, USD, NGN or KES.',
    teaches:
      'FIAT_TRANSFER_ISSUED means on its way; only SUCCESS means paid. accountDetails differ by currency.',
    type: 'cryptoToFiat',
    steps: steps('cryptoToFiat', 'PENDING', 'IN_PROGRESS', 'FIAT_TRANSFER_ISSUED', 'SUCCESS'),
  },
  {
    name: 'offramp.limit-breached',
    title: "Less crypto comes in than the chain's minimum; no transaction begins.",
    teaches: 'transactionUuid is null here. Show limit to the user, and make no record that waits for more.',
    type: 'cryptoToFiat',
    steps: steps('cryptoToFiat', 'LIMIT_BREACHED'),
  },
  {
    name: 'kyc.happy',
    title: 'A user hands in documents and is verified at the first try.',
    teaches: 'Let the user pay only after FULL_USER.',
    type: 'KYC',
    steps: steps('KYC', 'KYC_NEEDED', 'PENDING_KYC_DATA', 'KYC_PENDING', 'FULL_USER'),
  },
  {
    name: 'kyc.soft-fail-retry',
    title: 'A document cannot be read; the user takes a better photo and is verified.',
    teaches:
      'On SOFT_KYC_FAILED show kyc_enduser_error_message, ask for docs_missing again, and let the user retry.',
    type: 'KYC',
    steps: [
      ...steps('KYC', 'KYC_NEEDED', 'PENDING_KYC_DATA', 'KYC_PENDING', 'SOFT_KYC_FAILED'),
      { type: 'KYC', subType: 'PENDING_KYC_DATA', data: { attempt: 1 } },
      { type: 'KYC', subType: 'KYC_PENDING', data: { attempt: 2 } },
      { type: 'KYC', subType: 'FULL_USER', data: { attempt: 2 } },
    ],
  },
];
