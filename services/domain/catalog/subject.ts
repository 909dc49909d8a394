/**
 * The subject of an event: the transaction, the account, the profile, the wallet; else the user or corporate. It is what a
 * merchant searches for (docs/api.md, "Find by transaction").
 */
import { type DomainEvent, EVENT_TYPES, type EventType } from '../event.ts';
import { isUuid } from '../ids.ts';
import { isNoticeType, type WebhookType } from '../notices/notice.ts';
import { subjectFieldOf } from './catalog.ts';

/** The longest id that is kept as a subject, in UTF-16 units: an id of a bank may be no UUID. */
const SUBJECT_LENGTH_MAX = 128;

/** The types whose subject is a transaction, where their events name one. */
export const TRANSACTION_TYPES: readonly EventType[] = EVENT_TYPES.filter(
  (type) => subjectFieldOf(type) === 'transactionUuid',
);

/**
 * Returns the id in `data` of what the event is about, a UUID in lower case; null when it is about the entity: LIMIT_BREACHED
 * has no transaction, and what is no id cannot be searched for.
 */
export function subjectIdOf({
  type,
  entityId,
  data,
}: Pick<DomainEvent, 'type' | 'entityId' | 'data'>): string | null {
  const field = subjectFieldOf(type);
  const value = field === undefined ? undefined : data[field];
  if (typeof value !== 'string') return null;
  const subjectId = subjectIdFrom(value);
  return subjectId === entityId ? null : subjectId;
}

/** Returns an id as subjects are kept and searched for; null when none can be. */
export function subjectIdFrom(text: string): string | null {
  if (isUuid(text)) return text.toLowerCase();
  return text.length > 0 && text.length <= SUBJECT_LENGTH_MAX ? text : null;
}

/** Returns the id of the transaction that an event is about; null when it is about something else. */
export function transactionIdOf(type: WebhookType, subjectId: string | null): string | null {
  if (isNoticeType(type)) return null;
  return subjectFieldOf(type) === 'transactionUuid' ? subjectId : null;
}

/** The kinds of subject. */
export const SUBJECT_KINDS = [
  'transaction',
  'bank_account',
  'bank_account_profile',
  'linked_bank_account',
  'wallet',
  'entity',
] as const;
export type SubjectKind = (typeof SUBJECT_KINDS)[number];

const KIND_OF_TYPE: Partial<Readonly<Record<EventType, SubjectKind>>> = {
  serviceBankAccount: 'bank_account',
  linkedBankAccountProfile: 'bank_account_profile',
  linkBankAccount: 'linked_bank_account',
  walletCreated: 'wallet',
};

/** Returns the kind of thing that an event is about. */
export function subjectKindOf(type: WebhookType, subjectId: string | null): SubjectKind {
  if (subjectId === null || isNoticeType(type)) return 'entity';
  return KIND_OF_TYPE[type] ?? (subjectFieldOf(type) === 'transactionUuid' ? 'transaction' : 'entity');
}
