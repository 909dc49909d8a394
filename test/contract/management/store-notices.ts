import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  type NewNotice,
  type NoticeFormat,
  PLATFORM_MERCHANT_ID,
} from '../../../services/domain/notices/notice.ts';
import { noticeId } from '../../../services/domain/notices/notice-id.ts';
import {
  createEndpoint,
  delivered,
  eventNumber,
  failed,
  HOUR_MS,
  head,
  journalOf,
  OPERATOR,
  requested,
  START,
} from '../../support/records/journal-entries.ts';
import type { StoreUnderTest } from '../store-place.ts';

const MERCHANT = 'a-merchant';
const LATER = START + 1000 * HOUR_MS;
const WINDOW_MS = 900_000;

const lost = (cause = randomUUID()): NewNotice => ({
  ...{ cause, type: 'events.lost', subType: 'DELETED_UNREAD', merchantId: null, endpointId: null },
  ...{ at: START, data: { stream: 'events', count: 2 } },
});

/** Operational notices: one for one cause, in the transaction of the cause. */
export function noticesContract(test: StoreUnderTest): void {
  describe('as marks', () => marks(test));
  describe('of endpoints', () => ofEndpoints(test));
}

function marks(test: StoreUnderTest): void {
  it('keeps one notice of a cause, through a crash, until it is sent', async () => {
    const notice = lost();
    expect(await test.store.notices.add(notice)).toBe(true);
    expect(await test.store.notices.add({ ...notice, data: { count: 9 } })).toBe(false);
    const store = await test.crashAndReopen();
    expect(await store.notices.add(notice)).toBe(false);
    const [due, ...others] = await store.notices.due(START, 10);
    expect(others).toEqual([]);
    const id = noticeId(notice.cause);
    expect(due).toEqual({ ...notice, noticeId: id, lastAt: START, count: 1, takenAt: null, sentAt: null });
    expect(await store.notices.due(START - 1, 10)).toEqual([]);
    await store.notices.sent(id, START + 5);
    expect(await store.notices.due(LATER, 10)).toEqual([]);
    expect(await store.notices.get(id)).toMatchObject({ sentAt: START + 5 });
  });

  it('lets only the first who takes a notice decide what it says', async () => {
    const notice = lost();
    await test.store.notices.add(notice);
    const id = noticeId(notice.cause);
    const first = await test.store.notices.take(id, { said: 1 }, START + 1);
    expect(first).toMatchObject({ data: { said: 1 }, takenAt: START + 1 });
    expect(await test.store.notices.take(id, { said: 2 }, START + 2)).toEqual(first);
    expect(await test.store.notices.take(randomUUID(), {}, START)).toBeUndefined();
  });

  it('gathers the causes of a window, and leaves those that come after it was taken to the next', async () => {
    const { notices } = test.store;
    const notice = { ...lost(), at: START + 1000 };
    const found = (at: number) => ({
      notice: { ...notice, at },
      count: 2,
      lastAt: at + 1,
    });
    expect(
      await notices.move('place', { from: null, to: 'a' }, [found(START + 1000), found(START + 2000)]),
    ).toBe(true);
    expect(await notices.due(START + WINDOW_MS - 1, 10)).toEqual([]);
    const [due] = await notices.due(START + WINDOW_MS, 10);
    expect(due).toMatchObject({ at: START + 1000, lastAt: START + 2001, count: 4 });
    await notices.take(due?.noticeId ?? '', {}, START + WINDOW_MS);
    expect(await notices.move('place', { from: 'a', to: 'b' }, [found(START + 3000)])).toBe(true);
    const counts = (await notices.due(START + 2 * WINDOW_MS, 10)).map(({ count }) => count);
    expect(counts).toEqual([4, 2]);
  });

  it('adds nothing for a place that another process has moved on', async () => {
    const { notices } = test.store;
    expect(await notices.place('elsewhere')).toBe(null);
    expect(await notices.move('elsewhere', { from: null, to: '1' }, [lost()])).toBe(true);
    for (const from of [null, '0'])
      expect(await notices.move('elsewhere', { from, to: '2' }, [lost()])).toBe(false);
    const store = await test.crashAndReopen();
    expect(await store.notices.place('elsewhere')).toBe('1');
    expect(await store.notices.due(LATER, 10)).toHaveLength(1);
  });
}

