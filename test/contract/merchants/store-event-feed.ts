import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { subjectIdOf } from '../../../services/domain/catalog/subject.ts';
import type { DomainEvent } from '../../../services/domain/event.ts';
import { CursorInvalid } from '../../../services/store/change.ts';
import type { EventFed, EventFeed } from '../../../services/store/event-feed.ts';
import {
  delivered,
  eventNumber,
  failed,
  HOUR_MS,
  head,
  journalOf,
  OPERATOR,
  parked,
  requested,
  routed,
  START,
} from '../../support/records/journal-entries.ts';
import type { StoreUnderTest } from '../store-place.ts';

const MERCHANT = 'a-merchant';

type Options = Partial<Parameters<EventFeed['read']>[1]>;

export function eventFeedContract(test: StoreUnderTest): void {
  describe('the event feed of a merchant', () => {
    order(test);
    contents(test);
    large(test);
    filters(test);
    gaps(test);
  });
}

/** Reads page by page from a position to the end. */
async function readAll(test: StoreUnderTest, options: Options = {}): Promise<EventFed[]> {
  const records: EventFed[] = [];
  for (let after = options.after; ; ) {
    const page = await test.store.eventFeed.read(MERCHANT, {
      limit: 100,
      withData: false,
      ...options,
      ...(after === undefined ? {} : { after }),
    });
    expect(page.gap).toBeNull();
    records.push(...page.records);
    if (page.isEnd) return records;
    expect(page.next).not.toBe(after);
    after = page.next;
  }
}

const idsOf = (records: readonly (EventFed | DomainEvent)[]) =>
  records.map((each) => ('event' in each ? each.event.eventId : each.eventId));

const numbered = (n: number) => eventNumber(MERCHANT, n);

function order(test: StoreUnderTest): void {
  it('has each event once, in the order of recording, however often and in what order things are recorded', async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    const apply = journalOf(test.store);
    const [late, first, second] = [numbered(1), numbered(2), numbered(3)];
    await apply(routed(first, [one], [two]), routed(eventNumber('another', 9), [one]));
    // Its attempt comes before its routing.
    await apply(delivered(head(second, one)));
    expect(idsOf(await readAll(test))).toEqual(idsOf([first]));
    await apply(failed(head(first, one)), parked({ ...head(first, one), attempt: 2 }, START));
    await apply(routed(second, [one]));
    // The router repeats what it did not know to be done, with one line more.
    await apply(routed(first, [one, two]));
    const resend = {
      ...head(first, one),
      deliveryId: randomUUID(),
      trigger: 'manual',
      attemptsMax: 1,
    } as const;
    await apply(requested(resend, new Uint8Array(2)), delivered(resend));
    await apply(routed(late, []));
    const expected = idsOf([first, second, late]);
    expect(idsOf(await readAll(test))).toEqual(expected);
    await test.crashAndReopen();
    for (const limit of [1, 2, 100]) expect(idsOf(await readAll(test, { limit }))).toEqual(expected);
  });

  it('continues after a page that was the last, and after any position of the feed', async () => {
    const apply = journalOf(test.store);
    const endpoints = [randomUUID(), randomUUID()];
    const read = (after?: string) =>
      test.store.eventFeed.read(MERCHANT, { limit: 100, withData: false, ...(after && { after }) });
    const empty = await read();
    expect(empty).toMatchObject({ records: [], isEnd: true, gap: null });
    const start = await test.store.feed.head(MERCHANT);
    await apply(routed(numbered(1), endpoints), ...endpoints.map((id) => delivered(head(numbered(1), id))));
    const page = await read(empty.next);
    expect([idsOf(page.records), page.isEnd]).toEqual([idsOf([numbered(1)]), true]);
    const same = await read(page.next);
    expect(same).toMatchObject({ records: [], isEnd: true, next: page.next });
    await apply(routed(numbered(2), endpoints));
    expect(idsOf((await read(page.next)).records)).toEqual(idsOf([numbered(2)]));
    // The feed's own positions: an event follows those before it, and the lines of its own routing.
    const { entries } = await test.store.feed.read(MERCHANT, { after: start, limit: 100 });
    const rest = await Promise.all(entries.map(({ position }) => read(position)));
    expect(rest.map(({ records }) => records.length)).toEqual([2, 1, 1, 1, 1, 0]);
    await expect(read('yesterday')).rejects.toBeInstanceOf(CursorInvalid);
  });

  it('reads an event on one page only while others are recorded', async () => {
    const apply = journalOf(test.store);
    const seen: string[] = [];
    let after: string | undefined;
    for (let n = 0; n < 30; n += 1) {
      await apply(routed(numbered(100 - n), [randomUUID()]));
      if (n % 3 > 0) continue;
      const page = await test.store.eventFeed.read(MERCHANT, {
        limit: 2,
        withData: false,
        ...(after && { after }),
      });
      seen.push(...idsOf(page.records));
      after = page.next;
    }
    seen.push(...idsOf(await readAll(test, { ...(after && { after }) })));
    expect(seen).toEqual(Array.from({ length: 30 }, (_, n) => numbered(100 - n).eventId));
  });
}

