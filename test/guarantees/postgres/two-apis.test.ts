/**
 * Guarantee: two api processes on one PostgreSQL behave as one behind one address. What is done through one is seen through
 * the other at once; limits, keys and the Idempotency-Key hold over both; a stream goes on at the other one.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { describeWithKafka } from '../../support/kafka/suites.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';
import { jsonEventOf } from '../../support/records/events.ts';
import { inForce } from '../../support/service/in-force.ts';
import { type Answer, MerchantClient } from '../../support/service/merchant-client.ts';
import { besides, toolAnswer } from '../../support/service/operator-tool.ts';
import { openStream } from '../../support/service/stream-client.ts';
import { startTwoApis, type TwoApis, type TwoApisOptions } from '../../support/service/two-apis.ts';
import { expectResumable } from '../../support/trials/resumed-stream.ts';

const START_MS = 240_000;
const TIMEOUT_MS = 300_000;
/** A replay waits up to 30 s for its last deliveries. */
const REPLAYED_MS = 90_000;
const ENDPOINTS = '/merchant/webhook-endpoints';
const ROUNDS = 4;

await describeWithKafka('two apis with Kafka', (kafka) =>
  describeWithPostgres('on one PostgreSQL', (createDatabase) => suite({ kafka, createDatabase })),
);

