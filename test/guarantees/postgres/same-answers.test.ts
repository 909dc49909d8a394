/**
 * The two stores accept the same. Texts, times and numbers that a store might not take are thrown at two APIs, one on
 * SQLite and one on PostgreSQL: both give the same answers, none is a 5xx, and what is accepted is in both delivery logs.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deliveryId } from '../../../services/domain/ids.ts';
import { fanOut } from '../../../services/router/fan-out.ts';
import { startRecorded } from '../../support/api/recorded-api.ts';
import {
  type Answer,
  type CallOptions,
  createEndpoint,
  ENDPOINTS,
  onDatabase,
  startTestApi,
  type TestApi,
} from '../../support/api/test-api.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';
import { jsonEventOf } from '../../support/records/events.ts';
import { delivered } from '../../support/records/journal-entries.ts';

interface Sent extends CallOptions {
  readonly method: string;
  readonly path: string;
}

const WITH_ZEROS = { status: 200, headers: [], body: Buffer.from('a\0\0b\0'), bodyTruncated: false };
const HARD_TEXTS = [
  ...['a\u0000b', '\u0000', '\\u0000', '%00', '\ud800', 'x\udfff', '__proto__', 'constructor', ' ', '\t'],
  ...['\u00a0', '\ufeff', '\uffff', '👩‍👩‍👧‍👦', "'; DROP TABLE event; --", '{}', 'NULL', '\\', '\u2028', 'İ'],
  ...['x'.repeat(256), '😀'.repeat(255), 'x'.repeat(3_000)],
];
const text = fc.oneof(
  fc.constantFrom(...HARD_TEXTS),
  fc.string({ unit: 'binary' }),
  fc.tuple(fc.string(), fc.constantFrom(...HARD_TEXTS)).map((parts) => parts.join('')),
);
const NUMBERS = [0, -1, 0.5, 1e3, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 63, 2 ** 64, 1e20, 1e300, -(2 ** 63)];
const number = fc.oneof(fc.constantFrom(...NUMBERS), fc.double(), fc.maxSafeInteger());
const TIMES = [
  ...[
    '9999-12-31T23:59:59.999-23:59',
    '9999-12-31T23:59:59Z',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+14:00',
  ],
  ...[
    '1969-12-31T23:59:59Z',
    '1970-01-01T00:00:00Z',
    '2016-12-31T23:59:60Z',
    '2026-01-01',
    '2026-01-01 00:00:00',
  ],
  ...[
    '2026-01-01T00:00:00',
    '+275760-09-13T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2025-01-01T00:00:00.123456789Z',
  ],
];
const time = fc.oneof(
  fc.constantFrom(...TIMES),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  text,
);
const cursor = fc.oneof(
  text,
  fc
    .tuple(number, fc.constantFrom('.', '/', ':', ''), fc.oneof(number, fc.uuid()))
    .map((parts) => Buffer.from(parts.join('')).toString('base64url')),
  fc
    .tuple(fc.constantFrom('999999999999999', '0', '18446744073709551616'), fc.constantFrom('.', '/'))
    .map(([digits, between]) => Buffer.from(`${digits}${between}${digits}`).toString('base64url')),
);

const query = (path: string, names: readonly string[], value: fc.Arbitrary<unknown>) =>
  fc.tuple(fc.constantFrom(...names), value).map(([name, given]): Sent => {
    // What has no UTF-8 cannot be in a URL.
    const encoded = encodeURIComponent(String(given).replaceAll(/\p{Surrogate}/gu, '\ufffd'));
    return { method: 'GET', path: `${path}?${name}=${encoded}` };
  });

let seed = 0;
/** Fields of an event with hard values: mostly one, so that the others are right. */
const event: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  ...['merchantId', 'walletAddress', 'chain', 'status', 'amountFiat', 'subType', 'extra'].map((name) =>
    text.map((given) => ({ [name]: given })),
  ),
  fc.oneof(number, time).map((given) => ({ occurredAt: given })),
  fc.record({ merchantId: text, occurredAt: number, chain: text, amountFiat: number }),
);

