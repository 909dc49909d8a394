/**
 * Guarantee: an event that was never routed is found by its own id, its transaction and its user, with why and what helps, by
 * its merchant alone.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readStory } from '../../../services/api/find/story.ts';
import { subjectIdOf } from '../../../services/domain/catalog/subject.ts';
import type { DomainEvent } from '../../../services/domain/event.ts';
import type { Refusal } from '../../../services/domain/quarantine.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { eventNumber, journalOf, routed } from '../../support/records/journal-entries.ts';

let api: TestApi;
let apply: ReturnType<typeof journalOf>;
let made = 0;
beforeAll(async () => {
  api = await startTestApi();
  apply = journalOf(api.store);
});
afterAll(() => api.close());

function newEvent(change: Partial<DomainEvent> = {}): DomainEvent {
  made += 1;
  const occurredAt = api.clock.wall() - 1000;
  const publishedBy = crypto.randomUUID();
  const event = eventNumber(api.merchantId, made, { occurredAt, publishedBy, ...change });
  return { ...event, data: { ...event.data, transactionUuid: crypto.randomUUID() }, ...change };
}
async function quarantine(event: DomainEvent, refusal: Refusal = 'schema_violation'): Promise<DomainEvent> {
  await api.broker.publishEvents([event], { refusals: new Map([[event, refusal]]) });
  return event;
}
const get = async (path: string, id: string, key?: string) =>
  (await api.call('GET', `${path}/${encodeURIComponent(id)}`, key === undefined ? {} : { key })).body;
const story = (id: string, key?: string) => get('/merchant/subjects', id, key);
const lookUp = (id: string, key?: string) => get('/merchant/lookup', id, key);
const transactionOf = (event: DomainEvent) => subjectIdOf(event) ?? '';

/** An event with a fault that has a pointer. */
const faulty = () => newEvent({ occurredAt: api.clock.wall() + 90 * 86_400_000 });

test('a transaction of which only a quarantined event is known has a story that says why, and what helps', async () => {
  const event = await quarantine(faulty());
  const told = await story(transactionOf(event));
  expect(told).toMatchObject({
    ...{ kind: 'transaction', subject_uuid: transactionOf(event), entity_uuid: event.entityId },
    ...{ state: null, events: [], endpoints: [], has_more: false },
    quarantine: { searched: 'all', since: null, note: null },
  });
  const [entry] = told.quarantine.events;
  expect(entry).toEqual({
    event_uuid: event.eventId,
    type: event.type,
    subType: event.subType,
    entity_uuid: event.entityId,
    subject_uuid: transactionOf(event),
    transaction_uuid: transactionOf(event),
    occurred_at: new Date(event.occurredAt).toISOString(),
    quarantined_at: expect.stringMatching(/^20/),
    verdict: 'quarantined',
    outcome: 'not_received',
    reason: 'schema_violation',
    explanation: expect.stringMatching(
      /^Not sent: the event went into quarantine at 20\S+\. The event breaks a rule: \/header\/occurredAt .*\. Your platform has to correct the event, and publish it under a new id; ask it with event id [\w-]{36}\.$/,
    ),
  });
  expect(JSON.stringify(told)).not.toContain(event.publishedBy);
  expect((await story(event.entityId)).kind).toBe('entity');
  expect(await story(event.eventId)).toMatchObject({
    kind: 'event',
    quarantine: { events: [{ event_uuid: event.eventId }] },
  });
});

test('a story has quarantined events beside those that were routed', async () => {
  const first = newEvent({ subType: 'PENDING' });
  await apply(routed(first, []));
  const second = await quarantine(newEvent({ entityId: first.entityId, data: first.data }));
  expect(await story(transactionOf(first))).toMatchObject({
    state: 'PENDING',
    events: [{ event_uuid: first.eventId }],
    quarantine: { events: [{ event_uuid: second.eventId }] },
  });
});

test('an event that was put back and routed is in the story once, as routed', async () => {
  const event = await quarantine(newEvent());
  // As after a crash between the two writes of a put-back: the record is still there.
  await apply(routed(event, []));
  const told = await story(transactionOf(event));
  expect(told.events).toMatchObject([{ event_uuid: event.eventId }]);
  expect(told.quarantine.events).toEqual([]);
});

