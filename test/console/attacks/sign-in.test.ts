/**
 * Attacks on the console's sign-in, over HTTP: links that are late, read by programs or meant for another merchant, sessions
 * after their end, cookies that were planted, and requests that another site makes a browser send. On SQLite, and with two
 * apis on one PostgreSQL that answer in turn. What a link and a session do otherwise is in test/api/portal.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  as,
  codeOf,
  consoleVisits,
  cookieOf,
  SESSION,
  type SignedIn,
  sessionsOf,
} from '../../support/api/console-visits.ts';
import { exampleBody, operations } from '../../support/api/openapi-check.ts';
import {
  ENDPOINTS,
  onDatabase,
  startTestApi,
  type TestApi,
  type TestApiOptions,
} from '../../support/api/test-api.ts';
import { OwnedIds } from '../../support/models/owned-ids.ts';
import { movableClock } from '../../support/movable-clock.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';

const MINUTE_MS = 60_000;
/** The headers that a browser adds to a request of another site. */
const CROSS_SITE = {
  origin: 'https://evil.example',
  'sec-fetch-site': 'cross-site',
  'sec-fetch-mode': 'cors',
};
/** The content types that a page may send to another site without asking it first, and none at all. */
const SIMPLE = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''];
/** The operations that change something and that a session may call. */
const writes = operations().filter(({ method, operation: { security } }) => {
  return method !== 'GET' && (security ?? [{ consoleSession: [] }]).some((each) => 'consoleSession' in each);
});

let api: TestApi;
let owned: OwnedIds;
const clock = movableClock();
const visits = () => consoleVisits(api);

function linkTests(): void {
  test('a link that is opened a moment too late opens nothing', async () => {
    const [early, late] = [
      await visits().link({ link_minutes: 2 }),
      await visits().link({ link_minutes: 2 }),
    ];
    clock.setWall(2 * MINUTE_MS - 5000);
    expect((await visits().open(early.token)).status).toBe(201);
    clock.setWall(5000);
    expect(await codeOf(visits().open(late.token))).toEqual([401, 'portal_link_invalid']);
  });

  test('a program that follows a link by GET or HEAD does not spend it', async () => {
    const { token } = await visits().link();
    for (const method of ['GET', 'HEAD'])
      for (const path of ['/console', '/console/', `/console/?link=${token}`, `${SESSION}?link=${token}`]) {
        const { headers } = await fetch(api.api.url + path, { method, redirect: 'manual' });
        expect([method, path, headers.get('set-cookie')]).toEqual([method, path, null]);
      }
    expect((await visits().open(token)).status).toBe(201);
  });

  test('a link of one merchant opens no other one, also in a browser that is signed in there', async () => {
    const other = await visits().signIn({}, api.foreignMerchantId);
    const { token } = await visits().link();
    const opened = await visits().open(token, { cookie: other.cookie });
    expect(opened.body.merchant_id).toBe(api.merchantId);
    const read = await api.call('GET', SESSION, as({ ...other, cookie: cookieOf(opened.headers) }));
    expect(read.body.merchant_id).toBe(api.merchantId);
    expect((await api.call('GET', SESSION, as(other))).body.merchant_id).toBe(api.foreignMerchantId);
  });

  test('the token of a link is no session, and the token of a session is no link', async () => {
    const { token } = await visits().link();
    const cookie = `__Host-hookrail_console=${token}`;
    expect(await codeOf(api.call('GET', ENDPOINTS, { key: null, headers: { cookie } }))).toEqual([
      401,
      'portal_session_ended',
    ]);
    const session = await visits().signIn();
    const [, own = ''] = session.cookie.split('=');
    expect(await codeOf(visits().open(own))).toEqual([401, 'portal_link_invalid']);
    expect((await api.call('GET', ENDPOINTS, as(session))).status).toBe(200);
  });

  test('a cookie that was planted before the sign-in is not the session afterwards', async () => {
    const planted = 'A'.repeat(43);
    const { token } = await visits().link();
    const opened = await visits().open(token, {
      cookie: `__Host-hookrail_console=${planted}; hookrail_console_${api.api.port}=${planted}`,
    });
    expect(opened.headers.get('set-cookie')).not.toContain(planted);
    expect(cookieOf(opened.headers)).toMatch(/=[\w-]{43}$/);
    const cookie = `__Host-hookrail_console=${planted}`;
    expect(await codeOf(api.call('GET', SESSION, { key: null, headers: { cookie } }))).toEqual([
      401,
      'portal_session_ended',
    ]);
  });

  test('the address of the platform’s next page is https, so that it runs no script', async () => {
    for (const refresh_url of ['javascript:alert(1)', 'data:text/html,x', '//evil.example', 'https://'])
      expect(
        await codeOf(
          api.call('POST', sessionsOf(api.merchantId), { key: api.keys.platform, json: { refresh_url } }),
        ),
        refresh_url,
      ).toEqual([400, 'validation_error']);
  });
}