function contents(test: StoreUnderTest): void {
  it('has the data on request, until it is erased', async () => {
    const apply = journalOf(test.store);
    const events = Array.from({ length: 70 }, (_, n) => eventNumber(MERCHANT, n, { entityId: randomUUID() }));
    await apply(...events.map((event) => routed(event, [randomUUID()])));
    const [attempted] = [numbered(70)];
    const endpointId = randomUUID();
    await apply(delivered(head(attempted, endpointId)));
    await apply(routed(attempted, [endpointId]));
    const all = [...events, attempted];
    const whole = await readAll(test, { withData: true });
    expect(whole.map(({ data }) => JSON.parse(data ?? 'null'))).toEqual(all.map(({ data }) => data));
    expect(new Set((await readAll(test)).map(({ data }) => data))).toEqual(new Set([null]));
    const listed = await test.store.log.event(MERCHANT, events[3]?.eventId ?? '');
    const { data: _, ...record } = whole[3] as EventFed;
    const { data: __, ...event } = listed?.event ?? { data: null };
    expect({ ...record.event, trace: record.trace }).toEqual({ ...event, trace: listed?.trace });
    const erased = events[5] as DomainEvent;
    const order = { entityId: erased.entityId, merchantId: MERCHANT };
    const id = await test.store.erasures.order(order, { at: START + 900 * HOUR_MS, actor: OPERATOR });
    for (let after: string | undefined; ; ) {
      const step = await test.store.erasures.step(id, after);
      if (step.next === null) break;
      after = step.next;
    }
    const left = await readAll(test, { withData: true });
    expect(left.flatMap(({ data }, n) => (data === null ? [n] : []))).toEqual([5]);
  });
}

function large(test: StoreUnderTest): void {
  it('ends a page early where the data is much, and leaves none out', async () => {
    const apply = journalOf(test.store);
    const text = 'x'.repeat(1024 * 1024);
    const events = Array.from({ length: 10 }, (_, n) =>
      eventNumber(MERCHANT, n, { data: { transactionUuid: `${n}`, text } }),
    );
    for (const event of events) await apply(routed(event, []));
    const page = await test.store.eventFeed.read(MERCHANT, { limit: 100, withData: true });
    expect([page.records.length, page.isEnd]).toEqual([3, false]);
    expect(idsOf(await readAll(test, { withData: true }))).toEqual(idsOf(events));
  });
}

