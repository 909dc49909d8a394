/**
 * The receiver does what merchants have to do (docs/specification.md, "Webhook requests") and reports its findings;
 * and it misbehaves in every way on request, so that the sender can be tested with it.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Behaviour } from '../../../simulator/receiver/behaviours.ts';
import {
  type Authority,
  type Certificate,
  createAuthority,
  issueCertificate,
} from '../../../simulator/receiver/certificate-authority.ts';
import { flaky } from '../../../simulator/receiver/flaky.ts';
import { type Receiver, type ReceiverOptions, startReceiver } from '../../../simulator/receiver/receiver.ts';
import { type Reply, type SendOptions, send, webhookHeaders } from '../support/https-request.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const BODY = '{"type":"KYC","subType":"FULL_USER","uuid":"u","data":{}}';

let authority: Authority;
let certificate: Certificate;
beforeAll(async () => {
  authority = await createAuthority();
  certificate = await issueCertificate(authority, { hosts: ['127.0.0.1'] });
});

const open: Receiver[] = [];
afterEach(async () => {
  for (const receiver of open.splice(0)) await receiver.close();
});
afterAll(() => expect(open).toEqual([]));

async function start(options: Partial<ReceiverOptions> = {}): Promise<Receiver> {
  const { certPem: cert, keyPem: key } = certificate;
  const receiver = await startReceiver({ port: 0, cert, key, secret: SECRET, ...options });
  open.push(receiver);
  return receiver;
}

function deliver(
  receiver: Receiver,
  change: Partial<SendOptions> = {},
  delivery = 'd',
  attempt = 1,
): Promise<Reply> {
  const headers = webhookHeaders(SECRET, BODY, delivery, attempt);
  return send({ url: receiver.url, ca: authority.certPem, headers, body: BODY, ...change });
}

test('a genuine webhook is acknowledged and found authentic', async () => {
  const receiver = await start();
  expect((await deliver(receiver)).status).toBe(200);
  const [arrival] = receiver.arrivals;
  expect(arrival?.verdict?.authentic).toBe(true);
  expect(arrival?.body.toString()).toBe(BODY);
  expect(arrival?.answered).toBe('ok');
});

test.each([
  ['another secret', { headers: webhookHeaders(OTHER, BODY, 'd') }, ['authorization', 'signature']],
  ['a changed body', { body: BODY.replace('FULL', 'HALF') }, ['signature']],
  [
    'no authorization',
    { headers: { ...webhookHeaders(SECRET, BODY, 'd'), authorization: '' } },
    ['authorization'],
  ],
  ['no signature at all', { headers: { authorization: `API-Key ${SECRET}` } }, ['signature', 'timestamp']],
])('a webhook with %s is found not authentic, with the checks that failed', async (_, change, failed) => {
  const receiver = await start();
  await deliver(receiver, change);
  const verdict = receiver.arrivals[0]?.verdict;
  expect(verdict?.authentic).toBe(false);
  expect(verdict?.checks.filter((check) => !check.ok).map((check) => check.name)).toEqual(failed);
  expect(JSON.stringify(verdict)).not.toContain(SECRET);
});

test('the receiver’s secret may differ by endpoint, change while it runs, or be unknown', async () => {
  const receiver = await start({ secret: (id) => (id === 'endpoint-1' ? SECRET : undefined) });
  await deliver(receiver);
  receiver.setSecret(OTHER);
  await deliver(receiver);
  receiver.setSecret(undefined);
  await deliver(receiver);
  expect(receiver.arrivals.map((arrival) => arrival.verdict?.authentic ?? null)).toEqual([true, false, null]);
});

test.each<[Behaviour, (reply: Reply) => void]>([
  ['500', (reply) => expect(reply.status).toBe(500)],
  ['410', (reply) => expect(reply.status).toBe(410)],
  ['redirect', (reply) => expect([reply.status, reply.headers.location]).toEqual([302, '/redirected'])],
  ['reset', (reply) => expect([reply.status, reply.error]).toEqual([null, 'ECONNRESET'])],
  ['garbage', (reply) => expect([reply.status, reply.error?.slice(0, 3)]).toEqual([null, 'HPE'])],
])('the receiver behaves as --behaviour says: %s', async (behaviour, check) => {
  check(await deliver(await start({ behaviour })));
});

test('a flaky receiver fails every other webhook once, in whatever order the retries come', async () => {
  const receiver = await start();
  receiver.setBehaviour(flaky());
  const statusOf = async (delivery: string, attempt: number) =>
    (await deliver(receiver, {}, delivery, attempt)).status;
  const first = [await statusOf('a', 1), await statusOf('b', 1), await statusOf('c', 1)];
  expect(first).toEqual([500, 200, 500]);
  // Between two first attempts that would fail, if every other request did.
  expect([await statusOf('a', 2), await statusOf('d', 1), await statusOf('c', 2)]).toEqual([200, 200, 200]);
});

test('the behaviour hang answers nothing, slow-body never ends its body, and drip never ends its headers', async () => {
  const wait = { giveUpMs: 500 };
  const replies = await Promise.all(
    (['hang', 'slow-body', 'drip'] as const).map(async (behaviour) =>
      deliver(await start({ behaviour }), wait),
    ),
  );
  expect(replies.map((reply) => reply.error)).toEqual(['timeout', 'timeout', 'timeout']);
  expect(replies.map((reply) => reply.status)).toEqual([null, 200, null]);
});

test('the behaviour huge-body sends an oversized body, and stops when the other side hangs up', async () => {
  const receiver = await start({ behaviour: 'huge-body' });
  const reply = await deliver(receiver, { bytesMax: 1024 * 1024 });
  expect([reply.status, reply.error]).toEqual([200, 'too large']);
});

test('the option fail-first fails each delivery’s first attempts, and no others', async () => {
  const receiver = await start({ failFirst: 2 });
  const statuses: (number | null)[] = [];
  for (const attempt of [1, 2, 3]) statuses.push((await deliver(receiver, {}, 'one', attempt)).status);
  statuses.push((await deliver(receiver, {}, 'two', 1)).status);
  expect(statuses).toEqual([500, 500, 200, 500]);
});

test('the option fail-rate fails the same attempts for the same seed', async () => {
  const run = async (seed: string) => {
    const receiver = await start({ failRate: 0.5, seed });
    const replies = [];
    for (let i = 0; i < 24; i += 1) replies.push((await deliver(receiver, {}, `delivery-${i}`)).status);
    return replies;
  };
  const first = await run('42');
  expect(await run('42')).toEqual(first);
  expect(await run('43')).not.toEqual(first);
  expect(new Set(first)).toEqual(new Set([200, 500]));
});

test('the receiver answers after the delay, and keeps a bounded number of arrivals', async () => {
  const receiver = await start({ delayMs: 60_000, keepMax: 2 });
  expect((await deliver(receiver, { giveUpMs: 300 })).error).toBe('timeout');
  const quick = await start({ keepMax: 2 });
  for (let i = 0; i < 9; i += 1) await deliver(quick);
  expect(quick.arrivals.length).toBeLessThanOrEqual(4);
  expect(quick.arrivals.at(-1)?.number).toBe(9);
});
