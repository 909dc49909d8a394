/** The story of a transaction and the look-up of any id: what each says, and why an event did not arrive. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { subjectIdOf } from '../../../services/domain/catalog/subject.ts';
import type { DomainEvent } from '../../../services/domain/event.ts';
import { deliveryId } from '../../../services/domain/ids.ts';
import type { JournalEntry, SkipReason } from '../../../services/domain/journal.ts';
import { createEndpoint, ENDPOINTS, startTestApi, type TestApi } from '../../support/api/test-api.ts';
import {
  cancelled,
  delivered,
  eventNumber,
  failed,
  head,
  journalOf,
  parked,
  routed,
  START,
} from '../../support/records/journal-entries.ts';

type Entries = readonly JournalEntry[];

let api: TestApi;
let endpoint: string;
let apply: ReturnType<typeof journalOf>;
let made = 0;
beforeAll(async () => {
  api = await startTestApi();
  endpoint = (await createEndpoint(api)).uuid;
  apply = journalOf(api.store);
});
afterAll(() => api.close());

const newEvent = (change: Partial<DomainEvent> = {}) => {
  made += 1;
  return eventNumber(api.merchantId, made, change);
};
const story = async (id: string) =>
  (await api.call('GET', `/merchant/subjects/${encodeURIComponent(id)}`)).body;
const lookUp = async (id: string) =>
  (await api.call('GET', `/merchant/lookup/${encodeURIComponent(id)}`)).body;
const idOf = (event: DomainEvent) => subjectIdOf(event) ?? event.entityId;

/** Routes an event to the endpoint, applies what followed, and returns what the story says of the endpoint. */
async function lineAfter(follow: (event: DomainEvent) => Entries) {
  const event = newEvent();
  await apply(routed(event, [endpoint]), ...follow(event));
  const { events } = await story(idOf(event));
  return events[0].endpoints[0];
}

const attempt = (event: DomainEvent, number: number) => head(event, endpoint, { attempt: number });