const request: fc.Arbitrary<(to: Target) => Sent> = fc.oneof(
  fc
    .tuple(text, fc.constantFrom('description', 'url', 'api_version', 'subscribed_events'))
    .map(([given, name]) => () => {
      seed += 1;
      const json = { url: `https://hooks.merchant.com/${seed}`, description: 'A test', [name]: given };
      return { method: 'POST', path: ENDPOINTS, json };
    }),
  text.map((given) => ({ endpoint }: Target) => ({
    method: 'PATCH',
    path: `${ENDPOINTS}/${endpoint}`,
    json: { description: given },
  })),
  text.map((given) => ({ endpoint }: Target) => ({
    method: 'PATCH',
    path: `${ENDPOINTS}/${endpoint}`,
    json: { url: `https://hooks.merchant.com/${given}` },
  })),
  text.map((given) => () => ({
    method: 'PATCH',
    path: '/merchant',
    json: { webhook_url: `https://hooks.merchant.com/${seed}`, webhook_secret: given },
  })),
  fc.tuple(time, time).map(([since, until]) => ({ endpoint }: Target) => ({
    method: 'POST',
    path: `${ENDPOINTS}/${endpoint}/replay`,
    json: { since, until, only: 'undelivered', dry_run: true },
  })),
  fc
    .oneof(
      query('/merchant/events', ['subType', 'type', 'verdict', 'entity_uuid', 'endpoint_uuid'], text),
      query('/merchant/deliveries', ['subType', 'status', 'a\u0000b', '__proto__'], text),
      query('/merchant/events', ['since', 'until'], time),
      query('/merchant/deliveries', ['since', 'until'], time),
      query('/merchant/deliveries', ['limit', 'cursor'], fc.oneof(number, cursor)),
      query('/merchant/events', ['limit', 'cursor'], fc.oneof(number, cursor)),
      query(ENDPOINTS, ['limit', 'cursor', 'status'], fc.oneof(number, cursor)),
    )
    .map((sent) => () => sent),
  query('', ['since', 'until', 'cursor', 'limit'], fc.oneof(time, cursor)).map(
    (sent) =>
      ({ endpoint }: Target) => ({
        ...sent,
        path: `${ENDPOINTS}/${endpoint}/deliveries${sent.path}`,
      }),
  ),
  cursor.map((given) => ({ endpoint }: Target) => ({
    method: 'GET',
    path: `${ENDPOINTS}/${endpoint}/replays?cursor=${encodeURIComponent(given.replaceAll(/\p{Surrogate}/gu, ''))}`,
  })),
  cursor.map((given) => () => ({
    method: 'HEAD',
    path: '/merchant/stream',
    headers: { 'last-event-id': given.replaceAll(/[^\x21-\x7e]/g, '') || '0' },
  })),
  fc.tuple(event, fc.boolean()).map(([bad, isAlone]) => ({ merchantId, keys }: Target) => {
    seed += 1;
    const good = jsonEventOf(merchantId, `good-${seed}`);
    const other = jsonEventOf(merchantId, `bad-${seed}`);
    const {
      merchantId: stranger = merchantId,
      occurredAt = other.header.occurredAt,
      subType = other.header.subType,
      ...data
    } = bad;
    const header = { ...other.header, merchantId: stranger, occurredAt, subType };
    const hard = { ...other, header, data: { ...other.data, ...data } };
    return {
      method: 'POST',
      path: '/producer/events',
      json: isAlone ? hard : [good, hard],
      key: keys.producer,
    };
  }),
);

interface Target {
  readonly endpoint: string;
  readonly merchantId: string;
  readonly keys: TestApi['keys'];
}

/** Returns an answer without what differs by itself: ids, times, secrets, sequences. */
function comparable({ status, text: body }: Answer, { merchantId }: Target): string {
  const same = body
    .replaceAll(merchantId, '<merchant>')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/"(signing_secret|secret_hint|next_cursor)":"[^"]*"/g, '"$1":"<secret>"')
    .replaceAll(/"sequence":[1-9]\d*/g, '"sequence":<number>');
  return `${status} ${same}`;
}

