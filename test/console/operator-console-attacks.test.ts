/**
 * The operator's console as HTTP: a session is opened with the token and a name, and nothing else opens one. A session of
 * the operator is none of a merchant, nor the reverse; no other site reads or changes anything.
 */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toolAnswer } from '../support/service/operator-tool.ts';
import type { ConsoleService } from './support/console-service.ts';
import {
  besidesOperated,
  signInOperator,
  startOperatedService,
  tokenOf,
} from './support/operated-service.ts';

const START_MAX_MS = 120_000;
/** A wrong token is refused this often, then whatever comes. */
const WRONG_MAX = 5;

let service: ConsoleService;
beforeAll(async () => {
  service = await startOperatedService();
}, START_MAX_MS);
afterAll(() => service?.stop());

const ops = (path: string, init: RequestInit = {}) =>
  fetch(service.hookrail.operationsUrl + path, { redirect: 'manual', ...init });

async function ask(command: string, headers: Record<string, string>, given: object = {}) {
  const response = await ops(`/console/api/${command}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(given),
  });
  // biome-ignore lint/suspicious/noExplicitAny: as parsed
  return { status: response.status, body: (await response.json()) as any };
}

describe('a session of the operator', () => {
  test('answers as the command of the tool does', async () => {
    const { headers } = await signInOperator(service, 'Ann');
    const { environment } = besidesOperated(service);
    for (const [command, line] of [
      ['merchants-list', 'merchants list'],
      ['keys-list', 'keys list'],
      ['endpoints-list', 'endpoints list'],
      ['quarantine-list', 'quarantine list'],
      ['quarantine-summary', 'quarantine summary'],
      ['dead-letters-summary', 'dead-letters summary'],
      ['replay-list', 'replay list'],
    ] as const) {
      const { status, body } = await ask(command, headers);
      expect([status, body]).toEqual([200, await toolAnswer(environment, ...line.split(' '))]);
    }
  });

  test('puts a merchant on hold with the person and the reason in the audit', async () => {
    const { headers } = await signInOperator(service, 'Ann Müller');
    const id = service.setup.merchantId;
    const paused = await ask('merchants-pause', headers, { id, reason: 'their receiver is flooded' });
    expect(paused).toMatchObject({ status: 200, body: { state: 'paused' } });
    expect((await ask('merchants-resume', headers, { id })).body).toMatchObject({ state: 'active' });
    const { body } = await ask('audit-list', headers, { merchant: id, limit: 2 });
    expect(body).toMatchObject([
      { action: 'merchant.update', person: 'Ann Müller', details: { state: 'active' } },
      { person: 'Ann Müller', details: { state: 'paused', reason: 'their receiver is flooded' } },
    ]);
    expect(body[0].details).not.toHaveProperty('reason');
  });

  test('ends with the sign-out, and cannot be used again', async () => {
    const { headers } = await signInOperator(service, 'Ann');
    expect((await ops('/console/session', { method: 'DELETE', headers })).status).toBe(200);
    const { status, body } = await ask('merchants-list', headers);
    expect([status, body.code]).toEqual([401, 'operator_session_ended']);
  });

  test('has a cookie that no script reads and no other site sends', async () => {
    const { cookie } = await signInOperator(service, 'Ann');
    expect(cookie).toMatch(
      /^hookrail_operator_\d+=[\w-]{43}; Path=\/console; HttpOnly; SameSite=Strict; Max-Age=28800$/,
    );
  });

  test('has a cookie for TLS only under a name that is not of this machine', async () => {
    const { hostname, port } = new URL(service.hookrail.operationsUrl);
    const cookie = await new Promise<string>((resolve, reject) => {
      const headers = { host: '192.0.2.7', 'content-type': 'application/json' };
      const sent = request(
        { hostname, port, path: '/console/session', method: 'POST', headers },
        (response) => resolve(String(response.headers['set-cookie'])),
      );
      sent.on('error', reject).end(JSON.stringify({ token: tokenOf(service), person: 'Ann' }));
    });
    expect(cookie).toMatch(
      /^__Secure-hookrail_operator=[\w-]{43}; Path=\/console; HttpOnly; Secure; SameSite=Strict/,
    );
  });

  test('gives no command that shows a key, deletes for good or writes files', async () => {
    const { headers } = await signInOperator(service, 'Ann');
    for (const command of [
      'keys-create',
      'entity-erase',
      'store-backup',
      'keyring-rewrap',
      'clock-step',
      'x',
    ])
      expect((await ask(command, headers, {})).body).toMatchObject({ status: 404, code: 'command_unknown' });
  });

  test('says in the words of the command what cannot be done, with the id of the request', async () => {
    const { headers } = await signInOperator(service, 'Ann');
    const refused = await ask('merchants-get', headers, { id: 'nobody' });
    expect(refused).toMatchObject({
      status: 422,
      body: {
        detail: 'there is no merchant nobody: see merchants list',
        request_id: expect.stringMatching(/^[\da-f-]{36}$/),
      },
    });
    const invalid = await ask('audit-list', headers, { limit: 'many' });
    expect(invalid).toMatchObject({ status: 400, body: { code: 'command_invalid' } });
  });
});

describe('nobody else', () => {
  test('gives a command without a session, or with a cookie that nobody was given', async () => {
    expect((await ask('merchants-list', {})).body).toMatchObject({
      status: 401,
      code: 'operator_session_missing',
    });
    const { headers } = await signInOperator(service, 'Ann');
    const forged = { ...headers, cookie: headers.cookie.replace(/=.*/, `=${'A'.repeat(43)}`) };
    expect((await ask('merchants-list', forged)).body).toMatchObject({
      status: 401,
      code: 'operator_session_ended',
    });
    const bearer = { authorization: `Bearer ${tokenOf(service)}` };
    expect((await ask('merchants-list', bearer)).status).toBe(401);
  });

  test('gives a command or signs out without the text that only the page knows', async () => {
    const { headers } = await signInOperator(service, 'Ann');
    for (const csrf of [undefined, '', 'x', `${headers['hookrail-csrf']}x`]) {
      const { 'hookrail-csrf': _, ...others } = headers;
      const sent: Record<string, string> = csrf === undefined ? others : { ...others, 'hookrail-csrf': csrf };
      expect((await ask('merchants-list', sent)).body).toMatchObject({
        status: 403,
        code: 'csrf_token_invalid',
      });
      expect((await ops('/console/session', { method: 'DELETE', headers: sent })).status).toBe(403);
    }
    expect((await ask('merchants-list', headers)).status).toBe(200);
  });

  test('uses a session of the operator at the merchants’ API, or one of a merchant here', async () => {
    const { headers } = await signInOperator(service, 'Ann');
    const [, token = ''] = headers.cookie.split('=');
    const { port } = new URL(service.hookrail.apiUrl);
    for (const cookie of [headers.cookie, `hookrail_console_${port}=${token}`]) {
      const response = await fetch(`${service.hookrail.apiUrl}/merchant`, {
        headers: { ...headers, cookie },
      });
      expect(response.status).toBe(401);
    }
    const opened = await fetch(`${service.hookrail.apiUrl}/console/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ link: new URL(await service.link()).hash.slice('#link='.length) }),
    });
    const { csrf_token: csrf } = (await opened.json()) as { csrf_token: string };
    const [merchants = ''] = (opened.headers.get('set-cookie') ?? '').split(';');
    const [name] = headers.cookie.split('=');
    for (const cookie of [merchants, `${name}=${merchants.split('=')[1]}`])
      expect((await ask('merchants-list', { cookie, 'hookrail-csrf': csrf })).status).toBe(401);
  });

  test('puts the page into a frame, or finds anything inline in it', async () => {
    const response = await ops('/console/now');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(await response.text()).not.toMatch(/<style|style=|<script(?![^>]* src=)|\son\w+=/);
  });

  test('finds the operator’s console on the port of the merchants', async () => {
    const page = await (await ops('/console/')).text();
    const [, script = ''] = /src="([^"]+)"/.exec(page) ?? [];
    expect((await ops(script)).status).toBe(200);
    expect((await fetch(service.hookrail.apiUrl + script)).status).toBe(404);
    const answer = await fetch(`${service.hookrail.apiUrl}/console/api/merchants-list`, { method: 'POST' });
    expect(answer.status).toBe(404);
  });

  test('signs in without a name that can be shown', async () => {
    for (const person of [undefined, '', ' ', 'a\nb', '\u202eevil', 'x'.repeat(101)]) {
      const response = await ops('/console/session', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token: tokenOf(service), person }),
      });
      expect([response.status, response.headers.get('set-cookie')]).toEqual([400, null]);
    }
  });
});

/** Last: it uses up the attempts of this machine. */
test('a wrong token is refused, and after five of them so is any', async () => {
  const signIn = (token: unknown) =>
    ops('/console/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, person: 'Ann' }),
    });
  for (let i = 0; i < WRONG_MAX; i++) expect((await signIn(i === 0 ? null : `wrong ${i}`)).status).toBe(401);
  const limited = await signIn(tokenOf(service));
  expect(limited.status).toBe(429);
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
});