function endTests(): void {
  const everything = async (session: SignedIn) =>
    Promise.all([
      codeOf(api.call('GET', SESSION, as(session))),
      codeOf(api.call('GET', ENDPOINTS, as(session))),
      codeOf(api.call('GET', '/merchant/stream?seconds=0', as(session))),
      codeOf(api.call('POST', ENDPOINTS, as(session, { url: 'https://x.example', description: 'x' }))),
    ]);
  const refused = Array(4).fill([401, 'portal_session_ended']);

  test('a session ends when its time is over, whatever the browser keeps', async () => {
    const session = await visits().signIn({ session_minutes: 5 });
    clock.setWall(5 * MINUTE_MS);
    expect(await everything(session)).toEqual(refused);
  });

  test('a session that the platform has ended opens nothing, and its token of changes neither', async () => {
    const [ended, going] = [await visits().signIn(), await visits().signIn()];
    await api.call('DELETE', `${sessionsOf(api.merchantId)}/${ended.sessionId}`, { key: api.keys.platform });
    expect(await everything(ended)).toEqual(refused);
    expect(await everything({ ...ended, csrf: going.csrf })).toEqual(refused);
    const mixed = { url: 'https://x.example', description: 'x' };
    expect(await codeOf(api.call('POST', ENDPOINTS, as({ ...going, csrf: ended.csrf }, mixed)))).toEqual([
      403,
      'csrf_token_invalid',
    ]);
  });

  test('a session of a merchant that an operator has paused still reads, and only its own', async () => {
    const session = await visits().signIn({}, api.foreignMerchantId);
    await api.store.merchants.update(api.foreignMerchantId, { state: 'paused' });
    const read = await api.call('GET', SESSION, as(session));
    expect([read.status, read.body.merchant_id]).toEqual([200, api.foreignMerchantId]);
    await api.store.merchants.update(api.foreignMerchantId, { state: 'active' });
  });
}

function crossSiteTests(): void {
  test('no response of the console or of the API lets a page of another site read it', async () => {
    const session = await visits().signIn();
    for (const method of ['GET', 'OPTIONS'])
      for (const path of ['/console/', SESSION, ENDPOINTS, '/merchant/stream?seconds=0']) {
        const { headers, status } = await fetch(api.api.url + path, {
          method,
          headers: { ...CROSS_SITE, cookie: session.cookie, 'access-control-request-method': 'POST' },
        });
        const allowed = [...headers.keys()].filter((name) => name.startsWith('access-control-'));
        expect([method, path, allowed]).toEqual([method, path, []]);
        if (method === 'OPTIONS') expect([path, status]).toEqual([path, path === '/console/' ? 404 : 405]);
      }
  });

  test.each(SIMPLE)(
    'a form or a beacon of another site, with the content type "%s", opens no link',
    async (type) => {
      const { token } = await visits().link();
      const response = await fetch(api.api.url + SESSION, {
        method: 'POST',
        headers: { ...CROSS_SITE, ...(type === '' ? {} : { 'content-type': type }) },
        body: new TextEncoder().encode(JSON.stringify({ link: token })),
      });
      expect([response.status, response.headers.get('set-cookie')]).toEqual([415, null]);
      // It is not spent.
      expect((await visits().open(token)).status).toBe(201);
    },
  );

  test.each(SIMPLE)('a form of another site, with the content type "%s", changes nothing', async (type) => {
    const session = await visits().signIn();
    const send = (headers: Record<string, string>) =>
      fetch(api.api.url + ENDPOINTS, {
        method: 'POST',
        headers: { ...CROSS_SITE, cookie: session.cookie, ...headers },
        body: new TextEncoder().encode('{"url":"https://hooks.merchant.com/csrf","description":"Theirs"}'),
      });
    expect((await send(type === '' ? {} : { 'content-type': type })).status).toBe(403);
    // With the token, which another site cannot know, it is still no JSON.
    const told = await send({
      ...(type === '' ? {} : { 'content-type': type }),
      'hookrail-csrf': session.csrf,
    });
    expect(told.status).toBe(415);
  });

  describe.each(writes.map(({ method, path, operation }) => ({ method, path, operation })))(
    '$method $path',
    ({ method, path, operation }) => {
      const json = exampleBody(operation);
      const called = async () => {
        const ids: Readonly<Record<string, string>> = await owned.own();
        return path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => ids[name] ?? '');
      };
      const audited = () => api.store.audit.list({ limit: 1, merchantId: api.merchantId });

      test('is refused to a session without its token, and leaves everything as it was', async () => {
        const session = await visits().signIn();
        const whole = await called();
        const before = await audited();
        const csrf = (await visits().signIn({}, api.foreignMerchantId)).csrf;
        for (const headers of [{}, { 'hookrail-csrf': csrf }]) {
          const sent = { key: null, json, headers: { ...CROSS_SITE, cookie: session.cookie, ...headers } };
          expect(await codeOf(api.call(method, whole, sent))).toEqual([403, 'csrf_token_invalid']);
        }
        expect(await audited()).toEqual(before);
      });

      test.skipIf(path === SESSION)('is refused to a session that only looks', async () => {
        const session = await visits().signIn({ access: 'read' });
        const whole = await called();
        const before = await audited();
        expect(await codeOf(api.call(method, whole, as(session, json)))).toEqual([
          403,
          'portal_session_read_only',
        ]);
        expect(await audited()).toEqual(before);
      });
    },
  );
}

function suite(start: (options: TestApiOptions) => Promise<TestApi>): void {
  beforeAll(async () => {
    api = await start({ clock, endpointQuota: 1000 });
    owned = new OwnedIds(api);
  });
  afterAll(() => api?.close());

  test('the operations that a session may change something with are known', () => {
    expect(writes.length).toBeGreaterThan(6);
    expect(writes.map(({ path }) => path)).toContain(SESSION);
  });
  linkTests();
  endTests();
  crossSiteTests();
}

describe('one api', () => suite(startTestApi));

await describeWithPostgres('two apis on one PostgreSQL that answer in turn', (createDatabase) => {
  suite(onDatabase(createDatabase));
});
