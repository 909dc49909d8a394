import type { EntityKind } from '../domain/event.ts';
import type { SampleLocale } from './names.ts';

/** The input from which the samples of each type are made. */
export interface SampleThing {
  readonly subType: string;
  readonly entityId: string;
  readonly entityKind: EntityKind;
  readonly subject: string;
  readonly choices: SampleChoices;
  /** When it happened, RFC 3339. */
  readonly time: string;
  /** Returns the id of something that belongs to the subject. */
  id(what: SampleIdName): string;
  /** Returns the id of something that belongs to the entity, whatever the subject. */
  entityPart(what: string): string;
}
/** The choices of a sample. The others are drawn or have a plain default (EUR, polygon, USDC, ACTIVE, ON_HOLD_KYC). */
export interface SampleChoices {
  readonly currencyFiat?: string;
  readonly chain?: string;
  readonly token?: string;
  /** The amount received, a plain decimal: fiat for fiatToCrypto and senderNameMismatch, crypto for cryptoToFiat. */
  readonly amount?: string;
  /** The country of the bank, or of the corporate: ISO 3166-1 alpha-2. */
  readonly country?: string;
  /** `data.status`, where the subType allows several. */
  readonly status?: string;
  /** Makes a fiatToCrypto an ACH pull from this linked account; one in USD is always a pull. */
  readonly linkedBankAccountUuid?: string;
  /** The ledger that receives a fiatToCrypto's money. */
  readonly internalBankAccountId?: string;
  /** How well a senderNameMismatch's names match; its names and its action follow. */
  readonly matchResult?: string;
  /** The subject of AML screening; `TRANSACTION` names the subject's transaction. */
  readonly screens?: 'ENTITY' | 'TRANSACTION';
  /** The locale of persons' names; `ascii` by default. */
  readonly locale?: SampleLocale;
}
export const SAMPLE_ID_NAMES = [
  'transaction',
  'internal-bank-account',
  'remote-bank-account',
  'ledger',
  'profile',
  'linked-account',
  'wallet',
  'screening',
] as const;
export type SampleIdName = (typeof SAMPLE_ID_NAMES)[number];
