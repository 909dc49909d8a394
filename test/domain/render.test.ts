/**
 * A body is `{type, subType, uuid, data}` and what the presence table says, in its order and to the byte; an event that
 * breaks the table is named and not rendered.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldsOf, isShown, subTypesOf, typesOf } from '../../services/domain/catalog/catalog.ts';
import { API_VERSIONS, type ApiVersion } from '../../services/domain/endpoint.ts';
import type { DomainEvent, EventData, EventType } from '../../services/domain/event.ts';
import { uuidV5 } from '../../services/domain/ids.ts';
import { renderBody } from '../../services/domain/versions/render.ts';
import { sampleEvent } from '../../services/samples/sample.ts';
import { ALL_KINDS, sampleEvents } from '../samples/sample-options.ts';

const ENTITY = uuidV5('entity');

function sample(type: EventType, subType: string, data: EventData = {}): DomainEvent {
  const options = {
    type,
    subType,
    merchantId: 'm1',
    entityId: ENTITY,
    seed: 'render',
    occurredAt: 1_900_000_000_000,
  };
  const event = sampleEvent(options);
  return { ...event, data: { ...event.data, ...data } };
}

function textOf(event: DomainEvent, version: ApiVersion = '2.3.8', senderAccountDetails = true): string {
  const rendered = renderBody(event, version, { senderAccountDetails });
  if (rendered.kind !== 'rendered') throw new Error(`not rendered: ${JSON.stringify(rendered)}`);
  return Buffer.from(rendered.body).toString();
}

const dataOf = (event: DomainEvent, version: ApiVersion = '2.3.8', entitled = true) =>
  JSON.parse(textOf(event, version, entitled)).data;

describe('renderBody', () => {
  it('renders every sample in every version, or skips it if the version lacks it', () => {
    fc.assert(
      fc.property(
        sampleEvents,
        fc.constantFrom(...API_VERSIONS),
        fc.boolean(),
        (event, version, entitled) => {
          const rendered = renderBody(event, version, { senderAccountDetails: entitled });
          const { type, subType } = event;
          if (!typesOf(version).includes(type)) {
            expect(rendered).toEqual({ kind: 'skipped', reason: 'type_not_in_api_version' });
          } else if (!subTypesOf(type, version).includes(subType)) {
            expect(rendered).toEqual({ kind: 'skipped', reason: 'subtype_not_in_api_version' });
          } else {
            const body = JSON.parse(textOf(event, version, entitled));
            expect(Object.keys(body)).toEqual(['type', 'subType', 'uuid', 'data']);
            expect(body).toMatchObject({ type, subType, uuid: event.entityId });
            const order = fieldsOf(type).filter((field) => isShown(field, subType, version));
            const names = order.map(({ name }) => name).filter((name) => name in body.data);
            expect(Object.keys(body.data)).toEqual(names);
          }
        },
      ),
    );
  });

  it('writes amounts as digits, exact, without exponent or trailing zeros', () => {
    const event = sample('fiatToCrypto', 'SUCCESS', {
      amountFiat: '0.30',
      amountCrypto: '1.234567890123456789',
      fees: '0.0000001',
    });
    const text = textOf(event);
    expect(text).toContain('"amountFiat":0.3,');
    expect(text).toContain('"amountCrypto":1.234567890123456789,');
    expect(text).toContain('"fees":0.0000001,');
    expect(textOf(sample('fiatToCrypto', 'SUCCESS', { fees: '-0' }))).toContain('"fees":0,');
  });

  it('escapes text as JSON does', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (reason) => {
        const event = sample('entityStatusUpdate', 'BLOCKED', { reason });
        expect(dataOf(event).reason).toBe(reason);
      }),
    );
  });

  it('writes transactionUuid as null on LIMIT_BREACHED, whatever the event has, and no other null', () => {
    const event = sample('cryptoToFiat', 'LIMIT_BREACHED', { transactionUuid: ENTITY, chain: null });
    expect(dataOf(event)).toMatchObject({ transactionUuid: null, status: 'LIMIT_BREACHED' });
    expect(dataOf(event)).not.toHaveProperty('chain');
    for (const { type, subType } of ALL_KINDS) {
      const text = textOf(sample(type, subType));
      expect(text.includes('null')).toBe(subType === 'LIMIT_BREACHED');
    }
  });

  it('leaves out a field outside its subTypes', () => {
    const event = sample('fiatToCrypto', 'PENDING', {
      amountRefunded: '1',
      transactionHash: '0x',
      fees: '1',
    });
    const data = dataOf(event);
    for (const name of ['amountRefunded', 'transactionHash', 'fees']) expect(data).not.toHaveProperty(name);
  });

  it.each([
    [
      'serviceBankAccount',
      ['FAILED_CREATION', 'FAILED'],
      ['ACTIVE', 'WAITING_CREATION', 'DISABLED', 'OTHER'],
    ],
    ['linkedBankAccountProfile', ['FAILED_CREATION'], ['ACTIVE', 'WAITING_CREATION', 'DISABLED', 'FAILED']],
    ['linkBankAccount', ['FAILED'], ['ACTIVE', 'CHECK_COMPLETED', 'PENDING', 'DISABLED', 'FAILED_CREATION']],
  ] as const)('shows the error of %s only with a failed status', (type, failed, others) => {
    const dataWith = (status: string) => dataOf(sample(type, 'statusUpdate', { status, error: 'no' }));
    for (const status of failed) expect([status, dataWith(status).error]).toEqual([status, 'no']);
    for (const status of others) expect([status, 'error' in dataWith(status)]).toEqual([status, false]);
  });

  it('shows no error on a ledger or profile without a status', () => {
    for (const type of ['serviceBankAccount', 'linkedBankAccountProfile'] as const) {
      const event = sample(type, 'statusUpdate', { error: 'no' });
      const { status: _, ...data } = event.data;
      expect(dataOf({ ...event, data })).not.toHaveProperty('error');
    }
  });

  it('shows the error of a failed ledger in 2.2.8, where the status is called FAILED', () => {
    const event = sample('serviceBankAccount', 'statusUpdate', { status: 'FAILED_CREATION', error: 'no' });
    expect(dataOf(event, '2.2.8')).toMatchObject({ status: 'FAILED', error: 'no' });
  });

  it('shows the sender’s bank details only to entitled merchants', () => {
    const event = sample('fiatToCrypto', 'SUCCESS');
    expect(dataOf(event).senderDetails.accountDetails).toMatchObject({ currency: 'EUR' });
    expect(Object.keys(dataOf(event, '2.3.8', false).senderDetails)).toEqual(['senderName', 'senderCountry']);
  });

  it('names the missing field and renders nothing', () => {
    for (const { type, subType } of ALL_KINDS) {
      const event = sample(type, subType);
      for (const field of fieldsOf(type)) {
        if (!field.required || field.constant !== undefined || field.nullOn?.includes(subType)) continue;
        if (!isShown(field, subType, '2.3.8')) continue;
        const { [field.name]: _, ...data } = event.data;
        const rendered = renderBody({ ...event, data }, '2.3.8', { senderAccountDetails: false });
        expect(rendered).toMatchObject({ kind: 'invalid', pointer: `/data/${field.name}` });
      }
    }
  });

  it.each([
    ['an amount as a number', { amountFiat: 1.5 }, '/data/amountFiat'],
    ['an amount with an exponent', { amountFiat: '1e3' }, '/data/amountFiat'],
    ['an id that is none', { transactionUuid: 'x' }, '/data/transactionUuid'],
    ['details that are no object', { senderDetails: [] }, '/data/senderDetails'],
    [
      'details without their name',
      { senderDetails: { senderCountry: 'DE' } },
      '/data/senderDetails/senderName',
    ],
  ])('refuses %s', (_, data, pointer) => {
    const event = sample('fiatToCrypto', 'SUCCESS', data as EventData);
    expect(renderBody(event, '2.3.8', { senderAccountDetails: true })).toMatchObject({
      kind: 'invalid',
      pointer,
    });
  });

  it('refuses a subType that the type lacks, and an entity that could break out of the text', () => {
    const event = sample('KYC', 'FULL_USER');
    const render = (change: Partial<DomainEvent>) =>
      renderBody({ ...event, ...change }, '2.2.8', { senderAccountDetails: true });
    expect(render({ subType: 'SUCCESS' })).toMatchObject({ kind: 'invalid', pointer: '/subType' });
    expect(render({ entityId: '","data":{}}' })).toMatchObject({
      kind: 'invalid',
      pointer: '/header/entityId',
    });
  });
});

describe('renderBody for API 2.2.8', () => {
  it('uses the older names for two of the ledger’s statuses', () => {
    const status = (value: string, version: ApiVersion) =>
      dataOf(sample('serviceBankAccount', 'statusUpdate', { status: value }), version).status;
    expect(status('WAITING_CREATION', '2.2.8')).toBe('PENDING');
    expect(status('FAILED_CREATION', '2.2.8')).toBe('FAILED');
    expect(status('ACTIVE', '2.2.8')).toBe('ACTIVE');
    expect(status('DISABLED', '2.2.8')).toBe('DISABLED');
    expect(status('WAITING_CREATION', '2.3.8')).toBe('WAITING_CREATION');
  });

  it('leaves out the fields that came later', () => {
    const later = {
      amountRefunded: '1',
      sendingWalletAddress: '0x',
      linkedBankAccountUuid: ENTITY,
      beneficiaryDetails: {},
    };
    const onRamp = dataOf(sample('fiatToCrypto', 'SUCCESS', later), '2.2.8');
    const offRamp = dataOf(sample('cryptoToFiat', 'SUCCESS', later), '2.2.8');
    for (const name of [...Object.keys(later), 'senderDetails']) {
      expect(onRamp).not.toHaveProperty(name);
      expect(offRamp).not.toHaveProperty(name);
    }
    expect(onRamp).toHaveProperty('transactionHash');
  });
});