await describeWithPostgres('the two stores', (createDatabase) => {
  const apis: TestApi[] = [];
  const targets: Target[] = [];
  const stops: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    for (const api of [await startTestApi(), await onDatabase(createDatabase)({})]) {
      apis.push(api);
      const { directory } = api;
      const recorded = await startRecorded(api, ['live']);
      recorded.settle = (task) => [delivered(task, { response: WITH_ZEROS })];
      const router = await api.broker.events.consume(
        (received) => fanOut(received, { directory, acceptsSimulated: true, now: api.clock.wall() }),
        { inFlightMax: 100 },
      );
      stops.push(async () => {
        await router.stop(1_000);
        await recorded.stop();
        await api.close();
      });
      targets.push({
        endpoint: (await createEndpoint(api)).uuid,
        merchantId: api.merchantId,
        keys: api.keys,
      });
    }
  }, 60_000);
  afterAll(async () => {
    for (const stop of stops) await stop();
  });

  const send = async (index: number, make: (to: Target) => Sent) => {
    const [api, target] = [apis[index] as TestApi, targets[index] as Target];
    const before = seed;
    const { method, path, ...options } = make(target);
    // The second store gets the same request.
    if (index === 0) seed = before;
    if (method !== 'HEAD') return comparable(await api.call(method, path, options), target);
    const headers = { ...options.headers, authorization: `API-Key ${api.keys.own}` };
    return `${(await fetch(api.api.url + path, { method, headers })).status}`;
  };

  /** Waits until each store has what was published: what follows must not meet it half done in one of them. */
  const settled = async () => {
    seed += 1;
    for (const [i, { call, merchantId, keys }] of apis.entries()) {
      const last = jsonEventOf(merchantId, `settled-${seed}`);
      await call('POST', '/producer/events', { json: last, key: keys.producer });
      await eventually(
        `event ${last.header.eventId} is in the log of api ${i}, and nothing is open`,
        async () => {
          const event = await call('GET', `/merchant/events/${last.header.eventId}`);
          const { body } = await call('GET', '/merchant/deliveries?status=pending');
          return event.status === 200 && body.data.length === 0;
        },
      );
    }
  };

  test('give the same answer to any text, time and number, and never a 5xx', {
    timeout: 300_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(request, async (make) => {
        const [sqlite, postgres] = [await send(0, make), await send(1, make)];
        expect(postgres).toBe(sqlite);
        expect(sqlite).not.toMatch(/^5/);
        if (make(targets[0] as Target).path === '/producer/events') await settled();
      }),
      { numRuns: 600 },
    );
  });

  test('show the response of a receiver that sends U+0000, to the last byte', async () => {
    const shown = apis.map(async ({ call, merchantId, keys }, i) => {
      const json = jsonEventOf(merchantId, 'zeros');
      const { endpoint = '' } = targets[i] ?? {};
      await call('POST', '/producer/events', { json, key: keys.producer });
      const path = `${ENDPOINTS}/${endpoint}/deliveries/${deliveryId(json.header.eventId, endpoint)}`;
      return eventually(
        'the attempt is in the log',
        async () => (await call('GET', path)).body.attempts?.[0],
      );
    });
    const same = { response_status: 200, response_body: 'a\u0000\u0000b\u0000' };
    expect(await Promise.all(shown)).toMatchObject([same, same]);
  });

  test('have the same events in their logs afterwards', { timeout: 60_000 }, async () => {
    for (const { call, merchantId, keys } of apis) {
      const last = jsonEventOf(merchantId, 'the last one');
      await call('POST', '/producer/events', { json: last, key: keys.producer });
      await eventually('the last event is recorded', async () => {
        const { body } = await call('GET', '/merchant/events?limit=1');
        return body.data[0]?.event_uuid === last.header.eventId;
      });
    }
    const counts = await Promise.all(
      apis.map(async ({ call }) => {
        let count = 0;
        for (let after: string | null = ''; after !== null; ) {
          const { body } = await call('GET', `/merchant/events?limit=100${after && `&cursor=${after}`}`);
          count += body.data.length;
          after = body.next_cursor;
        }
        return count;
      }),
    );
    expect(counts[0]).toBeGreaterThan(1);
    expect(counts[1]).toBe(counts[0]);
  });
});
