import { describe, expect, it } from 'vitest';
import { subjectIdFrom, subjectIdOf, transactionIdOf } from '../../services/domain/catalog/subject.ts';
import { EVENT_TYPES, type EventType } from '../../services/domain/event.ts';

const ENTITY = '3f0c1d5e-8b1a-4a53-8f3f-2b7c6f0d9a11';
const OTHER = '7d9f0c52-4a57-4a39-9c57-3c1a5a6e2f10';

/** From docs/specification.md and docs/decisions.md, "Event data", by hand. */
const FIELD: Partial<Record<EventType, string>> = {
  fiatToCrypto: 'transactionUuid',
  cryptoToFiat: 'transactionUuid',
  senderNameMismatch: 'transactionUuid',
  AML: 'transactionUuid',
  serviceBankAccount: 'uuid',
  walletCreated: 'uuid',
  linkedBankAccountProfile: 'uuid',
  linkBankAccount: 'uuid',
};

describe('the subject of an event', () => {
  it.each(EVENT_TYPES)('of type %s is the field of its data, or the entity', (type) => {
    const data = { transactionUuid: OTHER, uuid: OTHER };
    expect(subjectIdOf({ type, entityId: ENTITY, data })).toBe(FIELD[type] === undefined ? null : OTHER);
    const transaction = FIELD[type] === 'transactionUuid' ? OTHER : null;
    expect(transactionIdOf(type, OTHER)).toBe(transaction);
    expect(transactionIdOf(type, null)).toBeNull();
  });

  it.each([
    ['null, as on LIMIT_BREACHED', { transactionUuid: null }],
    ['absent', {}],
    ['empty', { transactionUuid: '' }],
    ['no text', { transactionUuid: 7 }],
    ['longer than an id', { transactionUuid: 'x'.repeat(129) }],
    ['the entity’s own', { transactionUuid: ENTITY.toUpperCase() }],
  ])('is the entity where the field is %s', (_, data) => {
    expect(subjectIdOf({ type: 'cryptoToFiat', entityId: ENTITY, data })).toBeNull();
  });

  it('is a UUID in lower case, and any other id as it is', () => {
    expect(subjectIdFrom(OTHER.toUpperCase())).toBe(OTHER);
    expect(subjectIdFrom('LEDGER-7 ü')).toBe('LEDGER-7 ü');
    expect(subjectIdFrom('x'.repeat(128))).toHaveLength(128);
  });
});
