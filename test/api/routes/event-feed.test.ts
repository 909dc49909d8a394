/**
 * The event feed: every event exactly once with its body, from a cursor that never ends, whatever is recorded meanwhile.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { subjectIdOf } from '../../../services/domain/catalog/subject.ts';
import type { DomainEvent } from '../../../services/domain/event.ts';
import { renderBody } from '../../../services/domain/versions/render.ts';
import { startTestApi, type TestApi, type TestApiOptions } from '../../support/api/test-api.ts';
import {
  eventNumber,
  HOUR_MS,
  journalOf,
  OPERATOR,
  routed,
  START,
} from '../../support/records/journal-entries.ts';

const FEED = '/merchant/events?order=asc';
const MANY = 10_000;
const RECORDED_TOGETHER = 500;
/** Much more than it takes: 10,000 events are to be read in ten seconds. */
const MANY_READ_MS_MAX = 60_000;

let api: TestApi;
afterEach(() => api.close());

async function start(options: TestApiOptions = {}) {
  api = await startTestApi(options);
  return journalOf(api.store);
}

interface Item {
  readonly event_uuid: string;
  readonly body: string | null;
  readonly body_removed: boolean;
}

/** Reads from a cursor to the end; returns what there was and the last cursor. */
async function readOn(
  cursor?: string,
  query = '',
): Promise<{ items: Item[]; cursor: string; pages: number }> {
  const items: Item[] = [];
  for (let [pages, from] = [1, cursor]; ; pages += 1) {
    const page = await api.call('GET', `${FEED}${query}${from === undefined ? '' : `&cursor=${from}`}`);
    expect([page.status, page.body.gap]).toEqual([200, null]);
    items.push(...page.body.data);
    from = page.body.next_cursor as string;
    if (!page.body.has_more) return { items, cursor: from, pages };
  }
}

const numbered = (n: number) => eventNumber(api.merchantId, n);
const idsOf = (events: readonly (Item | DomainEvent)[]) =>
  events.map((event) => ('eventId' in event ? event.eventId : event.event_uuid));

test('has every event once, oldest first as recorded, and continues from its last cursor', async () => {
  const apply = await start();
  const none = await readOn();
  expect(none.items).toEqual([]);
  const endpointId = randomUUID();
  await apply(routed(numbered(5), [endpointId]), routed(numbered(4), [], [endpointId]));
  await apply(routed(eventNumber(api.foreignMerchantId, 50), [randomUUID()]));
  const first = await readOn(none.cursor, '&limit=1');
  expect(idsOf(first.items)).toEqual(idsOf([numbered(5), numbered(4)]));
  // It happened first, and is recorded last.
  await apply(routed(numbered(1), []));
  const second = await readOn(first.cursor);
  expect(idsOf(second.items)).toEqual(idsOf([numbered(1)]));
  const third = await readOn(second.cursor);
  expect(third).toMatchObject({ items: [], cursor: second.cursor });
  const [listed] = (await api.call('GET', '/merchant/events?limit=1')).body.data;
  expect(listed).toEqual(first.items[0]);
});

test('is read at a pace: a page waits for its turn, and nothing else does', async () => {
  await start();
  const startedAt = api.clock.now();
  for (let page = 0; page < 5; page += 1) expect((await api.call('GET', FEED)).status).toBe(200);
  // Two at once, then six a second.
  expect(api.clock.now() - startedAt).toBeGreaterThanOrEqual(495);
  let waiting = 20;
  const pages = Array.from({ length: waiting }, () =>
    api.call('GET', FEED).then(() => {
      waiting -= 1;
    }),
  );
  expect((await api.call('GET', '/merchant/events')).status).toBe(200);
  expect(waiting).toBeGreaterThan(10);
  await Promise.all(pages);
});

test('has the body in the version asked for, with the fields that the merchant may see, until it is erased', async () => {
  const apply = await start();
  const events = [numbered(1), eventNumber(api.merchantId, 2, { entityId: randomUUID() })];
  await apply(...events.map((event) => routed(event, [])));
  const bodies = async (query = '') => (await readOn(undefined, `&include=body${query}`)).items;
  const expected = (version: '2.2.8' | '2.3.8', senderAccountDetails: boolean) =>
    events.map((event) => {
      const rendered = renderBody(event, version, { senderAccountDetails });
      return rendered.kind === 'rendered' ? Buffer.from(rendered.body).toString() : null;
    });
  expect((await bodies()).map(({ body }) => body)).toEqual(expected('2.3.8', false));
  const old = (await bodies('&api_version=2.2.8')).map(({ body }) => body);
  expect(old).toEqual(expected('2.2.8', false));
  expect(old).not.toEqual(expected('2.3.8', false));
  const newest = (await api.call('GET', '/merchant/events?include=body&api_version=2.2.8&limit=500')).body
    .data;
  expect(newest.map(({ body }: Item) => body).reverse()).toEqual(expected('2.2.8', false));
  await api.store.merchants.update(api.merchantId, { senderAccountDetails: true });
  expect((await bodies()).map(({ body }) => body)).toEqual(expected('2.3.8', true));
  expect(expected('2.3.8', true)).not.toEqual(expected('2.3.8', false));
  const { entityId } = events[1] as DomainEvent;
  const id = await api.store.erasures.order(
    { entityId, merchantId: null },
    { at: START + 99 * HOUR_MS, actor: OPERATOR },
  );
  for (let after: string | undefined, next: string | null = ''; next !== null; after = next ?? undefined)
    ({ next } = await api.store.erasures.step(id, after));
  const left = await bodies();
  expect(left.map(({ body }) => body === null)).toEqual([false, true]);
  expect(left.map(({ body_removed }) => body_removed)).toEqual([false, true]);
});

