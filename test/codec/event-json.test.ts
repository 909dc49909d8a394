/**
 * A producer's event in JSON is accepted whole or refused with every problem named by a pointer; nothing is dropped
 * silently. An accepted event has one canonical form.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeEventJson, eventToJson } from '../../services/codec/events.ts';
import type { EventData } from '../../services/domain/event.ts';
import { uuidV5 } from '../../services/domain/ids.ts';
import { sampleEvent } from '../../services/samples/sample.ts';
import { sampleEvents } from '../samples/sample-options.ts';

const EVENT = sampleEvent({
  type: 'fiatToCrypto',
  subType: 'SUCCESS',
  merchantId: 'm1',
  entityId: uuidV5('entity'),
  seed: 'json',
  occurredAt: 1_900_000_000_000,
});
const JSON_FORM = eventToJson(EVENT);

const withHeader = (header: object) => ({ ...JSON_FORM, header: { ...JSON_FORM.header, ...header } });
const withData = (data: object) => ({ ...JSON_FORM, data: { ...JSON_FORM.data, ...data } });

/** `pointer code` of each problem, sorted. */
function problemsOf(value: unknown): string[] {
  const decoded = decodeEventJson(value);
  return decoded.ok ? [] : decoded.errors.map(({ pointer, code }) => `${pointer} ${code}`).sort();
}

function eventOf(value: unknown) {
  const decoded = decodeEventJson(value);
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.errors));
  return decoded.event;
}

