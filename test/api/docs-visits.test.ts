/**
 * The sandbox's keys appear in /docs only to a browser that opened a link of the keys' owner: not to other users of the
 * machine, not twice for one link, and not through a proxy or a tunnel.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DocsVisits } from '../../services/api/sandbox/docs-visits.ts';
import { newDocsPass } from '../../services/domain/access/docs-pass.ts';
import { asked, docsLinkPath, openDocs } from '../support/api/docs-visit.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';

const ACCESS = { merchantKey: 'sk_sandbox_mine', producerKey: 'pk_sandbox_mine', merchantId: 'my-merchant' };
const KEYS = /sk_sandbox_mine|pk_sandbox_mine|my-merchant/;
const PAGE = '/docs/operations/producers';

let api: TestApi;
let url: string;
beforeAll(async () => {
  api = await startTestApi();
  url = api.api.url;
  api.api.docs.fillIn(ACCESS);
});
afterAll(() => api.close());

test('a request without the link gets no key, whatever it calls itself, and is told how to get them', async () => {
  for (const host of [undefined, 'localhost', 'LOCALHOST', '[::1]:8080']) {
    const { status, text } = await asked(url, PAGE, host === undefined ? {} : { host });
    expect([status, KEYS.test(text)]).toEqual([200, false]);
    expect(text).toContain('API-Key pk_sandbox_…');
    expect(text).toContain('npx --no hookrail sim docs');
  }
});

test('a link is exchanged for a cookie, and the page is then read without it', async () => {
  const opened = await asked(url, docsLinkPath(ACCESS, PAGE));
  expect([opened.status, opened.headers.location]).toEqual([303, PAGE]);
  expect(opened.headers['set-cookie']).toEqual([
    expect.stringMatching(
      /^hookrail_docs_\d+=[\w-]{32}; Path=\/docs; HttpOnly; SameSite=Strict; Max-Age=604800$/,
    ),
  ]);
  const headers = { cookie: `other=1; ${opened.cookie}` };
  const page = await asked(url, PAGE, { headers });
  expect(page.text).toContain('API-Key pk_sandbox_mine');
  expect(page.text).toContain('my-merchant');
  expect(page.text).not.toContain('sim docs</code> prints');
  for (const { headers: sent } of [opened, page])
    expect(sent).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
});

test('a link works once, in one browser; that one may open it again', async () => {
  const path = docsLinkPath(ACCESS);
  const first = await asked(url, path);
  expect(first.status).toBe(303);
  const second = await asked(url, path);
  expect([second.status, second.cookie]).toEqual([403, undefined]);
  expect(second.text).toContain('npx --no hookrail sim docs');
  const again = await asked(url, path, { headers: { cookie: first.cookie ?? '' } });
  expect([again.status, again.cookie]).toEqual([303, undefined]);
  // Another browser has a link of its own.
  expect((await asked(url, docsLinkPath(ACCESS))).status).toBe(303);
});

test('a program that only looks at a link does not use it', async () => {
  const path = docsLinkPath(ACCESS);
  expect((await asked(url, path, { method: 'HEAD' })).cookie).toBeUndefined();
  expect((await asked(url, path)).status).toBe(303);
});

test.each([
  ['empty', ''],
  ['invented', 'A'.repeat(32)],
  ['of other keys', newDocsPass('link', { ...ACCESS, producerKey: 'pk_other' }, Date.now(), Buffer.alloc(6))],
  ['a cookie', newDocsPass('visit', ACCESS, Date.now(), Buffer.alloc(6))],
  ['too long', `${newDocsPass('link', ACCESS, Date.now(), Buffer.alloc(6))}A`],
])('a link is refused when it is %s', async (_, pass) => {
  const { status, cookie, text } = await asked(url, `/docs/?pass=${pass}`);
  expect([status, cookie, KEYS.test(text)]).toEqual([403, undefined, false]);
});

test('a link with any bit changed is refused', () => {
  const visits = new DocsVisits(
    ACCESS,
    { wall: () => Date.now(), system: (at) => at },
    { bytes: Buffer.alloc },
  );
  const request = {
    headers: { host: '127.0.0.1' },
    httpVersion: '1.1',
    socket: { remoteAddress: '127.0.0.1' },
  };
  const pass = Buffer.from(newDocsPass('link', ACCESS, Date.now(), Buffer.alloc(6)), 'base64url');
  for (let bit = 0; bit < pass.length * 8; bit += 1) {
    const changed = Buffer.from(pass);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(visits.enter(changed.toString('base64url'), request as never)).toBeNull();
  }
  expect(visits.enter(pass.toString('base64url'), request as never)).not.toBeNull();
});

describe('through a proxy or a tunnel', () => {
  test.each([
    ['Forwarded', 'for=1.2.3.4'],
    ['X-Forwarded-For', '1.2.3.4'],
    ['X-Forwarded-Host', 'evil.example'],
    ['X-Forwarded-Proto', 'https'],
    ['X-Real-IP', '1.2.3.4'],
    ['Via', '1.1 ngrok'],
    ['CF-Connecting-IP', '1.2.3.4'],
    ['CF-Ray', '1'],
    ['True-Client-IP', '1.2.3.4'],
    ['Tailscale-User-Login', 'a@b.example'],
    ['Ngrok-Trace-Id', '1'],
    ['X-Original-Host', 'evil.example'],
    ['X-Client-IP', '1.2.3.4'],
    ['Fly-Client-IP', '1.2.3.4'],
    ['X-Tunnel-Of-Tomorrow', '1'],
    ['Authorization', 'Basic YTpi'],
  ])('a request with %s gets no key, cookie or not, and uses no link', async (name, value) => {
    const cookie = await openDocs(url, ACCESS);
    const page = await asked(url, PAGE, { headers: { cookie, [name]: value } });
    expect([page.status, KEYS.test(page.text)]).toEqual([200, false]);
    const path = docsLinkPath(ACCESS);
    expect((await asked(url, path, { headers: { [name]: value } })).status).toBe(403);
    expect((await asked(url, path)).status).toBe(303);
  });

  test.each([
    'evil.example',
    '127.0.0.1.nip.io',
    'localhost.evil.example',
    '127.evil.example',
    '0.0.0.0:8080',
    '',
  ])('a request for the host %j gets no key', async (host) => {
    const cookie = await openDocs(url, ACCESS);
    const { text } = await asked(url, PAGE, { host, headers: { cookie } });
    expect(KEYS.test(text)).toBe(false);
  });

  test('a browser that is used directly sends nothing that counts as a proxy', async () => {
    const cookie = await openDocs(url, ACCESS);
    const headers = {
      'User-Agent': 'Mozilla/5.0',
      Accept: 'text/html',
      'Accept-Language': 'en',
      'Accept-Encoding': 'gzip',
      Connection: 'keep-alive',
      'Upgrade-Insecure-Requests': '1',
      'Sec-Fetch-Site': 'same-origin',
      'Sec-CH-UA': '"Chromium";v="140"',
      Priority: 'u=0, i',
      DNT: '1',
      'Cache-Control': 'max-age=0',
      Referer: `${url}/docs/`,
      Cookie: cookie,
    };
    expect((await asked(url, PAGE, { headers })).text).toMatch(KEYS);
  });
});

describe('times', () => {
  const START = Date.UTC(2025, 0, 1);
  const request = {
    headers: { host: '127.0.0.1:8080' },
    httpVersion: '1.1',
    socket: { remoteAddress: '::ffff:127.0.0.1' },
  };
  const visitsAt = (clock: { now: number }, access = ACCESS) =>
    new DocsVisits(access, { wall: () => clock.now, system: (at) => at }, { bytes: Buffer.alloc });
  const link = (at: number) => newDocsPass('link', ACCESS, at, Buffer.from('random'));
  const entered = (visits: DocsVisits, pass: string) => visits.enter(pass, request as never);
  const with_ = (cookie: string | null) =>
    ({ ...request, headers: { ...request.headers, cookie: cookie?.split(';')[0] } }) as never;

  test('a link is good for 15 minutes, and not for longer', () => {
    const clock = { now: START };
    const visits = visitsAt(clock);
    clock.now = START + 15 * 60_000;
    expect(entered(visits, link(START))).not.toBeNull();
    clock.now = START + 15 * 60_000 + 1001;
    expect(entered(visits, link(START + 100))).toBeNull();
  });

  test('a link from before a restart is refused, since it may have been used; a cookie goes on', () => {
    const clock = { now: START };
    const cookie = entered(visitsAt(clock), link(START));
    clock.now = START + 60_000;
    const restarted = visitsAt(clock);
    expect(entered(restarted, link(START))).toBeNull();
    expect(restarted.has(with_(cookie))).toBe(true);
  });

  test('a cookie ends after a week, and with the keys', () => {
    const clock = { now: START };
    const visits = visitsAt(clock);
    const cookie = entered(visits, link(START));
    expect(visitsAt(clock, { ...ACCESS, merchantKey: 'sk_sandbox_new' }).has(with_(cookie))).toBe(false);
    clock.now = START + 7 * 86_400_000;
    expect(visits.has(with_(cookie))).toBe(true);
    clock.now += 1001;
    expect(visits.has(with_(cookie))).toBe(false);
  });

  test('a link from the future is refused', () => {
    const clock = { now: START };
    expect(entered(visitsAt(clock), link(START + 3600_000))).toBeNull();
  });
});

test('in production a link is nothing', async () => {
  const production = await startTestApi({ environment: 'production' });
  production.api.docs.fillIn(ACCESS);
  const { status, cookie, text } = await asked(production.api.url, docsLinkPath(ACCESS, PAGE));
  expect([status, cookie, KEYS.test(text), text.includes('sim docs')]).toEqual([
    200,
    undefined,
    false,
    false,
  ]);
  await production.close();
});