test('records of an erased entity are not found any more, and later ones are', async () => {
  const event = await quarantine(newEvent());
  const { entityId } = event;
  const now = { at: api.clock.wall(), actor: { kind: 'operator' } as const };
  await api.store.erasures.order({ entityId, merchantId: api.foreignMerchantId }, now);
  expect((await story(entityId)).quarantine.events).toHaveLength(1);
  await api.store.erasures.order({ entityId, merchantId: api.merchantId }, now);
  for (const id of [entityId, transactionOf(event), event.eventId])
    expect([id, (await story(id)).code]).toEqual([id, 'subject_not_found']);
  await new Promise((resolve) => setTimeout(resolve, 5));
  const later = await quarantine(newEvent({ entityId }));
  expect((await story(entityId)).quarantine.events).toMatchObject([{ event_uuid: later.eventId }]);
});

test('another event under the id of one that was routed is told of', async () => {
  const event = newEvent();
  await api.broker.publishEvents([event]);
  await api.broker.publishEvents([{ ...event, occurredAt: event.occurredAt - 1 }]);
  await apply(routed(event, []));
  const told = await story(transactionOf(event));
  expect(told.events).toHaveLength(1);
  expect(told.quarantine.events).toMatchObject([{ reason: 'event_id_conflict', event_uuid: event.eventId }]);
});

test('no other merchant sees it', async () => {
  const event = await quarantine(newEvent());
  const { foreign } = api.keys;
  for (const id of [transactionOf(event), event.entityId, event.eventId]) {
    expect([id, (await story(id, foreign)).code]).toEqual([id, 'subject_not_found']);
    expect([id, (await lookUp(id, foreign)).code]).toEqual([id, 'id_not_found']);
  }
  const hidden = await get('/merchant/events', event.eventId, foreign);
  const unknown = await get('/merchant/events', crypto.randomUUID(), foreign);
  expect([hidden.code, hidden.detail]).toEqual(['event_not_found', unknown.detail]);
});

test('the look-up finds what only the quarantine has, and its path says why', async () => {
  const event = await quarantine(newEvent());
  const kinds = [
    [event.eventId, 'event', /^The event \w+\/\w+ that is in quarantine since 20\S+: it was not sent\.$/],
    [transactionOf(event), 'transaction', /^A transaction; of its events none was sent, and the newest, /],
    [event.entityId, 'entity', /^A user or corporate; of its events none was sent/],
  ] as const;
  for (const [id, kind, summary] of kinds) {
    const { found } = await lookUp(id);
    expect(found).toMatchObject([{ kind, summary: expect.stringMatching(summary) }]);
    const { body } = await api.call('GET', found[0].path);
    expect(body.quarantine.events).toMatchObject([{ event_uuid: event.eventId }]);
  }
  const missing = await get('/merchant/events', event.eventId);
  expect(missing).toMatchObject({ status: 404, code: 'event_not_found' });
  expect(missing.detail).toMatch(
    new RegExp(`in quarantine since 20.*GET /merchant/subjects/${event.eventId} says why`),
  );
});

test('a story is told without the quarantine when the broker cannot be asked, and says so', async () => {
  const silent = await startTestApi();
  try {
    silent.broker.quarantine.find = () => Promise.reject(new Error('no leader'));
    const event = eventNumber(silent.merchantId, 1);
    await journalOf(silent.store)(routed(event, []));
    const { body } = await silent.call('GET', `/merchant/subjects/${event.entityId}`);
    expect(body.events).toHaveLength(1);
    const note = 'The events in quarantine could not be looked through: ask again in a moment.';
    expect(body.quarantine).toEqual({ searched: 'none', since: null, note, events: [] });
    const unknown = crypto.randomUUID();
    for (const path of ['/merchant/subjects', '/merchant/lookup', '/merchant/events']) {
      const answer = await silent.call('GET', `${path}/${unknown}`);
      expect([answer.status, answer.body.detail]).toEqual([404, expect.stringContaining(note)]);
    }
    // An operator's tool may have a store and no broker.
    expect(await readStory(silent.store, silent.merchantId, event.entityId)).toMatchObject({
      quarantine: { searched: 'none' },
    });
    silent.broker.quarantine.find = async () => ({ records: [], since: Date.UTC(2025, 0, 1) });
    expect((await silent.call('GET', `/merchant/subjects/${event.entityId}`)).body.quarantine).toMatchObject({
      searched: 'newest',
      since: '2025-01-01T00:00:00.000Z',
      note: expect.stringMatching(/only those since 2025-01-01T00:00:00\.000Z were looked through: ask your/),
    });
  } finally {
    await silent.close();
  }
});
