/**
 * `scenarios check --to` tells a developer what is wrong with their own handler: it passes one that does everything right,
 * and names each genuine webhook that is refused, each repeated one, and each forged one that is taken.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { EXIT } from '../../../simulator/exit.ts';
import { verifyRequest } from '../../../simulator/receiver/verification.ts';
import { simHere } from '../support/command-line.ts';

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const servers: Server[] = [];

afterAll(() => {
  for (const server of servers) server.close();
});

/** Starts a handler on plain HTTP that answers with what `answer` returns; returns its URL. */
async function handler(
  answer: (request: IncomingMessage, body: Buffer) => number,
  resultOf: (request: IncomingMessage) => string | undefined = () => undefined,
): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const result = resultOf(request);
    if (result !== undefined) response.setHeader('webhook-result', result);
    response.writeHead(answer(request, body)).end();
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://localhost:${(server.address() as AddressInfo).port}/hook`;
}

/** Returns a function that says of each webhook whether it is older than one that came before. */
function guard(): (request: IncomingMessage) => string {
  const latest = new Map<string, number>();
  return ({ headers }) => {
    const about = `${headers['webhook-subject-id']}`;
    const sequence = Number(headers['webhook-sequence']);
    if (sequence < (latest.get(about) ?? 0)) return 'older';
    latest.set(about, sequence);
    return 'applied';
  };
}

const isAuthentic = ({ headers }: IncomingMessage, body: Buffer) =>
  verifyRequest({ headers: headers as Record<string, string>, body }, SECRET, Date.now() / 1000).authentic;

async function check(
  url: string,
  only: string,
): Promise<{ code: number | null; failed: Record<string, string[]>; stderr: string }> {
  const args = ['scenarios', 'check', '--to', url, '--secret', SECRET, '--only', only, '--output', 'json'];
  const { code, stdout, stderr } = await simHere(args);
  const results = stdout === '' ? [] : JSON.parse(stdout);
  const failed = results.filter(({ status }: { status: string }) => status === 'failed');
  return {
    code,
    failed: Object.fromEntries(
      failed.map(({ name, findings }: { name: string; findings: string[] }) => [name, findings]),
    ),
    stderr,
  };
}

test('a handler that verifies and drops duplicates and what is older passes everything', async () => {
  const seen = new Set<unknown>();
  let repeated = 0;
  const url = await handler((request, body) => {
    if (!isAuthentic(request, body)) return 401;
    const id = request.headers['webhook-id'];
    if (seen.has(id)) repeated += 1;
    seen.add(id);
    return 204;
  }, guard());
  expect(await check(url, '*')).toEqual({ code: EXIT.ok, failed: {}, stderr: '' });
  // Two resends and one event that is published again.
  expect(repeated).toBe(3);
});

test('a handler that takes everything is told about each forged webhook', async () => {
  const { code, failed } = await check(await handler(() => 200), 'security.*,kyc.happy');
  expect(code).toBe(EXIT.expectation);
  expect(failed).toEqual(
    Object.fromEntries(
      ['bad-secret', 'bad-signature', 'replayed', 'stale-timestamp'].map((how) => [
        `security.${how}`,
        [`forged: your app answered 200 to a forged webhook (${how}; must be 4xx)`],
      ]),
    ),
  );
});

test('a handler that compares the secret only still takes what was changed, recorded or re-addressed', async () => {
  const url = await handler(({ headers }) => (headers.authorization === `API-Key ${SECRET}` ? 200 : 401));
  const { failed } = await check(url, 'security.*');
  expect(Object.keys(failed)).toEqual([
    'security.bad-signature',
    'security.replayed',
    'security.stale-timestamp',
  ]);
});

test('a handler that refuses duplicates is told that they must get a 2xx too', async () => {
  const seen = new Set<unknown>();
  const url = await handler(({ headers }) => {
    const isNew = !seen.has(headers['webhook-id']);
    seen.add(headers['webhook-id']);
    return isNew ? 200 : 409;
  });
  const { failed } = await check(url, 'chaos.duplicates');
  expect(failed['chaos.duplicates']?.[0]).toBe(
    'received-again: your app answered 409 to a repeated webhook (must be 2xx again)',
  );
});

test('a handler without a guard is told that it applied what newer webhooks had overtaken', async () => {
  const only = 'chaos.overtaken';
  const says = 'do not apply it, and answer with the header "webhook-result: older" (docs/order.md)';
  const came = 'older: a webhook came that is older than the one before, and your app';
  const silent = await check(await handler(() => 200), only);
  expect(silent).toMatchObject({
    code: EXIT.expectation,
    failed: { [only]: [`${came} does not say what it did: ${says}`] },
  });
  const applied = await handler(
    () => 200,
    () => 'applied',
  );
  expect((await check(applied, only)).failed).toEqual({
    [only]: [`${came} says webhook-result: applied: ${says}`],
  });
  const isOlder = guard();
  let last = '';
  const strict = await handler(
    () => (last === 'older' ? 409 : 200),
    (request) => {
      last = isOlder(request);
      return last;
    },
  );
  expect((await check(strict, only)).failed).toEqual({
    [only]: ['older: your app answered 409 to a webhook that is older (must be 2xx)'],
  });
});

test('a handler that refuses every genuine webhook is asked for its secret', async () => {
  const { code, stderr } = await check(await handler(() => 401), 'kyc.*');
  expect([code, stderr]).toEqual([EXIT.expectation, expect.stringContaining('is --secret the one')]);
});

test('a handler that breaks the connection fails by name, and one that is not there ends the check', async () => {
  let count = 0;
  const url = await handler((request) => {
    count += 1;
    if (count > 1) request.socket.destroy();
    return 200;
  });
  const { failed } = await check(url, 'kyc.happy');
  expect(failed['kyc.happy']?.[0]).toMatch(/cannot be reached \(ECONNRESET\)/);
  expect((await check('http://localhost:1/hook', 'kyc.happy')).code).toBe(EXIT.unreachable);
});

test.each([
  ['http://example.com/hook', /http is for this machine only/],
  ['ftp://localhost/hook', /not an http or https URL/],
])('the address %s is refused, because the secret goes along', async (url, message) => {
  expect((await check(url, 'kyc.happy')).stderr).toMatch(message);
});

test('scenarios about endpoints of hookrail are left out with the reason', async () => {
  const url = await handler(() => 200);
  const args = ['scenarios', 'check', '--to', url, '--secret', SECRET, '--only', 'rotate.*'];
  const { code, stdout } = await simHere(args);
  expect([code, stdout]).toEqual([EXIT.ok, expect.stringContaining('check it without --to')]);
});