test('selects by what the list selects by', async () => {
  const apply = await start();
  const [one, two] = [randomUUID(), randomUUID()];
  const kyc = eventNumber(api.merchantId, 1, { type: 'KYC', subType: 'FULL_USER', entityId: randomUUID() });
  const transaction = numbered(2);
  await apply(routed(kyc, [one], [two]), routed(transaction, [two]));
  const selected = async (query: string) => idsOf((await readOn(undefined, query)).items);
  const subject = subjectIdOf(transaction);
  expect(await selected('&type=KYC')).toEqual(idsOf([kyc]));
  expect(await selected(`&transaction_uuid=${subject}`)).toEqual(idsOf([transaction]));
  expect(await selected(`&subject_uuid=${subject}`)).toEqual(idsOf([transaction]));
  expect(await selected(`&entity_uuid=${kyc.entityId}`)).toEqual(idsOf([kyc]));
  expect(await selected(`&endpoint_uuid=${two}&verdict=routed`)).toEqual(idsOf([transaction]));
  expect(await selected(`&since=${new Date(START + 1.5 * HOUR_MS).toISOString()}`)).toEqual(
    idsOf([transaction]),
  );
});

test('tells a gap, and a cursor continues what it came from, whatever the order says', async () => {
  const apply = await start();
  for (let n = 0; n < 4; n += 1) await apply(routed(numbered(n), []));
  const { next_cursor: cursor } = (await api.call('GET', `${FEED}&limit=1`)).body;
  while ((await api.store.feed.retain(START + 2 * HOUR_MS, 100)) > 0);
  const cut = (await api.call('GET', `${FEED}&cursor=${cursor}`)).body;
  expect([cut.gap, idsOf(cut.data)]).toEqual(['retention', idsOf([2, 3].map(numbered))]);
  const { next_cursor: ofList } = (await api.call('GET', '/merchant/events?limit=1')).body;
  const refused = async (query: string) => {
    const { status, body } = await api.call('GET', `/merchant/events?${query}`);
    return [status, body.code, body.errors?.[0]?.pointer];
  };
  const invalid = (name: string) => [400, 'validation_error', `/query/${name}`];
  const page = async (query: string) => (await api.call('GET', `/merchant/events?${query}`)).body;
  expect(await page(`cursor=${cut.next_cursor}&limit=9`)).toEqual(
    await page(`order=asc&cursor=${cut.next_cursor}&limit=9`),
  );
  expect(await page(`order=asc&cursor=${ofList}`)).toEqual(await page(`cursor=${ofList}`));
  expect(await refused('order=asc&cursor=ZmVlZC94')).toEqual(invalid('cursor'));
  expect(await refused('order=asc&limit=501')).toEqual(invalid('limit'));
  expect(await refused('order=up')).toEqual(invalid('order'));
});

test('counts in a rate class of its own', async () => {
  await start({ rateLimitPerMinute: 2, feedRateLimitPerMinute: 3 });
  const answers: number[] = [];
  for (let n = 0; n < 4; n += 1) answers.push((await api.call('GET', FEED)).status);
  expect(answers).toEqual([200, 200, 200, 429]);
  const list = await api.call('GET', '/merchant/events');
  expect(list.status).toBe(200);
  expect(list.headers.get('ratelimit-policy')).toMatch(/"requests"; q=2; w=60/);
});

test('gives ten thousand events with their bodies in pages of five hundred', {
  timeout: 300_000,
}, async () => {
  const apply = await start({ feedRateLimitPerMinute: 120 });
  const events = Array.from({ length: MANY }, (_, n) =>
    eventNumber(api.merchantId, n / 1000, { eventId: randomUUID() }),
  );
  for (let from = 0; from < MANY; from += RECORDED_TOGETHER)
    await apply(...events.slice(from, from + RECORDED_TOGETHER).map((event) => routed(event, [])));
  const startedAt = performance.now();
  const { items, pages } = await readOn(undefined, '&include=body&limit=500');
  const tookMs = performance.now() - startedAt;
  expect(idsOf(items)).toEqual(idsOf(events));
  expect(items.every(({ body }) => body !== null && JSON.parse(body).type === 'fiatToCrypto')).toBe(true);
  expect(pages).toBe(MANY / 500);
  expect(tookMs).toBeLessThan(MANY_READ_MS_MAX);
});
