/**
 * The presence table: every event type with its subTypes, its fields, and the API versions that have them
 * (docs/specification.md, "Resources" and "API versions"; docs/decisions.md, "Event data"). Renderer, codecs, openapi
 * schemas and tests derive from it, so a field is added in one place.
 */
import { API_VERSIONS, type ApiVersion } from '../endpoint.ts';
import { ENTITY_KINDS, type EntityKind, EVENT_TYPES, type EventType } from '../event.ts';
import {
  LINK_BANK_ACCOUNT_FIELDS,
  LINKED_BANK_ACCOUNT_PROFILE_FIELDS,
  SERVICE_BANK_ACCOUNT_FIELDS,
  STATUS_UPDATE,
  WALLET_CREATED_FIELDS,
  WALLET_CREATED_SUB_TYPES,
} from './accounts.ts';
import type { Field } from './field.ts';
import * as identity from './identity.ts';
import * as transactions from './transactions.ts';

interface CatalogEntry {
  readonly subTypes: readonly string[];
  readonly fields: readonly Field[];
  /** The kinds of entity that the envelope's uuid names. An event about the other kind is delivered too. */
  readonly entityKinds: readonly EntityKind[];
  readonly versions: readonly ApiVersion[];
  /** The field of `data` with the id of what its events are about; absent: they are about the entity. */
  readonly subject?: 'transactionUuid' | 'uuid';
  /** SubTypes that a version does not have. */
  readonly subTypesMissing?: Partial<Readonly<Record<ApiVersion, readonly string[]>>>;
}

const LATEST: readonly ApiVersion[] = ['2.3.8'];
const ONLY_USERS: readonly EntityKind[] = ['USER'];
const ONLY_CORPORATES: readonly EntityKind[] = ['CORPORATE'];

/** Corporates are expected wherever the specification says "user or corporate" or nothing. */
const CATALOG: Readonly<Record<EventType, CatalogEntry>> = {
  fiatToCrypto: {
    subTypes: transactions.FIAT_TO_CRYPTO_SUB_TYPES,
    fields: transactions.FIAT_TO_CRYPTO_FIELDS,
    entityKinds: ENTITY_KINDS,
    subject: 'transactionUuid',
    versions: API_VERSIONS,
    subTypesMissing: { '2.2.8': ['PENDING', 'REFUNDED'] },
  },
  cryptoToFiat: {
    subTypes: transactions.CRYPTO_TO_FIAT_SUB_TYPES,
    fields: transactions.CRYPTO_TO_FIAT_FIELDS,
    entityKinds: ONLY_USERS,
    subject: 'transactionUuid',
    versions: API_VERSIONS,
    subTypesMissing: { '2.2.8': ['PENDING', 'REFUNDED'] },
  },
  KYC: {
    subTypes: identity.KYC_SUB_TYPES,
    fields: identity.KYC_FIELDS,
    entityKinds: ONLY_USERS,
    versions: API_VERSIONS,
    subTypesMissing: { '2.2.8': ['SUSPENDED'] },
  },
  KYB: {
    subTypes: identity.KYB_SUB_TYPES,
    fields: identity.KYB_FIELDS,
    entityKinds: ONLY_CORPORATES,
    versions: LATEST,
  },
  AML: {
    subTypes: identity.AML_SUB_TYPES,
    fields: identity.AML_FIELDS,
    entityKinds: ENTITY_KINDS,
    subject: 'transactionUuid',
    versions: LATEST,
  },
  serviceBankAccount: {
    subTypes: STATUS_UPDATE,
    fields: SERVICE_BANK_ACCOUNT_FIELDS,
    entityKinds: ENTITY_KINDS,
    subject: 'uuid',
    versions: API_VERSIONS,
  },
  entityStatusUpdate: {
    subTypes: identity.ENTITY_STATUS_SUB_TYPES,
    fields: identity.ENTITY_STATUS_FIELDS,
    entityKinds: ONLY_USERS,
    versions: LATEST,
  },
  walletCreated: {
    subTypes: WALLET_CREATED_SUB_TYPES,
    fields: WALLET_CREATED_FIELDS,
    entityKinds: ENTITY_KINDS,
    subject: 'uuid',
    versions: LATEST,
  },
  linkedBankAccountProfile: {
    subTypes: STATUS_UPDATE,
    fields: LINKED_BANK_ACCOUNT_PROFILE_FIELDS,
    entityKinds: ENTITY_KINDS,
    subject: 'uuid',
    versions: LATEST,
  },
  linkBankAccount: {
    subTypes: STATUS_UPDATE,
    fields: LINK_BANK_ACCOUNT_FIELDS,
    entityKinds: ENTITY_KINDS,
    subject: 'uuid',
    versions: LATEST,
  },
  duplicateUser: {
    subTypes: identity.DUPLICATE_USER_SUB_TYPES,
    fields: identity.DUPLICATE_USER_FIELDS,
    entityKinds: ENTITY_KINDS,
    versions: LATEST,
  },
  senderNameMismatch: {
    subTypes: transactions.SENDER_NAME_MISMATCH_SUB_TYPES,
    fields: transactions.SENDER_NAME_MISMATCH_FIELDS,
    entityKinds: ENTITY_KINDS,
    subject: 'transactionUuid',
    versions: LATEST,
  },
  otpNotification: {
    subTypes: identity.OTP_NOTIFICATION_SUB_TYPES,
    fields: identity.OTP_NOTIFICATION_FIELDS,
    entityKinds: ENTITY_KINDS,
    versions: LATEST,
  },
};

/** Every subType of every type, in the specification's order, whatever the version. */
export const SUB_TYPES = Object.fromEntries(
  EVENT_TYPES.map((type) => [type, CATALOG[type].subTypes]),
) as unknown as Readonly<Record<EventType, readonly string[]>>;

/** Returns the types of an API version, in the order of EVENT_TYPES. */
export function typesOf(version: ApiVersion): readonly EventType[] {
  return EVENT_TYPES.filter((type) => CATALOG[type].versions.includes(version));
}

/** Returns the subTypes of a type in an API version; empty when the version does not have the type. */
export function subTypesOf(type: EventType, version: ApiVersion): readonly string[] {
  const { subTypes, subTypesMissing, versions } = CATALOG[type];
  if (!versions.includes(version)) return [];
  const missing = subTypesMissing?.[version] ?? [];
  return subTypes.filter((subType) => !missing.includes(subType));
}

/** Returns whether events of the type concern users, corporates, or both. */
export function entityKindsOf(type: EventType): readonly EntityKind[] {
  return CATALOG[type].entityKinds;
}

/** Returns the field of `data` that names what events of the type are about; undefined: they are about the entity. */
export function subjectFieldOf(type: EventType): 'transactionUuid' | 'uuid' | undefined {
  return CATALOG[type].subject;
}

/** Returns the fields of a type's `data`, in the order in which bodies have them. */
export function fieldsOf(type: EventType): readonly Field[] {
  return CATALOG[type].fields;
}

/** Returns whether a field of `data` is shown on a subType in an API version. */
export function isShown(field: Field, subType: string, version: ApiVersion): boolean {
  return field.versions.includes(version) && (field.on === 'all' || field.on.includes(subType));
}
