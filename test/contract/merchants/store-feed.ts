import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { deliveryId } from '../../../services/domain/ids.ts';
import { CursorInvalid } from '../../../services/store/change.ts';
import type { FeedEntry } from '../../../services/store/feed.ts';
import {
  bodyOf,
  cancelled,
  createEndpoint,
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
const OPTIONS = { at: START, actor: OPERATOR };

export function feedContract(test: StoreUnderTest): void {
  describe('the feed of a merchant', () => {
    contents(test);
    bodies(test);
    order(test);
    listening(test);
    retention(test);
  });
}

/** Reads page by page from a position to the head. */
async function readAll(test: StoreUnderTest, after: string, limit = 100): Promise<FeedEntry[]> {
  const entries: FeedEntry[] = [];
  for (let from = after; ; ) {
    const page = await test.store.feed.read(MERCHANT, { after: from, limit });
    expect(page.gap).toBeNull();
    entries.push(...page.entries);
    if (page.next === from) return entries;
    from = page.next;
  }
}

/** An entry in few words. */
function short(entry: FeedEntry): string {
  if (entry.kind === 'attempt') return `attempt ${entry.attempt.number} ${entry.attempt.outcome}`;
  if (entry.kind === 'skipped') return `skipped ${entry.reason}`;
  if (entry.kind === 'cancelled') return `cancelled ${entry.reason}`;
  if (entry.kind === 'routed') return `routed ${entry.delivery.trigger}`;
  return `${entry.change} ${entry.status}`;
}

function contents(test: StoreUnderTest): void {
  it('reports routings, skips, attempts and cancellations, each once, however often they are recorded', async () => {
    const start = await test.store.feed.head(MERCHANT);
    const apply = journalOf(test.store);
    const [one, two, other] = [randomUUID(), randomUUID(), randomUUID()];
    const event = eventNumber(MERCHANT, 1);
    const toOne = head(event, one);
    const resend = { ...toOne, deliveryId: randomUUID(), trigger: 'manual', attemptsMax: 1 } as const;
    const record = async () => {
      await apply(routed(event, [one, two], [other]));
      await apply(
        failed(toOne),
        parked({ ...toOne, attempt: 2 }, START),
        delivered({ ...toOne, attempt: 2 }),
      );
      await apply(cancelled(head(event, two)));
      await apply(requested(resend, new Uint8Array(2)), delivered(resend));
      await apply(routed(eventNumber(MERCHANT, 2), []), routed(eventNumber('another', 3), [randomUUID()]));
    };
    await record();
    const entries = await readAll(test, start);
    expect(entries.map(short)).toEqual([
      'routed live',
      'routed live',
      'skipped filtered',
      'attempt 1 retry',
      'attempt 2 delivered',
      'cancelled endpoint_deleted',
      'routed manual',
      'attempt 1 delivered',
      'skipped no_endpoint',
    ]);
    expect(entries[0]).toMatchObject({
      delivery: { deliveryId: deliveryId(event.eventId, one), endpointId: one, eventId: event.eventId },
    });
    expect(entries[2]).toMatchObject({ endpointId: other, event: { entityId: event.entityId } });
    expect(entries[3]).toMatchObject({ attempt: { failureCode: 'http_5xx', attemptsMax: 7 } });
    await record();
    expect(await readAll(test, start)).toEqual(entries);
  });

  it('reports changes of endpoints, also those the store makes', async () => {
    const start = await test.store.feed.head(MERCHANT);
    const uuid = randomUUID();
    await createEndpoint(test.store, MERCHANT, uuid);
    const { endpoints } = test.store;
    await endpoints.update(MERCHANT, uuid, { description: 'x' }, OPTIONS);
    await endpoints.update(MERCHANT, uuid, { status: 'disabled' }, OPTIONS);
    await endpoints.update(MERCHANT, uuid, { status: 'active' }, OPTIONS);
    const sealed = { keyId: 'k1', ciphertext: 'sealed' };
    await endpoints.rotate(MERCHANT, uuid, { sealed, hint: '…hint' }, OPTIONS);
    const gone = failed(head(eventNumber(MERCHANT, 1), uuid), 'endpoint_gone', { endpointVersion: 100 });
    await journalOf(test.store)(gone);
    await endpoints.remove(MERCHANT, uuid, OPTIONS);
    const entries = await readAll(test, start);
    expect(entries.map(short)).toEqual([
      'created null',
      'updated null',
      'updated disabled',
      'updated active',
      'secret_rotated null',
      'attempt 1 refused',
      'auto_disabled auto_disabled',
      'deleted null',
    ]);
    expect(JSON.stringify(entries)).not.toContain('sealed');
  });

  it('keeps a skip as it was when a replay sends the event later', async () => {
    const start = await test.store.feed.head(MERCHANT);
    const endpointId = randomUUID();
    const event = eventNumber(MERCHANT, 1);
    const skipped = [{ endpointId, verdict: 'endpoint_disabled' }] as const;
    const apply = journalOf(test.store);
    await apply({ ...routed(event, []), trace: skipped });
    const before = await readAll(test, start);
    await apply(
      requested(
        head(event, endpointId, { trigger: 'replay', acceptedAt: START + HOUR_MS }),
        new Uint8Array(2),
      ),
    );
    const after = await readAll(test, start);
    expect(after.map(short)).toEqual(['skipped endpoint_disabled', 'routed replay']);
    expect(after.slice(0, 1)).toEqual(before);
  });

  it('reports what a repeated routing adds, and no line twice', async () => {
    const start = await test.store.feed.head(MERCHANT);
    const [one, two] = [randomUUID(), randomUUID()];
    const event = eventNumber(MERCHANT, 1);
    const apply = journalOf(test.store);
    await apply(routed(event, [], [one]));
    await apply(routed(event, [one, two]));
    expect((await readAll(test, start)).map(short)).toEqual([
      'skipped filtered',
      'routed live',
      'routed live',
    ]);
  });
}

function bodies(test: StoreUnderTest): void {
  it('has what is sent on request, until it is erased', async () => {
    const start = await test.store.feed.head(MERCHANT);
    const [one, two] = [randomUUID(), randomUUID()];
    const apply = journalOf(test.store);
    const event = eventNumber(MERCHANT, 1, { entityId: randomUUID() });
    const other = eventNumber(MERCHANT, 2, { entityId: randomUUID() });
    const resend = (deliveryOf: string) =>
      head(event, deliveryOf, { deliveryId: randomUUID(), trigger: 'manual', attemptsMax: 1 });
    await apply(routed(event, [one], [two]), delivered(head(event, one)));
    await apply(routed(event, [one, two]), routed(other, [one]));
    await apply(
      requested(resend(one), bodyOf(event)),
      requested(resend(two), Buffer.from('a body of its own')),
    );
    const read = () => test.store.feed.read(MERCHANT, { after: start, limit: 100, withBodies: true });
    const sent = async () =>
      (await read()).entries.flatMap((entry) => (entry.kind === 'routed' ? [entry.sent] : []));
    const kept = (body: string | Uint8Array) => ({ body: Buffer.from(body).toString(), bodyRemoved: false });
    const ofEvent = kept(bodyOf(event));
    expect(await sent()).toEqual([ofEvent, ofEvent, kept(bodyOf(other)), ofEvent, kept('a body of its own')]);
    expect((await readAll(test, start)).every((entry) => !('sent' in entry))).toBe(true);
    const order = { entityId: event.entityId, merchantId: MERCHANT };
    const id = await test.store.erasures.order(order, { at: START + 99 * HOUR_MS, actor: OPERATOR });
    for (let [after, isDone] = [undefined as string | undefined, false]; !isDone; ) {
      const { next } = await test.store.erasures.step(id, after);
      isDone = next === null;
      after = next ?? undefined;
    }
    const removed = { body: null, bodyRemoved: true };
    expect(await sent()).toEqual([removed, removed, kept(bodyOf(other)), removed, removed]);
  });
}

function order(test: StoreUnderTest): void {
  it('continues after any position, in any pages, through a crash', async () => {
    const start = await test.store.feed.head(MERCHANT);
    const endpoints = [randomUUID(), randomUUID(), randomUUID()];
    const apply = journalOf(test.store);
    for (let n = 0; n < 5; n += 1) {
      const event = eventNumber(MERCHANT, n);
      await apply(routed(event, endpoints), ...endpoints.map((id) => delivered(head(event, id))));
    }
    const whole = await readAll(test, start);
    expect(whole).toHaveLength(30);
    expect(new Set(whole.map(({ position }) => position)).size).toBe(30);
    await test.crashAndReopen();
    for (const limit of [1, 4, 100]) expect(await readAll(test, start, limit)).toEqual(whole);
    for (const [index, { position }] of whole.entries()) {
      expect(await readAll(test, position)).toEqual(whole.slice(index + 1));
    }
    const middle = whole[17]?.position ?? '';
    const upTo = whole[23]?.position ?? '';
    const part = await test.store.feed.read(MERCHANT, { after: middle, upTo, limit: 100 });
    expect(part).toEqual({ entries: whole.slice(18, 24), next: upTo, gap: null });
    // A reader that was further in another process waits for this one.
    const ahead = await test.store.feed.read(MERCHANT, { after: upTo, upTo: middle, limit: 100 });
    expect(ahead).toEqual({ entries: [], next: upTo, gap: null });
  });

  it('has nothing of another merchant, and refuses what is no position', async () => {
    await journalOf(test.store)(routed(eventNumber('another', 1), [randomUUID()]));
    expect(await readAll(test, await test.store.feed.head(MERCHANT))).toEqual([]);
    const wrong = test.store.feed.read(MERCHANT, { after: 'yesterday', limit: 1 });
    await expect(wrong).rejects.toBeInstanceOf(CursorInvalid);
  });
}

function listening(test: StoreUnderTest): void {
  it('calls listeners once there is something to read, and no longer than they listen', async () => {
    const heard: string[] = [];
    const position = await test.store.feed.head(MERCHANT);
    const added = new Promise<void>((resolve) => {
      test.store.feed.onAdded(MERCHANT, () => resolve());
    });
    const stop = test.store.feed.onAdded(MERCHANT, () => heard.push('stopped'));
    stop();
    await journalOf(test.store)(routed(eventNumber(MERCHANT, 1), [randomUUID()]));
    await added;
    expect(await readAll(test, position)).toHaveLength(1);
    const changed = new Promise<void>((resolve) => {
      test.store.feed.onAdded(MERCHANT, () => resolve());
    });
    await createEndpoint(test.store, MERCHANT, randomUUID());
    await changed;
    expect(heard).toEqual([]);
  });
}

function retention(test: StoreUnderTest): void {
  it('says when entries after a position were deleted, and gives no position twice', async () => {
    const start = await test.store.feed.head(MERCHANT);
    const apply = journalOf(test.store);
    const add = (n: number) => apply(routed(eventNumber(MERCHANT, n), [randomUUID()]));
    for (let n = 0; n < 6; n += 1) await add(n);
    const whole = await readAll(test, start);
    const { feed } = test.store;
    let deleted = 0;
    for (let step = 1; step > 0; deleted += step) {
      step = await feed.retain(START + 3 * HOUR_MS, 2);
      expect(step).toBeLessThanOrEqual(2);
    }
    expect(deleted).toBe(3);
    const kept = whole.slice(3);
    const cut = await feed.read(MERCHANT, { after: start, limit: 100 });
    expect([cut.gap, cut.entries]).toEqual(['retention', kept]);
    // Nothing after this one was deleted.
    const third = whole[2]?.position ?? '';
    expect(await readAll(test, third)).toEqual(kept);
    while ((await feed.retain(START + 100 * HOUR_MS, 100)) > 0);
    await test.crashAndReopen();
    const last = whole[5]?.position ?? '';
    expect(await readAll(test, last)).toEqual([]);
    await journalOf(test.store, 'later')(routed(eventNumber(MERCHANT, 9), [randomUUID()]));
    expect(await readAll(test, last)).toHaveLength(1);
  });

  it('says when what an entry reports was deleted', async () => {
    const start = await test.store.feed.head(MERCHANT);
    const endpointId = randomUUID();
    await journalOf(test.store)(routed(eventNumber(MERCHANT, 1), [endpointId]));
    while ((await test.store.log.retain(START + 100 * HOUR_MS, 100)) > 0);
    const page = await test.store.feed.read(MERCHANT, { after: start, limit: 10 });
    expect([page.gap, page.entries]).toEqual(['retention', []]);
    expect(await readAll(test, page.next)).toEqual([]);
  });

  it('says when a position was never given by this store, as after a restore', async () => {
    await journalOf(test.store)(routed(eventNumber(MERCHANT, 1), [randomUUID()]));
    const page = await test.store.feed.read(MERCHANT, { after: '999999', limit: 10 });
    expect(page).toEqual({ entries: [], next: await test.store.feed.head(MERCHANT), gap: 'restored' });
  });
}
