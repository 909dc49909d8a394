/** A stream that has not the whole feed: filtered, with bodies, and resumable as every other. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { subjectIdOf } from '../../../services/domain/catalog/subject.ts';
import { mismatch } from '../../support/api/openapi-check.ts';
import { createEndpoint, startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { eventually } from '../../support/eventually.ts';
import {
  bodyOf,
  delivered,
  eventNumber,
  head,
  journalOf,
  requested,
  routed,
} from '../../support/records/journal-entries.ts';
import { openStream, type StreamReader } from '../../support/service/stream-client.ts';

/** More entries than are read together, with bodies or without. */
const MANY = 250;

let api: TestApi;
let one: string;
let two: string;
let apply: ReturnType<typeof journalOf>;
const readers: StreamReader[] = [];
beforeEach(async () => {
  api = await startTestApi();
  apply = journalOf(api.store);
  one = (await createEndpoint(api)).uuid;
  two = (await createEndpoint(api)).uuid;
});
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  await api.close();
});

async function open(query: string, lastEventId?: string) {
  const reader = await openStream(api.api.url, api.keys.own, {
    query,
    ...(lastEventId === undefined ? {} : { lastEventId }),
  });
  expect(reader.status).toBe(200);
  readers.push(reader);
  return reader;
}

/** Reads a stream after an id: names of events and their event's number. */
async function past(query: string, lastEventId = '0'): Promise<StreamReader> {
  const reader = await open(`?seconds=0${query}`, lastEventId);
  await reader.over;
  return reader;
}

const short = ({ events }: StreamReader) =>
  events.flatMap(({ event, data }) =>
    event === 'end' ? [] : [`${event} ${data.event_uuid ?? data.endpoint_uuid}`],
  );

test('sends what matches the filter, live and past', async () => {
  const kyc = eventNumber(api.merchantId, 1, {
    type: 'KYC',
    subType: 'FULL_USER',
    entityId: crypto.randomUUID(),
  });
  const transaction = eventNumber(api.merchantId, 2);
  const subject = subjectIdOf(transaction);
  const live = await open(`?transaction_uuid=${subject}`);
  await apply(routed(kyc, [one]), delivered(head(kyc, one)));
  await apply(routed(transaction, [one], [two]), delivered(head(transaction, one)));
  const ofTransaction = ['routed', 'skipped', 'attempt'].map((name) => `${name} ${transaction.eventId}`);
  const ofKyc = ['routed', 'attempt'].map((name) => `${name} ${kyc.eventId}`);
  await eventually('all has come', () => live.events.length >= 3);
  expect(short(live)).toEqual(ofTransaction);
  expect(short(await past(`&transaction_uuid=${subject}`))).toEqual(ofTransaction);
  expect(short(await past(`&subject_uuid=${subject}`))).toEqual(ofTransaction);
  expect(short(await past(`&subject_uuid=${kyc.entityId}`))).toEqual(ofKyc);
  expect(short(await past(`&entity_uuid=${kyc.entityId}`))).toEqual(ofKyc);
  expect(short(await past('&type=KYC'))).toEqual(ofKyc);
  expect(short(await past(`&endpoint_uuid=${two}`))).toEqual([
    `endpoint_changed ${two}`,
    `skipped ${transaction.eventId}`,
  ]);
  expect(short(await past(`&endpoint_uuid=${one}&type=KYC`))).toEqual(ofKyc);
});

test('moves its id on where everything is left out, and resumes after it', async () => {
  const quiet = await open('?type=KYC');
  const opened = quiet.lastEventId;
  const others = Array.from({ length: MANY }, (_, n) => eventNumber(api.merchantId, n));
  await apply(...others.map((event) => routed(event, [one])));
  const head = await api.store.feed.head(api.merchantId);
  await eventually('the id is at the head', () => quiet.lastEventId === head);
  expect(opened).not.toBe(head);
  expect(quiet.events).toEqual([]);
  const kyc = eventNumber(api.merchantId, 9, { type: 'KYC', subType: 'FULL_USER' });
  await apply(routed(kyc, [one]));
  expect(short(await past('&type=KYC', head))).toEqual([`routed ${kyc.eventId}`]);
  const whole = await past('', '0');
  const [middle] = whole.events.slice(100);
  const rest = await past('&type=fiatToCrypto', middle?.id);
  expect(short(rest)).toEqual(short(whole).slice(101, -1));
});

test('has the bodies on request, whole and in order', async () => {
  const live = await open('?include=body');
  const events = Array.from({ length: MANY }, (_, n) => eventNumber(api.merchantId, n));
  await apply(...events.map((event) => routed(event, [one], [two])));
  const again = head(events[0] ?? eventNumber(api.merchantId, 0), one, {
    deliveryId: crypto.randomUUID(),
    trigger: 'manual',
  });
  await apply(requested(again, Buffer.from('{"its":"own"}')));
  await eventually('all has come', () => live.events.length >= 2 * MANY + 1);
  const expected = [...events.map((event) => Buffer.from(bodyOf(event)).toString()), '{"its":"own"}'];
  for (const reader of [live, await past('&include=body', live.events[0]?.id && '0')]) {
    const sent = reader.events.filter(({ event }) => event === 'routed');
    expect(sent.map(({ data }) => data.body)).toEqual(expected);
    expect(new Set(sent.map(({ data }) => data.body_removed))).toEqual(new Set([false]));
    for (const { data } of sent.slice(0, 3))
      expect(mismatch('/components/schemas/StreamRouted', data)).toBeUndefined();
    const ids = reader.events.flatMap(({ id }) => id ?? []);
    expect(new Set(ids).size).toBeGreaterThanOrEqual(2 * MANY + 1);
    expect(reader.lastEventId).toBe(await api.store.feed.head(api.merchantId));
  }
  const without = await past('');
  expect(without.events.some(({ data }) => 'body' in data)).toBe(false);
});

test('refuses what is no filter', async () => {
  const reader = await openStream(api.api.url, api.keys.own, { query: '?include=everything' });
  readers.push(reader);
  expect(reader.status).toBe(400);
});