function suite(place: Pick<TwoApisOptions, 'kafka' | 'createDatabase'>): void {
  let apis: TwoApis;
  let elsewhere: string;
  beforeAll(async () => {
    elsewhere = mkdtempSync(join(tmpdir(), 'hookrail-elsewhere-'));
    apis = await startTwoApis({ ...place, delivers: true });
  }, START_MS);
  afterEach(async () => {
    const { data } = (await apis.merchant.request('GET', `${ENDPOINTS}?limit=100`)).body;
    for (const { uuid } of data) await apis.merchant.request('DELETE', `${ENDPOINTS}/${uuid}`);
  });
  afterAll(async () => {
    await apis?.dispose();
    rmSync(elsewhere, { recursive: true, force: true });
  });

  const json = () => ({ url: `${apis.receiver.url}/${crypto.randomUUID()}`, description: 'made by one' });
  /** The environment of the operator's tool on a machine without a service. */
  const away = () => ({ ...apis.fleet.environment, HOOKRAIL_DATA_DIR: elsewhere });
  const both = () => [apis.one, apis.two] as const;

  /** Sends the same request to both apis at the same time, three times to each. */
  const toBoth = (...asked: Parameters<MerchantClient['request']>) =>
    Promise.all(Array.from({ length: 6 }, (_, n) => (n % 2 === 0 ? apis.one : apis.two).request(...asked)));

  async function newKey() {
    const { keyId, key } = await toolAnswer(away(), 'keys', 'create', '--merchant', apis.setup.merchantId);
    const setup = { ...apis.setup, apiKey: key as string };
    const clients = apis.fleet.of('api').map(({ service }) => new MerchantClient(setup, () => service));
    return { keyId: keyId as string, key: key as string, clients };
  }

  it('make one change of requests with one Idempotency-Key, and give all the same answer', {
    timeout: TIMEOUT_MS,
  }, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const key = { 'idempotency-key': crypto.randomUUID() };
      const body = json();
      const created = expectOneAnswer(await toBoth('POST', ENDPOINTS, body, key), 201);
      for (const api of both()) {
        const again = await api.request('POST', ENDPOINTS, body, key);
        expect([again.body, again.headers.get('idempotent-replayed')]).toEqual([created.body, 'true']);
        const { data } = (await api.request('GET', `${ENDPOINTS}?limit=100`)).body;
        expect(data.filter(({ url }: { url: string }) => url === body.url)).toHaveLength(1);
      }
      const path = `${ENDPOINTS}/${created.body.uuid}`;
      const rotation = ['PATCH', `${path}/secret`, undefined, { 'idempotency-key': `${round}` }] as const;
      const rotated = expectOneAnswer(await toBoth(...rotation), 200);
      for (const api of both()) {
        expect((await api.request(...rotation)).body).toEqual(rotated.body);
        expect((await api.request('GET', path)).body.secret_hint).toBe(rotated.body.secret_hint);
      }
      const audit = await toolAnswer(away(), 'audit', 'list', '--endpoint', created.body.uuid);
      const actions = audit.map(({ action }: { action: string }) => action);
      expect(actions).toEqual(['endpoint.rotate', 'endpoint.create']);
    }
  });

  it('see at once what was changed through the other', { timeout: TIMEOUT_MS }, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const [one, two] = round % 2 === 0 ? both() : [apis.two, apis.one];
      const { uuid } = await one.createEndpoint(json().url);
      const path = `${ENDPOINTS}/${uuid}`;
      expect((await two.request('GET', path)).status).toBe(200);
      const listed = (await two.request('GET', `${ENDPOINTS}?limit=1`)).body.data;
      expect(listed).toMatchObject([{ uuid }]);
      await two.request('PATCH', path, { description: `round ${round}` });
      expect((await one.request('GET', path)).body.description).toBe(`round ${round}`);
      await one.request('DELETE', path);
      expect((await two.request('GET', path)).body.code).toBe('webhook_endpoint_not_found');
    }
  });

  it('keep both of two changes of one endpoint, and refuse a URL that the other has given away', {
    timeout: TIMEOUT_MS,
  }, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const [first, second] = await Promise.all(both().map((api) => api.createEndpoint(json().url)));
      const path = `${ENDPOINTS}/${first?.uuid}`;
      const { url } = json();
      const changes = await Promise.all([
        apis.one.request('PATCH', path, { description: 'changed' }),
        apis.two.request('PATCH', path, { subscribed_events: ['KYC'] }),
      ]);
      expect(changes.map(({ status }) => status)).toEqual([200, 200]);
      const changed = (await apis.merchant.request('GET', path)).body;
      expect(changed).toMatchObject({ description: 'changed', subscribed_events: ['KYC'] });
      const taken = await Promise.all([
        apis.one.request('PATCH', path, { url }),
        apis.two.request('PATCH', `${ENDPOINTS}/${second?.uuid}`, { url }),
      ]);
      expect(taken.map(({ status }) => status).sort()).toEqual([200, 409]);
      const refused = taken.find(({ status }) => status === 409);
      expect(refused?.body.code).toBe('url_already_registered');
    }
  });

  it('deliver, list, send again and replay together', { timeout: TIMEOUT_MS }, async () => {
    const { one, two, receiver, setup } = apis;
    const { uuid } = await one.createEndpoint(json().url);
    const path = `${ENDPOINTS}/${uuid}`;
    await inForce();
    const events = Array.from({ length: 5 }, (_, n) => jsonEventOf(setup.merchantId, `together ${n}`));
    for (const [n, event] of events.entries()) await (n % 2 === 0 ? one : two).publish([event]);
    const arrivals = () => receiver.arrivals.filter(({ endpointId }) => endpointId === uuid);
    await eventually('all events arrive', () => arrivals().length === events.length);
    const isDelivered = async () =>
      (await two.request('GET', `${path}/deliveries?status=delivered`)).body.data.length === events.length;
    await eventually('all deliveries are recorded', isDelivered);

    const deliveries = await pagesInTurn(both(), `${path}/deliveries`);
    expect(deliveries.map(({ event_uuid }) => event_uuid).sort()).toEqual(idsOf(events));
    const paged = (await pagesInTurn(both(), '/merchant/events')).map(({ event_uuid }) => event_uuid);
    expect(paged.sort()).toEqual(idsOf(events));

    const [delivery] = deliveries;
    const resend = `${path}/deliveries/${delivery?.delivery_uuid}/resend`;
    const key = { 'idempotency-key': 'resent' };
    const resent = expectOneAnswer(await toBoth('POST', resend, undefined, key), 202).body;
    await eventually('the resent delivery arrives', () => arrivals().length === events.length + 1);
    expect(arrivals().at(-1)?.deliveryId).toBe(resent.delivery_uuid);

    await one.request('PATCH', path, { status: 'disabled' });
    await inForce();
    const missed = Array.from({ length: 3 }, (_, n) => jsonEventOf(setup.merchantId, `missed ${n}`));
    await two.publish(missed);
    for (const { header } of missed) {
      const isKnown = async () =>
        (await one.request('GET', `/merchant/events/${header.eventId}`)).status === 200;
      await eventually('the missed event is recorded', isKnown);
    }
    await two.request('PATCH', path, { status: 'active' });
    const scope = { since: new Date(Date.now() - 3_600_000).toISOString(), only: 'missing' };
    const asked = await Promise.all(both().map((api) => api.request('POST', `${path}/replay`, scope)));
    const begun = asked.find(({ status }) => status === 202);
    const refused = asked.find(({ status }) => status !== 202);
    expect(begun?.body).toMatchObject({ count: missed.length });
    expect(refused?.body.code).toBe('replay_running');
    await untilReplayed(path, begun);
    const isAllThere = () => arrivals().length === events.length + 1 + missed.length;
    await eventually('the missed events arrive', isAllThere);
    // Whichever of them carries replays out notices those of the other.
    for (const api of both()) await untilReplayed(path, await api.request('POST', `${path}/replay`, scope));
    expect(isAllThere()).toBe(true);
  });

  it('answer a test webhook with its result, which another process records', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { uuid } = await apis.one.createEndpoint(json().url);
    await inForce();
    const body = { type: 'KYC', subType: 'FULL_USER', user_uuid: crypto.randomUUID() };
    for (const api of both()) {
      const tested = await api.request('POST', `${ENDPOINTS}/${uuid}/test`, body, { prefer: 'wait=25' });
      expect(tested).toMatchObject({ status: 200, body: { status: 'delivered', response_status: 200 } });
    }
  });

  async function untilReplayed(path: string, begun: Answer | undefined): Promise<void> {
    expect(begun?.status).toBe(202);
    const replay = `${path}/replays/${begun?.body.replay_uuid}`;
    const isCompleted = async () => (await apis.merchant.request('GET', replay)).body.status === 'completed';
    await eventually('the replay is completed', isCompleted, REPLAYED_MS);
  }

  it('refuse a revoked key from the next request on, and end its streams', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const [first] = apis.fleet.of('api');
    const environments = [away(), besides(apis.fleet.environment, first?.service ?? { operationsUrl: '' })];
    for (const environment of environments) {
      const { keyId, key, clients } = await newKey();
      const statuses = () =>
        Promise.all(clients.map(async (client) => (await client.request('GET', ENDPOINTS)).status));
      expect(await statuses()).toEqual([200, 200]);
      const streams = await Promise.all(
        apis.fleet.of('api').map(({ service }) => openStream(service.apiUrl, key)),
      );
      await toolAnswer(environment, 'keys', 'revoke', keyId);
      expect(await statuses()).toEqual([401, 401]);
      for (const stream of streams) {
        await stream.over;
        expect(stream.events).toMatchObject([{ event: 'end', data: { reason: 'key_revoked' } }]);
      }
    }
  });

  it('lose and repeat nothing on a stream that is resumed at the other one', {
    timeout: TIMEOUT_MS,
  }, async () => {
    let [present, other] = apis.fleet.of('api');
    let restarted: Promise<void> | undefined;
    await expectResumable({
      setup: apis.setup,
      receiverUrl: json().url,
      api: () => present?.service ?? { apiUrl: '' },
      killApi: async (gone) => {
        // Both run before one of them is killed.
        await restarted;
        expect(await present?.end('SIGKILL')).toBeNull();
        await gone();
        restarted = present?.start();
        [present, other] = [other, present];
      },
    });
    await restarted;
  });
}