describe('the story of a transaction', () => {
  test.each<[string, string, RegExp, (event: DomainEvent) => Entries]>([
    ['is under way', 'owed', /^Owed: its first attempt is under way/, () => []],
    [
      'arrived',
      'received',
      /^Delivered at 20\S+ by attempt 1: the receiver answered 200\.$/,
      (event) => [delivered(attempt(event, 1))],
    ],
    [
      'waits for a retry',
      'owed',
      /^Owed: attempt 2 of 7 is due at 20\S+\. Attempt 1: http_5xx.*Look into the log of the app\.$/,
      (event) => [failed(attempt(event, 1))],
    ],
    [
      'was given up',
      'not_received',
      /^Not sent any more: all 7 attempts failed\. Attempt 7: connect_refused.*resend, or a replay\)\.$/,
      (event) =>
        [1, 2, 3, 4, 5, 6, 7].map((number) =>
          failed(attempt(event, number), 'connect_refused', { response: null }),
        ),
    ],
    [
      'was refused',
      'not_received',
      /^Not sent any more: Attempt 1: endpoint_gone.*Enable the endpoint/,
      (event) => [failed(attempt(event, 1), 'endpoint_gone')],
    ],
    [
      'was cancelled',
      'not_received',
      /^Not sent any more: the endpoint was deleted\. Create it anew/,
      (event) => [cancelled(attempt(event, 1))],
    ],
    [
      'is parked',
      'owed',
      /^Owed: attempt 1 of 7 waits, because the endpoint has as many requests open .* It comes up again at 20/,
      (event) => [parked(attempt(event, 1), START)],
    ],
  ])(
    'says of a delivery that %s whether it is received, owed or neither, and why',
    async (_, outcome, says, follow) => {
      const line = await lineAfter(follow);
      expect(line).toMatchObject({ endpoint_uuid: endpoint, verdict: 'routed', outcome });
      expect(line.explanation).toMatch(says);
      expect(line.deliveries).toHaveLength(1);
    },
  );

  test.each<[SkipReason, RegExp]>([
    ['filtered', /subscribed_events did not have this type/],
    ['endpoint_disabled', /Enable it .*bring back/],
    ['endpoint_auto_disabled', /Mend the receiver, enable/],
    ['type_not_in_api_version', /does not have this type\. Use an endpoint of version 2\.3\.8/],
    ['subtype_not_in_api_version', /does not have this subType/],
  ])('says why an endpoint was passed over: %s', async (verdict, says) => {
    const event = newEvent();
    await apply({ ...routed(event, []), trace: [{ endpointId: endpoint, verdict }] });
    const { events, endpoints } = await story(idOf(event));
    expect(events[0].endpoints).toEqual([
      {
        endpoint_uuid: endpoint,
        verdict,
        outcome: 'not_received',
        explanation: expect.stringMatching(says),
        deliveries: [],
      },
    ]);
    expect(endpoints[0]).toMatchObject({
      endpoint_uuid: endpoint,
      received: 0,
      owed: 0,
      not_received: 1,
    });
  });

  test('says that deliveries are held while the operator holds them', async () => {
    await api.store.merchants.update(api.merchantId, { state: 'paused' });
    const line = await lineAfter((event) => [failed(attempt(event, 1))]);
    await api.store.merchants.update(api.merchantId, { state: 'active' });
    expect(line.outcome).toBe('owed');
    expect(line.explanation).toMatch(/^Owed, and held: the operator has put your deliveries on hold/);
  });

  test('has the events in order with the state after each, and counts for each endpoint', async () => {
    const [first, second] = [newEvent({ subType: 'PENDING' }), newEvent({ subType: 'SUCCESS' })];
    const about = { entityId: first.entityId, data: first.data };
    const last = { ...second, ...about };
    const gone = crypto.randomUUID();
    await apply(routed(last, [endpoint, gone]), routed(first, [endpoint]), delivered(attempt(first, 1)));
    const told = await story(idOf(first));
    expect(told).toMatchObject({ kind: 'transaction', state: 'SUCCESS', held: false, has_more: false });
    expect(told.transaction_uuid).toBe(idOf(first));
    expect(told.entity_uuid).toBe(first.entityId);
    expect(told.events.map(({ state }: { state: string }) => state)).toEqual(['PENDING', 'SUCCESS']);
    expect(told.endpoints).toEqual([
      expect.objectContaining({ endpoint_uuid: endpoint, received: 1, owed: 1, not_received: 0 }),
      expect.objectContaining({ endpoint_uuid: gone, url: null, status: null, owed: 1 }),
    ]);
    // A user's story has the transaction's events too.
    const ofUser = await story(first.entityId);
    expect(ofUser).toMatchObject({ kind: 'entity', transaction_uuid: null });
    expect(ofUser.events).toHaveLength(2);
  });

  test('takes the state of an account from its data, and ids that are no UUIDs', async () => {
    const event = newEvent({
      ...{ type: 'serviceBankAccount', subType: 'statusUpdate' },
      data: { uuid: 'LEDGER 7/ü', status: 'ACTIVE' },
    });
    await apply(routed(event, []));
    expect(await story('LEDGER 7/ü')).toMatchObject({ kind: 'bank_account', state: 'ACTIVE' });
    expect((await lookUp('LEDGER 7/ü')).found).toMatchObject([
      { kind: 'bank_account', path: '/merchant/subjects/LEDGER%207%2F%C3%BC' },
    ]);
  });

  test('says where to ask when nothing is known', async () => {
    const unknown = await story(crypto.randomUUID());
    expect(unknown).toMatchObject({ code: 'subject_not_found', status: 404 });
    expect(unknown.detail).toMatch(/environment of the key.*ask the platform/);
    const theirs = eventNumber(api.foreignMerchantId, 900);
    const elsewhere = crypto.randomUUID();
    await apply(routed(theirs, [elsewhere]));
    for (const id of [theirs.eventId, deliveryId(theirs.eventId, elsewhere), elsewhere])
      expect([id, (await lookUp(id)).code]).toEqual([id, 'id_not_found']);
    expect((await story(idOf(theirs))).code).toBe('subject_not_found');
    expect((await lookUp(idOf(theirs))).code).toBe('id_not_found');
  });
});

describe('the look-up of an id', () => {
  test('says what it is and where it is described, and the path is there', async () => {
    const event = newEvent();
    await apply(routed(event, [endpoint]), delivered(attempt(event, 1)));
    const id = deliveryId(event.eventId, endpoint);
    const created = await api.call('POST', ENDPOINTS, {
      json: { url: 'https://hooks.merchant.com/looked-up', description: 'd' },
    });
    const requestId = created.headers.get('x-request-id') ?? '';
    const kinds = [
      [event.eventId, 'event'],
      [event.eventId.toUpperCase(), 'event'],
      [id, 'delivery'],
      [endpoint, 'endpoint'],
      [idOf(event), 'transaction'],
      [event.entityId, 'entity'],
      [requestId, 'request'],
    ] as const;
    for (const [each, kind] of kinds) {
      const { found = [] } = await lookUp(each);
      expect([each, found.map((one: { kind: string }) => one.kind)]).toEqual([each, [kind]]);
      expect(found[0].summary).toMatch(/^(The|A|Your) .+/);
      expect([found[0].path, (await api.call('GET', found[0].path)).status]).toEqual([found[0].path, 200]);
    }
    expect((await lookUp(requestId)).found[0].summary).toContain('endpoint.create');
  });

  test('finds the deliveries of an endpoint that was deleted', async () => {
    const { uuid } = await createEndpoint(api);
    const event = newEvent();
    await apply(routed(event, [uuid]));
    await api.call('DELETE', `${ENDPOINTS}/${uuid}`);
    const { found } = await lookUp(uuid);
    expect(found).toMatchObject([{ kind: 'endpoint', summary: expect.stringContaining('deleted') }]);
    expect((await api.call('GET', found[0].path)).body.data).toHaveLength(1);
  });
});
