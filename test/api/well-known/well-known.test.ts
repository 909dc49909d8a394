/**
 * The documents below /.well-known: anybody reads them without a key, a cache keeps them, and what they say is of now: what
 * has ended is not in them.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../../services/config/config.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { movableClock } from '../../support/movable-clock.ts';

const DAY_MS = 86_400_000;
const SOURCES = '/.well-known/webhook-sources';
const SECURITY = '/.well-known/security.txt';
const clock = movableClock();
const after = (days: number) => new Date(Math.floor(clock.wall() + days * DAY_MS)).toISOString();

const [IN_TEN_DAYS, IN_FORTY_DAYS] = [after(10), after(40)];
const { sources, securityTxt } = readConfig({
  HOOKRAIL_SOURCE_ADDRESSES: `203.0.113.0/28, 198.51.100.7 until ${IN_TEN_DAYS}, 2001:db8::/48 from ${IN_FORTY_DAYS}`,
  HOOKRAIL_SECURITY_CONTACTS: 'mailto:security@example.com,https://example.com/report',
  HOOKRAIL_SECURITY_EXPIRES: IN_FORTY_DAYS,
  HOOKRAIL_SECURITY_POLICY: 'https://example.com/security',
  HOOKRAIL_SECURITY_LANGUAGES: 'en,de',
}).api;

let set: TestApi;
let unset: TestApi;
beforeAll(async () => {
  set = await startTestApi({ clock, sources, securityTxt });
  unset = await startTestApi({ clock });
});
afterAll(async () => {
  await set.close();
  await unset.close();
});

const read = (api: TestApi, path: string, headers: Record<string, string> = {}) =>
  api.call('GET', path, { key: null, headers });
/** A text that is no part of openapi.yaml. */
const fetched = (api: TestApi, path: string, init: RequestInit = {}) => fetch(api.api.url + path, init);

describe('the addresses that webhooks come from', () => {
  test('are read without a key, sorted, with the times of those that come and go', async () => {
    const { status, headers, body } = await read(set, SOURCES);
    expect([status, body.fixed]).toEqual([200, true]);
    expect(body.sources).toEqual([
      { cidr: '198.51.100.7/32', valid_from: null, valid_until: IN_TEN_DAYS },
      { cidr: '203.0.113.0/28', valid_from: null, valid_until: null },
      { cidr: '2001:db8::/48', valid_from: IN_FORTY_DAYS, valid_until: null },
    ]);
    expect(headers.get('cache-control')).toBe('public, max-age=3600');
  });

  test('are the same for a key that is wrong, which is not counted as a failed one', async () => {
    const { status, body } = await set.call('GET', SOURCES, { key: 'sk_sandbox_wrong' });
    expect([status, body.fixed]).toEqual([200, true]);
  });

  test('are not fixed where the operator names none, and the answer says what to do instead', async () => {
    const { status, body } = await read(unset, SOURCES);
    expect([status, body.fixed, body.sources]).toEqual([200, false, []]);
    expect(body.detail).toMatch(
      /^The addresses from which webhooks come are not fixed: do not filter by address\./,
    );
  });

  test('are not sent again to who has them', async () => {
    const etag = (await read(set, SOURCES)).headers.get('etag') ?? '';
    const again = await read(set, SOURCES, { 'if-none-match': etag });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
    for (const [given, status] of [
      ['"another"', 200],
      [`"another", W/${etag}`, 304],
      ['*', 304],
    ] as const)
      expect([given, (await read(set, SOURCES, { 'if-none-match': given })).status]).toEqual([given, status]);
  });

  test('answer HEAD without a body, and other methods with 405', async () => {
    const head = await fetched(set, SOURCES, { method: 'HEAD' });
    expect([head.status, await head.text(), head.headers.get('content-type')]).toEqual([
      200,
      '',
      'application/json; charset=utf-8',
    ]);
    const posted = await set.call('POST', SOURCES, { key: null, json: {} });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  test('no longer have what has ended, and have another ETag then', async () => {
    const before = await read(set, SOURCES);
    clock.setWall(11 * DAY_MS);
    const now = await read(set, SOURCES);
    clock.setWall(-11 * DAY_MS);
    const cidrs = now.body.sources.map(({ cidr }: { cidr: string }) => cidr);
    expect(cidrs).toEqual(['203.0.113.0/28', '2001:db8::/48']);
    expect(now.headers.get('etag')).not.toBe(before.headers.get('etag'));
  });
});

describe('security.txt below /.well-known', () => {
  test('has the lines of RFC 9116, in their order', async () => {
    const response = await fetched(set, SECURITY);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/plain; charset=utf-8',
    ]);
    expect(response.headers.get('cache-control')).toBe('public, max-age=3600');
    expect(await response.text()).toBe(
      [
        'Contact: mailto:security@example.com',
        'Contact: https://example.com/report',
        `Expires: ${IN_FORTY_DAYS}`,
        'Policy: https://example.com/security',
        'Preferred-Languages: en, de',
        '',
      ].join('\n'),
    );
  });

  test('answers HEAD without a body, and other methods with 405', async () => {
    const head = await fetched(set, SECURITY, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await fetched(set, SECURITY, { method: 'DELETE' })).status).toBe(405);
  });

  test('is not there where the operator has named no contact, and the answer says so', async () => {
    const { status, body, headers } = await read(unset, SECURITY);
    expect([status, body.code]).toEqual([404, 'route_not_found']);
    expect(body.detail).toContain('has not said where to report security problems');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('is not served after its end, and the answer says since when', async () => {
    clock.setWall(41 * DAY_MS);
    const { status, body } = await read(set, SECURITY);
    clock.setWall(-41 * DAY_MS);
    expect([status, body.detail]).toEqual([404, expect.stringContaining(`has expired at ${IN_FORTY_DAYS}`)]);
  });

  test.each([
    [-1, 'has expired at'],
    [29, 'expires at'],
  ])('that ends in %i days is named in the log at the start', async (days, says) => {
    const expires = Date.parse(after(days));
    const api = await startTestApi({ clock, securityTxt: securityTxt && { ...securityTxt, expires } });
    await api.close();
    const lines = api.logged.filter((line) => line.includes('"security_txt_expires"'));
    expect(lines).toEqual([expect.stringContaining(`/.well-known/security.txt ${says}`)]);
    expect(lines[0]).toContain('HOOKRAIL_SECURITY_EXPIRES');
  });

  test('that ends later is not named in the log', () => {
    expect(set.logged.filter((line) => line.includes('security_txt_expires'))).toEqual([]);
  });
});

test('a document that nobody serves below /.well-known is not found', async () => {
  const { status, body } = await read(set, '/.well-known/change-password');
  expect([status, body.code]).toEqual([404, 'route_not_found']);
});
