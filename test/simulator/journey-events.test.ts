/**
 * A journey's events are what the webhooks were rendered from, digit for digit; redacted, they name nobody, and are still
 * events that producers may send.
 */
import { describe, expect, test } from 'vitest';
import { decodeEventJson } from '../../services/codec/event-json.ts';
import { fieldsOf, SUB_TYPES } from '../../services/domain/catalog/catalog.ts';
import type { Field } from '../../services/domain/catalog/field.ts';
import { EVENT_TYPES } from '../../services/domain/event.ts';
import { renderBody } from '../../services/domain/versions/render.ts';
import { validAddress } from '../../services/samples/chains.ts';
import { validAba, validIban, validNuban } from '../../services/samples/check-digits.ts';
import { sampleEvent } from '../../services/samples/sample.ts';
import { dataOfBody } from '../../simulator/journey/event-of-body.ts';
import { REDACTED, redacted } from '../../simulator/journey/redact.ts';

const START = Date.parse('2030-01-31T12:00:00Z');

/** An event of every subType, in the currencies that have layouts of their own. */
const EVENTS = EVENT_TYPES.flatMap((type) =>
  SUB_TYPES[type].flatMap((subType) =>
    ['EUR', 'GBP', 'USD', 'NGN', 'KES'].map((currencyFiat) =>
      sampleEvent({
        type,
        subType,
        merchantId: 'merchant-1',
        entityId: '3f0c1d5e-8b1a-4a53-8f3f-2b7c6f0d9a11',
        seed: currencyFiat,
        occurredAt: START,
        choices: { currencyFiat },
      }),
    ),
  ),
);

const bodyOf = (event: (typeof EVENTS)[number]) => {
  const rendered = renderBody(event, '2.3.8', { senderAccountDetails: true });
  if (rendered.kind !== 'rendered') throw new Error(JSON.stringify(rendered));
  return Buffer.from(rendered.body).toString('utf8');
};

test('the event of every webhook body is restored, to the last digit of its amounts', () => {
  for (const event of EVENTS) {
    const { data: _, occurredAt, ...header } = event;
    const { type, ...rest } = header;
    const body = bodyOf(event);
    const decoded = decodeEventJson({
      type,
      header: { ...rest, occurredAt: new Date(occurredAt).toISOString() },
      data: dataOfBody(type, body),
    });
    if (!decoded.ok) throw new Error(`${type}/${event.subType}: ${JSON.stringify(decoded.errors)}`);
    expect(bodyOf(decoded.event)).toBe(body);
  }
});

test('a number of a body that JavaScript cannot hold keeps its digits', () => {
  const body =
    '{"data":{"amountFiat":0.10,"amountCrypto":123456789012345678.000000000000000001,"chain":"a \\"1\\""}}';
  expect(dataOfBody('fiatToCrypto', body)).toEqual({
    amountFiat: '0.10',
    amountCrypto: '123456789012345678.000000000000000001',
    chain: 'a "1"',
  });
});

describe('redaction', () => {
  /** Text that identifies nobody. A new field of the catalogue belongs here or among those that are redacted. */
  const KEPT = [
    'status',
    'direction',
    'currencyFiat',
    'currencyCrypto',
    'chain',
    'senderCountry',
    'currency',
    'country',
    'role',
    'sortCode',
    'routingNumber',
    'accountType',
    'bankCode',
    'bankName',
    'provider',
    'linkedBankAccountUuid',
    'uuid',
    'bank_country',
    'bic',
    'sort_code',
    'swift_code',
    'bank_code',
    'bank_name',
    'docType',
    'docSubType',
    'code',
    'kyc_status',
    'subject',
    'failureType',
    'matchResult',
    'action',
  ];

  test('every text of the catalogue is either redacted or known to identify nobody', () => {
    const textsOf = (fields: readonly Field[]): string[] =>
      fields.flatMap((field) => [
        ...(field.kind === 'string' ? [field.name] : []),
        ...textsOf(field.fields ?? []),
      ]);
    const texts = new Set(EVENT_TYPES.flatMap((type) => textsOf(fieldsOf(type))));
    expect([...texts].sort()).toEqual([...Object.keys(REDACTED), ...KEPT].sort());
  });

  test('replaces every name, account and address by another valid one, the same for the same seed', () => {
    const before = JSON.stringify(EVENTS.map(({ data }) => data));
    const after = redacted(EVENTS, 'a seed');
    expect(redacted(EVENTS, 'a seed')).toEqual(after);
    expect(redacted(EVENTS, 'another')).not.toEqual(after);
    const text = JSON.stringify(after.map(({ data }) => data));
    for (const secret of secretsIn(EVENTS)) {
      expect(before).toContain(secret);
      expect(text, secret).not.toContain(secret);
    }
    for (const [index, { type, data }] of after.entries()) {
      const json = JSON.stringify(data);
      for (const [iban] of json.matchAll(/\b[A-Z]{2}\d{2}[A-Z0-9]{12,}\b/g))
        expect(iban).toSatisfy(validIban);
      for (const account of accountsIn(data)) expect(account).toSatisfy(isValidAccount);
      const address = data.walletAddress ?? data.sendingAddress ?? data.address;
      if (address !== undefined) expect(validAddress(String(data.chain), String(address))).toBe(true);
      // It is an event that producers may send, about the same money.
      expect(bodyOf({ ...EVENTS[index], data } as never)).toContain(`"type":"${type}"`);
      expect(data.amountFiat).toBe(EVENTS[index]?.data.amountFiat);
    }
  });

  test('finds an e-mail address in text, also one that no field has', () => {
    const [event] = redacted(
      EVENTS.filter(({ type }) => type === 'entityStatusUpdate')
        .slice(0, 1)
        .map((blocked) => ({
          ...blocked,
          data: { ...blocked.data, reason: 'asked by jo.doe@real.io, DE89370400440532013000' },
        })),
      's',
    );
    const { reason } = event?.data ?? {};
    expect(reason).toMatch(/^asked by \S+@example\.com, DE\d{20}$/);
    expect(reason).not.toContain('DE89370400440532013000');
  });

  // biome-ignore lint/suspicious/noExplicitAny: data of any event.
  const accountsIn = (data: any) =>
    [data.senderDetails?.accountDetails, data.beneficiaryDetails?.accountDetails].filter(Boolean);

  // biome-ignore lint/suspicious/noExplicitAny: an account of any layout.
  function isValidAccount(account: any): boolean {
    if (account.currency === 'NGN') return validNuban(account.bankCode, account.accountNumber);
    if (account.currency === 'USD')
      return validAba(account.routingNumber) && /^\d{10}$/.test(account.accountNumber);
    if (account.currency === 'GBP') return /^\d{8}$/.test(account.accountNumber);
    return true;
  }

  function secretsIn(events: typeof EVENTS): readonly string[] {
    const found = new Set<string>();
    const search = (value: unknown, name: string) => {
      if (typeof value === 'string' && name in REDACTED && REDACTED[name] !== 'text') found.add(value);
      if (typeof value === 'object' && value !== null) {
        for (const [key, item] of Object.entries(value)) search(item, Array.isArray(value) ? name : key);
      }
    };
    for (const { data } of events) search(data, '');
    return [...found];
  }
});
