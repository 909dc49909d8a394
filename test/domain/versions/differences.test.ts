/**
 * Guarantee: the list of what two versions of the API write differently is complete and has nothing else: it equals what
 * differs between the bodies of sample events of every type, subType, status and currency, and the schemas of the webhooks.
 */
import { describe, expect, test } from 'vitest';
import { fieldsOf, SUB_TYPES, subTypesOf } from '../../../services/domain/catalog/catalog.ts';
import { EVENT_TYPES, type EventType } from '../../../services/domain/event.ts';
import { compareBodies, isDifferent } from '../../../services/domain/versions/body-differences.ts';
import { renderBody } from '../../../services/domain/versions/render.ts';
import { fieldDifferences, typeDifferences } from '../../../services/domain/versions/version-differences.ts';
import { sampleEvent } from '../../../services/samples/sample.ts';

const OLDER = '2.2.8';
const NEWER = '2.3.8';
const CURRENCIES = ['EUR', 'GBP', 'USD', 'NGN', 'KES'];
const SEEDS = ['one', 'two', 'three', 'four', 'five', 'six'];
const ENTITLED = { senderAccountDetails: true };

/** The paths at which bodies of samples differ, such as "fiatToCrypto data.sendingWalletAddress". */
function pathsOfSamples(): Set<string> {
  const found = new Set<string>();
  for (const [type, subType] of EVENT_TYPES.flatMap((each) =>
    SUB_TYPES[each].map((sub) => [each, sub] as const),
  ))
    for (const event of samplesOf(type, subType)) {
      const [older, newer] = [renderBody(event, OLDER, ENTITLED), renderBody(event, NEWER, ENTITLED)];
      if (older.kind !== 'rendered' || newer.kind !== 'rendered') continue;
      const text = (body: Uint8Array) => Buffer.from(body).toString();
      for (const field of compareBodies(text(older.body), text(newer.body)).filter(isDifferent))
        found.add(`${type} ${field.path.replaceAll(/\[\d+\]/g, '[]')}`);
    }
  return found;
}

function samplesOf(type: EventType, subType: string) {
  const statuses = fieldsOf(type).find(({ name }) => name === 'status')?.values ?? [];
  const common = {
    type,
    subType,
    // The same in every run: a sample of a currency has one of several kinds of accounts, which its ids choose.
    merchantId: '2f6c1f0a-6f1d-4a53-9b8e-5a0c7d2e4b11',
    entityId: '7d9f0c52-4a57-4a39-9c57-3c1a5a6e2f10',
    occurredAt: 1_740_824_129_000,
  };
  const samples = CURRENCIES.flatMap((currency) =>
    SEEDS.map((seed) =>
      sampleEvent({
        ...common,
        seed: `${currency} ${seed}`,
        choices: ['fiatToCrypto', 'cryptoToFiat'].includes(type) ? { currencyFiat: currency } : {},
      }),
    ),
  );
  const [first] = samples;
  if (first === undefined) return [];
  return [...samples, ...statuses.map((status) => ({ ...first, data: { ...first.data, status } }))];
}

test('all that samples show differently is in the list', () => {
  const listed = fieldDifferences(OLDER, NEWER).map(({ type, path }) => `${type} ${path}`);
  const shown = pathsOfSamples();
  expect(shown.size).toBeGreaterThan(5);
  expect([...shown].filter((each) => !listed.includes(each))).toEqual([]);
});

test('fields that both versions have, and write alike, are not in the list', () => {
  const shown = pathsOfSamples();
  // No sample has it in both: a refund, which 2.2.8 does not have.
  const unseen = /amountRefunded$/;
  const listed = fieldDifferences(OLDER, NEWER).map(({ type, path }) => `${type} ${path}`);
  expect(listed.filter((each) => !shown.has(each) && !unseen.test(each))).toEqual([]);
});

test('types and subTypes of one version only are listed whole', () => {
  const listed = typeDifferences(OLDER, NEWER);
  for (const type of EVENT_TYPES) {
    const found = listed.find((each) => each.type === type);
    const [older, newer] = [subTypesOf(type, OLDER), subTypesOf(type, NEWER)];
    expect([type, found?.older ?? newer, found?.newer ?? newer]).toEqual([type, older, newer]);
  }
  expect(listed.find(({ type }) => type === 'KYC')?.older).not.toContain('SUSPENDED');
  expect(listed.find(({ type }) => type === 'KYB')?.older).toEqual([]);
  expect(listed.some(({ type }) => type === 'serviceBankAccount')).toBe(false);
});

test('names of values that changed are listed with both', () => {
  const renamed = fieldDifferences(OLDER, NEWER).filter((each) => each.renamed);
  expect(renamed).toEqual([
    expect.objectContaining({
      type: 'serviceBankAccount',
      path: 'data.status',
      renamed: { WAITING_CREATION: 'PENDING', FAILED_CREATION: 'FAILED' },
    }),
  ]);
});

describe('two bodies', () => {
  const differing = (older: string, newer: string) => compareBodies(older, newer).filter(isDifferent);

  test('are compared digit by digit', () => {
    const [a, b] = [
      '{"amount":12345678901234567890.123456789012345678}',
      '{"amount":12345678901234567890.123456789012345679}',
    ];
    expect(differing(a, a)).toEqual([]);
    expect(differing(a, b)).toEqual([{ path: 'amount', older: a.slice(10, -1), newer: b.slice(10, -1) }]);
  });

  test('may each have fields that the other has not, null and empty values too', () => {
    expect(
      differing('{"a":1,"gone":"x","n":null,"l":[]}', '{"a":1,"new":{"in":[{"b":true}]},"n":"null","l":[0]}'),
    ).toEqual([
      { path: 'new.in[0].b', older: undefined, newer: 'true' },
      { path: 'n', older: 'null', newer: '"null"' },
      { path: 'l[0]', older: undefined, newer: '0' },
      { path: 'gone', older: '"x"', newer: undefined },
      { path: 'l', older: '[]', newer: undefined },
    ]);
  });
});