function filters(test: StoreUnderTest): void {
  it('selects by type, subject, entity, endpoint, result and time', async () => {
    const apply = journalOf(test.store);
    const [one, two] = [randomUUID(), randomUUID()];
    const transactionUuid = randomUUID();
    const transaction = eventNumber(MERCHANT, 1, {
      type: 'fiatToCrypto',
      subType: 'PENDING',
      data: { transactionUuid },
    });
    const verified = { type: 'KYC', subType: 'FULL_USER', data: {} } as const;
    const kyc = eventNumber(MERCHANT, 2, { ...verified, entityId: randomUUID() });
    const other = eventNumber(MERCHANT, 3, { ...verified, entityId: randomUUID() });
    await apply(routed(other, [one]), routed(transaction, [one], [two]), routed(kyc, [two]));
    const selected = async (filter: Options) => idsOf(await readAll(test, { ...filter, limit: 1 }));
    const subjectId = subjectIdOf(transaction) ?? '';
    expect(subjectId).toBe(transactionUuid);
    expect(await selected({ type: 'fiatToCrypto' })).toEqual(idsOf([transaction]));
    expect(await selected({ subType: transaction.subType })).toContain(transaction.eventId);
    expect(await selected({ subjectId })).toEqual(idsOf([transaction]));
    expect(await selected({ transactionId: subjectId })).toEqual(idsOf([transaction]));
    expect(await selected({ subjectId: kyc.entityId })).toEqual(idsOf([kyc]));
    expect(await selected({ transactionId: kyc.entityId })).toEqual([]);
    expect(await selected({ entityId: kyc.entityId })).toEqual(idsOf([kyc]));
    expect(await selected({ endpointId: two })).toEqual(idsOf([transaction, kyc]));
    expect(await selected({ endpointId: two, verdict: 'filtered' })).toEqual(idsOf([transaction]));
    expect(await selected({ verdict: 'delivered_to' })).toEqual(idsOf([other, transaction, kyc]));
    expect(await selected({ endpointId: randomUUID() })).toEqual([]);
    const since = START + 2 * HOUR_MS;
    expect(await selected({ since })).toEqual(idsOf([other, kyc]));
    expect(await selected({ since, until: START + 3 * HOUR_MS })).toEqual(idsOf([kyc]));
  });

  it('comes to the end where hardly anything matches', async () => {
    const apply = journalOf(test.store);
    const wanted = eventNumber(MERCHANT, 1, { entityId: randomUUID() });
    await apply(routed(wanted, []));
    for (let from = 0; from < 2200; from += 550)
      await apply(
        ...Array.from({ length: 550 }, (_, n) =>
          routed(eventNumber(MERCHANT, 2 + (from + n) / 1000, { eventId: randomUUID() }), []),
        ),
      );
    await apply(routed(eventNumber(MERCHANT, 9, { ...wanted, eventId: randomUUID() }), []));
    const pages: number[] = [];
    for (let after: string | undefined, isEnd = false; !isEnd; ) {
      const page = await test.store.eventFeed.read(MERCHANT, {
        entityId: wanted.entityId,
        limit: 10,
        withData: false,
        ...(after && { after }),
      });
      pages.push(page.records.length);
      ({ next: after, isEnd } = page);
    }
    expect(pages).toEqual([1, 0, 1]);
  });
}

function gaps(test: StoreUnderTest): void {
  it('says when events after a position were deleted, and begins with the oldest kept', async () => {
    const apply = journalOf(test.store);
    for (let n = 0; n < 6; n += 1) await apply(routed(numbered(n), [randomUUID()]));
    const { feed, eventFeed } = test.store;
    const options = { limit: 100, withData: false };
    const { next: second } = await eventFeed.read(MERCHANT, { ...options, limit: 2 });
    const { next: third } = await eventFeed.read(MERCHANT, { ...options, limit: 3 });
    while ((await feed.retain(START + 3 * HOUR_MS, 100)) > 0);
    const kept = idsOf([3, 4, 5].map(numbered));
    const cut = await eventFeed.read(MERCHANT, { ...options, after: second });
    expect([cut.gap, idsOf(cut.records)]).toEqual(['retention', kept]);
    expect(idsOf(await readAll(test, { after: third }))).toEqual(kept);
    expect(idsOf(await readAll(test))).toEqual(kept);
  });

  it('says when an event was deleted, and when a position was never given by this store', async () => {
    await journalOf(test.store)(routed(numbered(1), [randomUUID()]));
    const { eventFeed, log, feed } = test.store;
    while ((await log.retain(START + 100 * HOUR_MS, 100)) > 0);
    const page = await eventFeed.read(MERCHANT, { limit: 10, withData: false });
    expect(page).toMatchObject({ records: [], gap: 'retention', isEnd: true });
    expect(await readAll(test, { after: page.next })).toEqual([]);
    const restored = await eventFeed.read(MERCHANT, { limit: 10, withData: false, after: '999999' });
    expect(restored).toEqual({ records: [], next: await feed.head(MERCHANT), isEnd: true, gap: 'restored' });
  });
}
