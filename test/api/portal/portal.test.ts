/**
 * The console's sign-in: a link of the platform opens a session once, and the session stands for the merchant's key, with a
 * token for each change. On SQLite, and with two apis on one PostgreSQL that answer in turn.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  as,
  codeOf,
  consoleVisits,
  SESSION,
  type SignedIn,
  sessionsOf,
} from '../../support/api/console-visits.ts';
import { ENDPOINTS, onDatabase, startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { describeWithPostgres } from '../../support/postgres/suites.ts';
import { HOUR_MS } from '../../support/records/journal-entries.ts';

const MINUTE_MS = 60_000;

type Visits = ReturnType<typeof consoleVisits>;

function suite(start: () => Promise<TestApi>): void {
  let api: TestApi;
  beforeAll(async () => {
    api = await start();
  });
  afterAll(() => api.close());

  const link = (...given: Parameters<Visits['link']>) => consoleVisits(api).link(...given);
  const open = (token: string) => consoleVisits(api).open(token);
  const signIn = (...given: Parameters<Visits['signIn']>) => consoleVisits(api).signIn(...given);

  test('a link opens a session, which says whose it is and reads as the merchant’s key', async () => {
    const made = await link({
      access: 'write',
      person: 'Ann Ägäis',
      refresh_url: 'https://platform.example/console',
    });
    expect(made.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console\/#link=[\w-]{43}$/);
    const opened = await open(made.token);
    expect(opened.body).toMatchObject({
      merchant_id: api.merchantId,
      merchant_name: 'Test merchant',
      environment: 'sandbox',
      access: 'write',
      person: 'Ann Ägäis',
      refresh_url: 'https://platform.example/console',
    });
    const set = String(opened.headers.get('set-cookie'));
    expect(set).toMatch(/^hookrail_console_\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=288\d\d$/);
    const headers = { cookie: set.slice(0, set.indexOf(';')).replace(/^[^=]+/, '__Host-hookrail_console') };
    const read = await api.call('GET', SESSION, { key: null, headers });
    expect([read.status, read.body.csrf_token]).toEqual([200, opened.body.csrf_token]);
    expect((await api.call('GET', ENDPOINTS, { key: null, headers })).status).toBe(200);
    // The token is in no answer but the cookie.
    expect(opened.text + read.text).not.toContain(set.slice(set.indexOf('=') + 1, set.indexOf(';')));
  });

  test('a link opens one session, however many try at once', async () => {
    const { token } = await link();
    const answers = await Promise.all(Array.from({ length: 8 }, () => open(token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(401)]);
    expect(await codeOf(open(token))).toEqual([401, 'portal_link_invalid']);
  });

  test.each(['', 'x', 'x'.repeat(43), '../../etc', '%00'])(
    'a link with the token "%s" opens nothing',
    async (token) => {
      const expected = token === '' ? [400, 'validation_error'] : [401, 'portal_link_invalid'];
      expect(await codeOf(open(token))).toEqual(expected);
    },
  );

  test('a change needs the session’s own token', async () => {
    const [one, other] = [await signIn(), await signIn()];
    const create = (session: SignedIn, csrf: string | undefined) =>
      api.call('POST', ENDPOINTS, {
        key: null,
        json: { url: `https://hooks.merchant.com/${crypto.randomUUID()}`, description: 'From the console' },
        headers: { cookie: session.cookie, ...(csrf === undefined ? {} : { 'hookrail-csrf': csrf }) },
      });
    for (const wrong of [undefined, '', 'x', other.csrf, `${one.csrf}x`])
      expect(await codeOf(create(one, wrong))).toEqual([403, 'csrf_token_invalid']);
    expect((await create(one, one.csrf)).status).toBe(201);
    const [entry] = await api.store.audit.list({ limit: 1, merchantId: api.merchantId });
    expect(entry).toMatchObject({
      action: 'endpoint.create',
      actor: { kind: 'portal', sessionId: one.sessionId, requestId: expect.any(String) },
    });
  });

  test('a session that only looks changes nothing', async () => {
    const session = await signIn({ access: 'read' });
    const created = await api.call(
      'POST',
      ENDPOINTS,
      as(session, { url: 'https://hooks.merchant.com/x', description: 'Ours' }),
    );
    expect([created.status, created.body.code]).toEqual([403, 'portal_session_read_only']);
    const { data } = (await api.call('GET', ENDPOINTS, as(session))).body;
    for (const [method, path] of [
      ['DELETE', `${ENDPOINTS}/${data[0]?.uuid}`],
      ['PATCH', `${ENDPOINTS}/${data[0]?.uuid}/secret`],
      ['PATCH', '/merchant'],
    ] as const)
      expect(await codeOf(api.call(method, path, as(session)))).toEqual([403, 'portal_session_read_only']);
  });

  test('a session sees its own merchant, and opens no route of producers or of the platform', async () => {
    const session = await signIn({}, api.foreignMerchantId);
    const created = await api.call('POST', ENDPOINTS, {
      json: { url: `https://hooks.merchant.com/${crypto.randomUUID()}`, description: 'Ours' },
    });
    expect(await codeOf(api.call('GET', `${ENDPOINTS}/${created.body.uuid}`, as(session)))).toEqual([
      404,
      'webhook_endpoint_not_found',
    ]);
    expect(await codeOf(api.call('POST', '/producer/events', as(session, [])))).toEqual([
      401,
      'api_key_missing',
    ]);
    expect(await codeOf(api.call('POST', sessionsOf(api.merchantId), as(session, {})))).toEqual([
      401,
      'api_key_missing',
    ]);
  });

  test('a key goes before a session, and a session that has ended is not saved by its token', async () => {
    const session = await signIn({}, api.foreignMerchantId);
    const { cookie } = session;
    const answer = await api.call('GET', '/merchant/metrics', { headers: { cookie } });
    expect(answer.status).toBe(200);
    expect(await codeOf(api.call('GET', ENDPOINTS, { key: 'x', headers: { cookie } }))).toEqual([
      401,
      'api_key_malformed',
    ]);
    expect((await api.call('DELETE', SESSION, as(session))).status).toBe(204);
    for (const path of [SESSION, ENDPOINTS, '/merchant/stream?seconds=0'])
      expect(await codeOf(api.call('GET', path, as(session)))).toEqual([401, 'portal_session_ended']);
  });

  test('signing out needs the token, too, and takes the cookie away', async () => {
    const session = await signIn();
    const { cookie } = session;
    expect(await codeOf(api.call('DELETE', SESSION, { key: null, headers: { cookie } }))).toEqual([
      403,
      'csrf_token_invalid',
    ]);
    const out = await api.call('DELETE', SESSION, as(session));
    expect([out.status, out.headers.get('set-cookie')]).toEqual([204, expect.stringContaining('Max-Age=0')]);
    expect(await codeOf(api.call('GET', SESSION, { key: null }))).toEqual([401, 'portal_session_missing']);
  });

  test('the platform ends one session or all of a merchant, at once, also an open stream', async () => {
    const [one, two] = [await signIn(), await signIn()];
    const controller = new AbortController();
    const stream = await fetch(`${api.api.url}/merchant/stream`, {
      headers: { cookie: one.cookie },
      signal: controller.signal,
    });
    expect(stream.status).toBe(200);
    const path = sessionsOf(api.merchantId);
    expect((await api.call('DELETE', `${path}/${one.sessionId}`, { key: api.keys.platform })).status).toBe(
      204,
    );
    expect(await codeOf(api.call('GET', SESSION, as(one)))).toEqual([401, 'portal_session_ended']);
    // It ends by itself.
    expect(await stream.text()).toContain('event: end\ndata: {"reason":"key_revoked"}');
    expect((await api.call('GET', SESSION, as(two))).status).toBe(200);
    const unopened = await link();
    const ended = await api.call('DELETE', path, { key: api.keys.platform });
    expect(ended.body.ended).toBeGreaterThanOrEqual(2);
    expect(await codeOf(api.call('GET', SESSION, as(two)))).toEqual([401, 'portal_session_ended']);
    expect(await codeOf(open(unopened.token))).toEqual([401, 'portal_link_invalid']);
  });

  test('an unknown merchant and an unknown session are not found', async () => {
    const unknown = crypto.randomUUID();
    const { platform: key } = api.keys;
    const paths = [sessionsOf('nobody'), `${sessionsOf('nobody')}/${unknown}`];
    for (const path of paths)
      expect(await codeOf(api.call('DELETE', path, { key }))).toEqual([404, 'merchant_not_found']);
    const path = `${sessionsOf(api.merchantId)}/${unknown}`;
    expect(await codeOf(api.call('DELETE', path, { key }))).toEqual([404, 'portal_session_not_found']);
  });

  test('the platform sets how long a link and a session last', async () => {
    const made = await link({ link_minutes: 1, session_minutes: 5 });
    const left = Date.parse(made.link_expires_at) - Date.now();
    expect([left > 0, left <= MINUTE_MS]).toEqual([true, true]);
    const opened = await open(made.token);
    const lasts = Date.parse(opened.body.expires_at) - Date.now();
    expect([lasts > 4 * MINUTE_MS, lasts < HOUR_MS]).toEqual([true, true]);
    for (const json of [
      { link_minutes: 0 },
      { link_minutes: 61 },
      { session_minutes: 1 },
      { access: 'admin' },
      { refresh_url: 'http://x' },
      { x: 1 },
    ])
      expect(
        await codeOf(api.call('POST', sessionsOf(api.merchantId), { key: api.keys.platform, json })),
      ).toEqual([400, 'validation_error']);
  });
}

describe('one api', () => suite(() => startTestApi()));

await describeWithPostgres('two apis on one PostgreSQL that answer in turn', (createDatabase) => {
  suite(() => onDatabase(createDatabase)({}));
});
