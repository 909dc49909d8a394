/**
 * Realistic events, the same for the same options on every machine, used by the API's test operation and the
 * simulator. They need no clock and no randomness: everything is derived from the seed, the subject and the entity.
 *
 * A *subject* is what an event is about: one transaction, one ledger, one screening. Events with the same entity,
 * subject and choices share ids, amounts, accounts and hashes, so a transaction keeps them through its subTypes.
 */
import { entityKindsOf, fieldsOf, isShown, SUB_TYPES } from '../domain/catalog/catalog.ts';
import { API_VERSION_DEFAULT } from '../domain/endpoint.ts';
import type { DomainEvent, EntityKind, EventData, EventType } from '../domain/event.ts';
import { uuidV5 } from '../domain/ids.ts';
import * as accounts from './accounts.ts';
import { mustBeOneOf } from './choice-error.ts';
import * as identity from './identity.ts';
import type { SampleChoices, SampleIdName, SampleThing } from './sample-thing.ts';
import * as transactions from './transaction.ts';

export interface SampleOptions {
  readonly type: EventType;
  readonly subType: string;
  readonly merchantId: string;
  readonly entityId: string;
  /** The first kind that the type allows, by default. */
  readonly entityKind?: EntityKind;
  readonly seed: string;
  /** Milliseconds since the epoch. */
  readonly occurredAt: number;
  /** Derived by default from the seed and from everything that distinguishes this event from its neighbours. */
  readonly eventId?: string;
  /** False by default. */
  readonly simulated?: boolean;
  /** The seed by default. */
  readonly subject?: string;
  readonly choices?: SampleChoices;
}

/**
 * Returns the id that samples give something of a subject, so that other events can refer to it (an ACH pull to its
 * account).
 */
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

/** Makes one event. Throws SampleChoiceError, naming the valid ones, for an invalid subType, entity kind or choice. */
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

/** Returns the event's status from the catalog and the choice; undefined when its data has no status of its own. */
function statusOf(type: EventType, subType: string, chosen: string | undefined): string | undefined {
  const field = fieldsOf(type).find(({ name }) => name === 'status');
  const possible = field?.valuesOn?.[subType] ?? field?.values ?? [];
  if (chosen === undefined) return field?.valuesOn === undefined ? undefined : possible[0];
  mustBeOneOf(`status of ${type}/${subType}`, chosen, possible);
  return chosen;
}

/** Returns the fields that the subType shows, in the catalog's order. */
function onlyShown(type: EventType, subType: string, drawn: EventData): EventData {
  const data: EventData = {};
  for (const field of fieldsOf(type)) {
    const value = drawn[field.name];
    if (value === undefined || field.nullOn?.includes(subType)) continue;
    if (isShown(field, subType, API_VERSION_DEFAULT)) data[field.name] = value;
  }
  // The sender's details arrive with the money, and the hot wallet's address with the crypto.
  if (subType === 'PENDING') delete data.senderDetails;
  if (data.transactionHash === undefined) delete data.sendingWalletAddress;
  return data;
}