describe('decodeEventJson', () => {
  it('gives back every event that eventToJson wrote, through text', () => {
    fc.assert(
      fc.property(sampleEvents, (event) => {
        expect(eventOf(JSON.parse(JSON.stringify(eventToJson(event))))).toEqual(event);
      }),
    );
  });

  it('never throws, whatever its input', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true }), (value) => {
        expect(decodeEventJson(value).ok).toBe(false);
        expect(decodeEventJson(withData({ senderDetails: value, status: value })).ok).toBe(false);
        expect(decodeEventJson({ ...JSON_FORM, header: value }).ok).toBe(false);
      }),
    );
  });

  it('brings values into canonical form', () => {
    const event = eventOf({
      ...withHeader({
        eventId: EVENT.eventId.toUpperCase(),
        occurredAt: '2030-03-17T18:46:40+01:00',
        simulated: undefined,
      }),
      data: { ...JSON_FORM.data, amountFiat: '0250.00', chain: null, direction: 'fiatToCrypto' },
    });
    const { chain: _, ...data } = EVENT.data;
    expect(event).toEqual({ ...EVENT, data: { ...data, amountFiat: '250' } });
    expect(Object.keys(event.data)).toEqual(Object.keys(data));
    expect(eventOf(withHeader({ occurredAt: 1_900_000_000_000 }))).toEqual(EVENT);
  });

  it('names every problem at once', () => {
    const broken = {
      ...withHeader({ eventId: 'x', entityKind: 'ROBOT', occurredAt: '2026-02-30T00:00:00Z', eventID: 1 }),
      data: {
        ...JSON_FORM.data,
        status: 'lower case',
        amountFiat: 250,
        fees: '1e2',
        transactionHash: null,
        amountCrypto: '0.1234567890123456789',
        amountFait: '1',
      },
      extra: true,
    };
    expect(problemsOf(broken)).toEqual(
      [
        '/extra unknown_field',
        '/header/eventID unknown_field',
        '/header/eventId invalid_value',
        '/header/entityKind invalid_enum',
        '/header/occurredAt invalid_value',
        '/data/status invalid_value',
        '/data/amountFiat invalid_type',
        '/data/fees invalid_value',
        '/data/transactionHash required',
        '/data/amountCrypto invalid_value',
        '/data/amountFait unknown_field',
      ].sort(),
    );
  });

  it('suggests the nearest names', () => {
    const detail = (value: unknown) => {
      const decoded = decodeEventJson(value);
      return decoded.ok ? '' : decoded.errors.map((error) => error.detail).join('\n');
    };
    expect(detail({ ...JSON_FORM, type: 'fiatToCripto' })).toContain('did you mean fiatToCrypto');
    expect(detail(withHeader({ subType: 'SUCESS' }))).toContain('did you mean SUCCESS');
    expect(detail(withData({ amountFait: '1' }))).toContain('did you mean amountFiat');
  });

  it.each([
    ['no object', [], [' invalid_type']],
    ['nothing in it', {}, ['/header required', '/type required']],
    ['no data', { ...JSON_FORM, data: undefined }, ['/data required']],
    ['data that is a list', { ...JSON_FORM, data: [] }, ['/data invalid_type']],
    ['an empty merchant', withHeader({ merchantId: '' }), ['/header/merchantId invalid_value']],
    ['a long merchant', withHeader({ merchantId: 'm'.repeat(129) }), ['/header/merchantId invalid_value']],
    ['21 integer digits', withData({ fees: '1'.repeat(21) }), ['/data/fees invalid_value']],
    ['an amount below zero', withData({ amountFiat: '-0.01' }), ['/data/amountFiat invalid_value']],
    ['a currency of four letters', withData({ currencyFiat: 'EURO' }), ['/data/currencyFiat invalid_value']],
    ['a currency in small letters', withData({ currencyFiat: 'eur' }), ['/data/currencyFiat invalid_value']],
    ['an unpaired surrogate', withData({ chain: '\ud800' }), ['/data/chain invalid_value']],
    ['too long a text', withData({ chain: 'x'.repeat(2_001) }), ['/data/chain invalid_value']],
    ['another direction', withData({ direction: 'cryptoToFiat' }), ['/data/direction invalid_enum']],
    ['a time before 1970', withHeader({ occurredAt: -1 }), ['/header/occurredAt invalid_value']],
    [
      'no offset in the time',
      withHeader({ occurredAt: '2030-01-01T00:00:00' }),
      ['/header/occurredAt invalid_value'],
    ],
    [
      'a stranger inside',
      withData({ senderDetails: { senderName: 'A', senderCountry: 'DE', 'a/b~': 1 } }),
      ['/data/senderDetails/a~1b~0 unknown_field'],
    ],
    [
      '__proto__',
      JSON.parse(`{"type":"KYC","header":{},"data":{},"__proto__":{}}`),
      ['/__proto__ unknown_field'],
    ],
  ])('refuses %s', (_, value, expected) => {
    for (const problem of expected) expect(problemsOf(value)).toContain(problem);
  });

  it('takes 20 integer and 18 fraction digits', () => {
    const largest = `${'9'.repeat(20)}.${'9'.repeat(18)}`;
    expect(eventOf(withData({ fees: largest })).data.fees).toBe(largest);
  });

  it.each(['DEU', 'de', 'D', 'D1', 'Germany'])('refuses the country %s', (senderCountry) => {
    const senderDetails = { senderName: 'A', senderCountry };
    expect(problemsOf(withData({ senderDetails }))).toEqual([
      '/data/senderDetails/senderCountry invalid_value',
    ]);
  });

  it('takes zero as an amount, however it is written', () => {
    for (const fees of ['0', '-0', '0.00']) expect(eventOf(withData({ fees })).data.fees).toBe('0');
  });

  it.each([
    ['serviceBankAccount', 'statusUpdate', 'bank_country', 'GBR'],
    ['serviceBankAccount', 'statusUpdate', 'currency', 'pounds'],
    ['KYB', 'CREATED', 'country', 'GBR'],
    ['senderNameMismatch', 'DETECTED', 'currencyFiat', 'E'],
    ['senderNameMismatch', 'DETECTED', 'amountFiat', '-1'],
    ['cryptoToFiat', 'SUCCESS', 'currencyFiat', 'E1R'],
    ['cryptoToFiat', 'LIMIT_BREACHED', 'limit', '-5'],
  ] as const)('refuses %s %s whose %s is %s', (type, subType, field, value) => {
    const { entityKind: _, ...head } = EVENT;
    const json = eventToJson(sampleEvent({ ...head, type, subType, seed: 'form' }));
    expect(problemsOf(json)).toEqual([]);
    const broken = { ...json, data: { ...json.data, [field]: value } };
    expect(problemsOf(broken)).toEqual([`/data/${field} invalid_value`]);
  });

  it('names positions in lists', () => {
    const kyc = sampleEvent({
      ...EVENT,
      type: 'KYC',
      subType: 'SOFT_KYC_FAILED',
      entityKind: 'USER',
      seed: 'k',
    });
    const given = (data: EventData) => ({ ...eventToJson(kyc), data: { ...kyc.data, ...data } });
    expect(problemsOf(given({ docs_missing: [{ docType: 'SELFIE' }, { docType: 'x' }, {}] }))).toEqual([
      '/data/docs_missing/1/docType invalid_value',
      '/data/docs_missing/2/docType required',
    ]);
    expect(problemsOf(given({ kyc_reject_label: ['A', 1] }))).toEqual([
      '/data/kyc_reject_label/1 invalid_type',
    ]);
    expect(problemsOf(given({ kyc_reject_label: Array(101).fill('A') }))).toEqual([
      '/data/kyc_reject_label invalid_value',
    ]);
  });

  it('accepts both kinds of entity, and no transaction on LIMIT_BREACHED', () => {
    const kyb = sampleEvent({ ...EVENT, type: 'KYB', subType: 'ACTIVE', entityKind: 'CORPORATE', seed: 'k' });
    const user = { ...eventToJson(kyb), header: { ...eventToJson(kyb).header, entityKind: 'USER' } };
    expect(problemsOf(user)).toEqual([]);
    const breach = sampleEvent({ ...EVENT, type: 'cryptoToFiat', subType: 'LIMIT_BREACHED', seed: 'l' });
    const given = (transactionUuid: string | null) => ({
      ...eventToJson(breach),
      data: { ...breach.data, transactionUuid },
    });
    expect(problemsOf(given(null))).toEqual([]);
    expect(problemsOf(given(EVENT.eventId))).toEqual(['/data/transactionUuid invalid_value']);
  });

  it.each([
    ['a letter', 'A', true],
    ['64 characters', 'A'.repeat(64), true],
    ['digits and underscores', 'ON_HOLD_2', true],
    ['65 characters', 'A'.repeat(65), false],
    ['a small letter', 'On_HOLD', false],
    ['a digit first', '2_ON_HOLD', false],
    ['a space', 'ON HOLD', false],
    ['nothing', '', false],
  ])('reads a status that it does not know by its form: %s', (_, status, isRead) => {
    expect(problemsOf(withData({ status }))).toEqual(isRead ? [] : ['/data/status invalid_value']);
  });

  it('returns at most twenty problems, and none with a value of data', () => {
    const names = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`x${i}`, 'SECRET-IBAN']));
    const decoded = decodeEventJson(withData({ ...names, status: 'SECRET-IBAN' }));
    expect(decoded.ok ? [] : decoded.errors).toHaveLength(20);
    expect(JSON.stringify(decoded)).not.toContain('SECRET-IBAN');
  });
});