/** Expects one answer with the status, the same for all who got it; the others were told to wait for it. Returns it. */
function expectOneAnswer(answers: readonly Answer[], status: number): Answer {
  const successes = answers.filter((answer) => answer.status === status);
  const [success] = successes;
  if (!success) throw new Error(`no request succeeded: ${JSON.stringify(answers)}`);
  expect(new Set(successes.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  expect(successes.filter(({ headers }) => !headers.has('idempotent-replayed'))).toHaveLength(1);
  for (const answer of answers) {
    if (answer.status !== status) expect(answer.body.code).toBe('idempotency_key_in_progress');
  }
  return success;
}

/** Reads a list page by page, each page at another api than the one before. */
async function pagesInTurn(
  clients: readonly MerchantClient[],
  path: string,
): Promise<readonly Readonly<Record<string, string>>[]> {
  const records: Record<string, string>[] = [];
  let cursor = '';
  for (let page = 0; ; page += 1) {
    const client = clients[page % clients.length];
    const { body } = (await client?.request('GET', `${path}?limit=2${cursor}`)) ?? { body: null };
    records.push(...body.data);
    if (!body.has_more) return records;
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
  }
}

function idsOf(events: readonly ReturnType<typeof jsonEventOf>[]): string[] {
  return events.map(({ header }) => header.eventId).sort();
}