function ofEndpoints(test: StoreUnderTest): void {
  const due = () => test.store.notices.due(LATER, 100);
  const types = async () => (await due()).map(({ type, subType }) => `${type} ${subType}`);
  /** The n-th failure of a run, at so many milliseconds after the start. */
  const failures = (endpointId: string, at: number, count: number) =>
    Array.from({ length: count }, (_, n) => {
      const event = eventNumber(MERCHANT, at / HOUR_MS + n / 100);
      return failed(head(event, endpointId, { attempt: 1 }), 'http_5xx', { startedAt: START + at + n });
    });
  const operational = (notices: NoticeFormat, merchantId = MERCHANT) =>
    createEndpoint(test.store, merchantId, randomUUID(), { notices });

  it('tells each level of the rule once, then the end, then the recovery', async () => {
    const endpointId = randomUUID();
    await createEndpoint(test.store, MERCHANT, endpointId);
    const apply = journalOf(test.store);
    await apply(...failures(endpointId, HOUR_MS, 20));
    expect(await types()).toEqual([]);
    await apply(...failures(endpointId, 12 * HOUR_MS, 2));
    await apply(...failures(endpointId, 13 * HOUR_MS, 2));
    expect(await types()).toEqual(['endpoint.failing AT_50']);
    await apply(...failures(endpointId, 22 * HOUR_MS, 2));
    expect(await types()).toEqual(['endpoint.failing AT_50', 'endpoint.failing AT_90']);
    const last = head(eventNumber(MERCHANT, 500), endpointId, { attempt: 7 });
    await apply(failed(last, 'http_5xx', { startedAt: START + 25 * HOUR_MS }));
    const expected = [
      'endpoint.failing AT_50',
      'endpoint.failing AT_90',
      'endpoint.disabled CONSECUTIVE_FAILURES',
    ];
    expect(await types()).toEqual(expect.arrayContaining(expected));
    const at = START + 26 * HOUR_MS;
    await test.store.endpoints.update(MERCHANT, endpointId, { status: 'active' }, { at, actor: OPERATOR });
    const event = eventNumber(MERCHANT, 501);
    const success = (hours: number) =>
      delivered(head(event, endpointId), { startedAt: START + hours * HOUR_MS, endpointVersion: 3 });
    await apply(success(27));
    await apply(success(28));
    const all = await due();
    const told = all.filter(({ type }) => type.startsWith('endpoint.')).map(({ type }) => type);
    expect(told.sort()).toEqual([
      'endpoint.disabled',
      'endpoint.failing',
      'endpoint.failing',
      'endpoint.recovered',
    ]);
    expect(all.find(({ type }) => type === 'endpoint.recovered')).toMatchObject({
      ...{ subType: 'AFTER_DISABLED', merchantId: MERCHANT, endpointId },
      data: { failingSince: START, disabledAt: expect.any(Number) },
    });
  });

  it('gathers the deliveries that are exhausted, and tells nothing of a short failure', async () => {
    const endpointId = randomUUID();
    await createEndpoint(test.store, MERCHANT, endpointId);
    const apply = journalOf(test.store);
    const exhausted = [1, 2, 3].map((n) =>
      failed(head(eventNumber(MERCHANT, n), endpointId, { attempt: 7 }), 'http_5xx', {
        startedAt: START + n,
      }),
    );
    await apply(...exhausted.slice(0, 2));
    await apply(...exhausted.slice(2));
    await apply(delivered(head(eventNumber(MERCHANT, 9), endpointId), { startedAt: START + HOUR_MS }));
    const all = await due();
    expect(all.map(({ type, count }) => [type, count])).toEqual([['delivery.exhausted', 3]]);
  });

  it('tells nothing of an endpoint that gets notices itself', async () => {
    const { record } = await operational('json');
    const apply = journalOf(test.store);
    await apply(...failures(record.uuid, 13 * HOUR_MS, 25));
    const last = head(eventNumber(MERCHANT, 500), record.uuid, { attempt: 7 });
    await apply(failed(last, 'http_5xx', { startedAt: START + 25 * HOUR_MS }));
    expect(await test.store.endpoints.get(MERCHANT, record.uuid)).toMatchObject({ status: 'auto_disabled' });
    expect(await types()).toEqual([]);
  });

  it('tells that a secret was changed, and that a certificate ends soon, once for each level', async () => {
    const endpointId = randomUUID();
    const { record } = await createEndpoint(test.store, MERCHANT, endpointId);
    const secret = { sealed: { keyId: 'k1', ciphertext: 'another' }, hint: '…wxyz' };
    await test.store.endpoints.rotate(MERCHANT, endpointId, secret, { at: START, actor: OPERATOR });
    const seen = (days: number) => ({
      ...{ at: START, url: record.url, result: 'ok' as const },
      steps: [
        {
          ...{ step: 'tls' as const, result: 'ok' as const, says: '', remedy: null, durationMs: 1 },
          facts: { valid_until: new Date(START + days * 24 * HOUR_MS).toISOString() },
        },
      ],
    });
    for (const days of [31, 29, 29, 6])
      await test.store.endpoints.keepCheck(MERCHANT, endpointId, seen(days));
    expect((await types()).sort()).toEqual([
      'certificate.expiring WITHIN_30_DAYS',
      'certificate.expiring WITHIN_7_DAYS',
      'secret.rotated ROTATED',
    ]);
  });

  it('is among what an endpoint has missed when all its attempts failed, with the bytes that were sent', async () => {
    const { uuid } = (await operational('json')).record;
    const sent = { type: 'secret.rotated', subType: 'ROTATED', subjectId: null, acceptedAt: START } as const;
    const first = head(eventNumber(MERCHANT, 0), uuid, sent);
    const apply = journalOf(test.store);
    const body = new TextEncoder().encode('{"type":"secret.rotated"}');
    await apply(requested(first, body), failed({ ...first, attempt: 7 }));
    const scope = {
      ...{ merchantId: MERCHANT, endpointId: uuid, types: null, eventIds: null },
      ...{ only: 'failed' as const, since: START, until: LATER },
    };
    const { events } = await test.store.replays.missed(scope, null, 10);
    expect(events).toMatchObject([
      { eventId: first.eventId, type: 'secret.rotated', subType: 'ROTATED', because: 'exhausted' },
    ]);
    const kept = await test.store.log.delivery(MERCHANT, uuid, events[0]?.deliveryId ?? '');
    expect(Buffer.from(kept?.body ?? []).toString()).toBe(Buffer.from(body).toString());
    const again = { deliveryId: randomUUID(), trigger: 'replay', attemptsMax: 1 } as const;
    const second = { ...first, ...again, acceptedAt: START + 30 * HOUR_MS };
    await apply(requested(second, body), delivered(second));
    expect((await test.store.replays.missed(scope, null, 10)).events).toEqual([]);
  });

  it('goes to the operational endpoints of the merchant and of the platform that are active', async () => {
    const uuids = async (merchantId: string | null) =>
      (await test.store.notices.recipients(merchantId)).map(({ uuid }) => uuid).sort();
    await createEndpoint(test.store, MERCHANT, randomUUID());
    const { record: own } = await operational('json');
    const { record: off } = await operational('json');
    const { record: platform } = await operational('slack', PLATFORM_MERCHANT_ID);
    const { record: others } = await operational('json', 'another');
    const by = { at: START, actor: OPERATOR };
    await test.store.endpoints.update(MERCHANT, off.uuid, { status: 'disabled' }, by);
    expect(await uuids(MERCHANT)).toEqual([own.uuid, platform.uuid].sort());
    expect(await uuids(null)).toEqual([own.uuid, platform.uuid, others.uuid].sort());
    expect(await test.store.endpoints.get(PLATFORM_MERCHANT_ID, platform.uuid)).toMatchObject({
      notices: 'slack',
    });
    const change = (await test.store.outbox.pending(100)).find((each) => each.change.id === own.uuid);
    expect(change?.change.value).toMatchObject({ notices: 'json' });
  });
}
