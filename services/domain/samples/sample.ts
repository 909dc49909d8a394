/**
 * Realistic events, the same for the same options on every machine: the API's test operation and the simulator use
 * them. No clock, no chance: everything comes from the seed, the subject and the entity.
 *
 * A *subject* is what an event is about: one transaction, one ledger, one screening. Events with the same entity,
 * subject and choices share ids, amounts, accounts and hashes, so a transaction keeps them through its subTypes.
 */
import { entityKindsOf, fieldsOf, isShown, SUB_TYPES } from '../catalog/catalog.ts';
import { API_VERSION_DEFAULT } from '../endpoint.ts';
import type { DomainEvent, EntityKind, EventData, EventType } from '../event.ts';
import { uuidV5 } from '../ids.ts';
import * as accounts from './accounts.ts';
import { mustBeOneOf } from './choice-error.ts';
import * as identity from './identity.ts';
import type { SampleLocale } from './names.ts';
import * as transactions from './transaction.ts';

/** What may be chosen. What is not, is drawn or has a plain default (EUR, polygon, USDC, ACTIVE, ON_HOLD_KYC). */
export interface SampleChoices {
  readonly currencyFiat?: string;
  readonly chain?: string;
  readonly token?: string;
  /** What is received, a plain decimal: fiat for fiatToCrypto and senderNameMismatch, crypto for cryptoToFiat. */
  readonly amount?: string;
  /** Of the bank, or of the corporate: ISO 3166-1 alpha-2. */
  readonly country?: string;
  /** `data.status`, where the subType leaves a choice. */
  readonly status?: string;
  /** Makes a fiatToCrypto an ACH pull from this linked account. */
  readonly linkedBankAccountUuid?: string;
  /** What AML looks at; `TRANSACTION` names the subject's transaction. */
  readonly screens?: 'ENTITY' | 'TRANSACTION';
  /** Of persons' names; `ascii` unless chosen. */
  readonly locale?: SampleLocale;
}

export interface SampleOptions {
  readonly type: EventType;
  readonly subType: string;
  readonly merchantId: string;
  readonly entityId: string;
  /** The first kind that the type allows, unless given. */
  readonly entityKind?: EntityKind;
  readonly seed: string;
  /** Milliseconds since the epoch. */
  readonly occurredAt: number;
  /** Derived from the seed and what makes this event another than its neighbours, unless given. */
  readonly eventId?: string;
  /** False unless given. */
  readonly simulated?: boolean;
  /** The seed, unless given. */
  readonly subject?: string;
  readonly choices?: SampleChoices;
}

/** What the samples of each type are made of. */
export interface SampleThing {
  readonly subType: string;
  readonly entityId: string;
  readonly entityKind: EntityKind;
  readonly subject: string;
  readonly choices: SampleChoices;
  /** When it happened, RFC 3339. */
  readonly time: string;
  /** The id of something that belongs to the subject. */
  id(what: SampleIdName): string;
  /** The id of something that belongs to the entity, whatever the subject. */
  entityPart(what: string): string;
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

/** The id that samples give something of a subject, so that other events can name it (an ACH pull its account). */
export function sampleId(entityId: string, subject: string, what: SampleIdName): string {
  return uuidV5('sample', entityId, subject, what);
}

const DATA_OF: Readonly<Record<EventType, (thing: SampleThing) => EventData>> = {
  fiatToCrypto: transactions.fiatToCryptoData,
  cryptoToFiat: transactions.cryptoToFiatData,
  KYC: identity.kycData,
  KYB: identity.kybData,
  AML: identity.amlData,
  serviceBankAccount: accounts.serviceBankAccountData,
  entityStatusUpdate: identity.entityStatusUpdateData,
  walletCreated: accounts.walletCreatedData,
  linkedBankAccountProfile: accounts.linkedBankAccountProfileData,
  linkBankAccount: accounts.linkBankAccountData,
  duplicateUser: identity.duplicateUserData,
  senderNameMismatch: transactions.senderNameMismatchData,
  otpNotification: identity.otpNotificationData,
};

/**
 * Makes one event. Throws SampleChoiceError, naming what is possible, for a subType, entity kind or choice that cannot
 * be.
 */
export function sampleEvent(options: SampleOptions): DomainEvent {
  const { type, subType, merchantId, entityId, seed, occurredAt, choices = {} } = options;
  mustBeOneOf(`subType of ${type}`, subType, SUB_TYPES[type]);
  const kinds = entityKindsOf(type);
  const entityKind = options.entityKind ?? kinds[0] ?? 'USER';
  mustBeOneOf(`entity kind of ${type}`, entityKind, kinds);
  const subject = options.subject ?? seed;
  const thing: SampleThing = {
    subType,
    entityId,
    entityKind,
    subject,
    choices,
    time: new Date(occurredAt).toISOString(),
    id: (what) => sampleId(entityId, subject, what),
    entityPart: (what) => uuidV5('sample', entityId, what),
  };
  const statusChosen = statusOf(type, subType, choices.status);
  const drawn = DATA_OF[type](thing);
  const status = statusChosen ?? drawn.status;
  const eventId =
    options.eventId ??
    uuidV5(
      'sample-event',
      merchantId,
      entityId,
      seed,
      subject,
      type,
      subType,
      String(status),
      String(occurredAt),
    );
  return {
    eventId,
    merchantId,
    entityId,
    entityKind,
    type,
    subType,
    occurredAt,
    simulated: options.simulated ?? false,
    data: onlyShown(type, subType, status === undefined ? drawn : { ...drawn, status }),
  };
}

/** The status that the catalog and the choice give the event; undefined where its data has none of its own. */
function statusOf(type: EventType, subType: string, chosen: string | undefined): string | undefined {
  const field = fieldsOf(type).find(({ name }) => name === 'status');
  const possible = field?.valuesOn?.[subType] ?? field?.values ?? [];
  if (chosen === undefined) return field?.valuesOn === undefined ? undefined : possible[0];
  mustBeOneOf(`status of ${type}/${subType}`, chosen, possible);
  return chosen;
}

/** The fields that the subType shows, in the catalog's order. */
function onlyShown(type: EventType, subType: string, drawn: EventData): EventData {
  const data: EventData = {};
  for (const field of fieldsOf(type)) {
    const value = drawn[field.name];
    if (value === undefined || field.nullOn?.includes(subType)) continue;
    if (isShown(field, subType, API_VERSION_DEFAULT)) data[field.name] = value;
  }
  // Details of the sender come with the money, and the hot wallet's address with the crypto.
  if (subType === 'PENDING') delete data.senderDetails;
  if (data.transactionHash === undefined) delete data.sendingWalletAddress;
  return data;
}
