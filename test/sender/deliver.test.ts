/**
 * Guarantee: one attempt, one decision. The attempt uses the endpoint, URL and secret of its moment; the schedule
 * decides what follows; an own fault costs no attempt; no secret leaves by the log.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Directory } from '../../services/domain/directory.ts';
import type { Endpoint } from '../../services/domain/endpoint.ts';
import { retryDelaySeconds } from '../../services/domain/retry.ts';
import { newSecret } from '../../services/domain/secret.ts';
import type { DeliveryTask } from '../../services/domain/task.ts';
import { parseEgressAllow } from '../../services/egress/egress.ts';
import { KeyRing } from '../../services/keys/keyring.ts';
import { systemClock } from '../../services/process/clock.ts';
import { attemptLine } from '../../services/sender/attempt-line.ts';
import type { DeliverDeps, DeliverResult } from '../../services/sender/deliver.ts';
import { openTransport, type Transport } from '../../services/sender/http/transport.ts';
import { NetworkWatch } from '../../services/sender/network-watch.ts';
import { SecretOpener } from '../../services/sender/secret-opener.ts';
import { createLogger } from '../../services/telemetry/logger.ts';
import { receiverCertificates } from '../support/receivers/misbehaving-receivers.ts';
import { delivered } from '../support/receivers/posting.ts';

const clock = systemClock();
const keyRing = KeyRing.parse(
  JSON.stringify({ active: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } }),
  'of the test',
);
const SECRET = newSecret(new Uint8Array(32).fill(9));
const merchantId = 'm1';
let server: Server;
let base: string;
let transport: Transport;
let answer: { status: number; headers: Record<string, string> };
let requests: { headers: Record<string, string>; body: string; url: string }[];
let logged = '';
let deps: DeliverDeps;

beforeAll(async () => {
  const { ca, certificate } = await receiverCertificates();
  server = createServer({ key: certificate.keyPem, cert: certificate.certPem }, (request, response) => {
    let body = '';
    request.on('data', (bytes) => {
      body += bytes;
    });
    request.on('end', () => {
      requests.push({ headers: request.headers as Record<string, string>, body, url: request.url ?? '' });
      response.writeHead(answer.status, answer.headers).end('thanks');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `https://localhost:${(server.address() as AddressInfo).port}`;
  const egress = { ports: [443], allow: parseEgressAllow('localhost') };
  transport = openTransport({ clock, totalTimeoutMs: 5000, connectTimeoutMs: 3000, egress, extraCa: ca });
});
afterAll(async () => {
  await transport.close();
  server.closeAllConnections();
  server.close();
});

beforeEach(() => {
  answer = { status: 200, headers: {} };
  requests = [];
  logged = '';
  const directory = new Directory();
  const write = (line: string) => {
    logged += line;
  };
  const log = createLogger('info', { write });
  const opener = new SecretOpener(keyRing, log);
  const network = new NetworkWatch();
  deps = { directory, open: (endpoint) => opener.open(endpoint), transport, network, clock, retryScale: 1 };
  put({});
});

const endpointId = randomUUID();
let version = 0;

/** Puts the endpoint into the directory as the API would: a new version each time. */
function put(change: Partial<Endpoint> & { plain?: string }): void {
  version += 1;
  const { plain = SECRET, ...rest } = change;
  const value: Endpoint = {
    uuid: endpointId,
    merchantId,
    url: `${base}/hook?x=1`,
    subscribedEvents: null,
    status: 'active',
    apiVersion: '2.3.8',
    secret: keyRing.seal(plain, endpointId),
    publicKeySignature: false,
    legacy: false,
    version,
    ...rest,
  };
  deps.directory.apply({ kind: 'endpoint', id: endpointId, version, value });
}

function taskOf(change: Partial<DeliveryTask> = {}): DeliveryTask {
  return {
    deliveryId: randomUUID(),
    eventId: randomUUID(),
    merchantId,
    endpointId,
    entityId: randomUUID(),
    subjectId: null,
    sequence: 1_700_000_000_000_001,
    type: 'KYC',
    subType: 'KYC_STARTED',
    apiVersion: '2.3.8',
    trigger: 'live',
    attempt: 1,
    attemptsMax: 7,
    dueAt: 0,
    hop: 0,
    occurredAt: clock.now(),
    acceptedAt: clock.now(),
    body: Buffer.from('{"uuid":"u1","type":"KYC"}'),
    ...change,
  };
}

function attemptedOf(delivery: DeliverResult) {
  if (delivery.kind !== 'attempted') throw new Error(`no attempt was made: ${delivery.kind}`);
  return delivery.attempted;
}

describe('a successful attempt', () => {
  test('sends the frozen body, signed with the current secret, and settles the task', async () => {
    const task = taskOf({ attempt: 3 });
    const { settlement } = await delivered(task, deps);
    expect(settlement).toMatchObject({
      kind: 'settled',
      journal: [{ kind: 'attempted', outcome: { kind: 'delivered' } }],
    });
    expect(settlement).not.toHaveProperty('next');
    const [request] = requests;
    if (!request) throw new Error('nothing arrived');
    expect(request.url).toBe('/hook?x=1');
    expect(request.body).toBe(Buffer.from(task.body).toString());
    expect(request.headers.authorization).toBe(`API-Key ${SECRET}`);
    expect(request.headers['webhook-attempt']).toBe('3');
    expect(new Webhook(SECRET).verify(request.body, request.headers)).toEqual({ uuid: 'u1', type: 'KYC' });
  });

  test.each([200, 201, 202, 204, 226])('is acknowledged by status %i', async (status) => {
    answer = { status, headers: {} };
    expect(attemptedOf(await delivered(taskOf(), deps)).outcome).toEqual({ kind: 'delivered' });
  });

  test('journals enough to show the request again, without the secret', async () => {
    const task = taskOf();
    const delivery = await delivered(task, deps);
    const attempted = attemptedOf(delivery);
    expect(attempted.signature).toBe(requests[0]?.headers['webhook-signature']);
    expect(attempted.endpointVersion).toBe(version);
    expect(attempted.response).toMatchObject({ status: 200, bodyTruncated: false });
    expect(attempted.delivery).toMatchObject({ deliveryId: task.deliveryId, attempt: 1, attemptsMax: 7 });
    expect(attempted.delivery).not.toHaveProperty('body');
    const line = delivery.kind === 'attempted' && attemptLine(task, delivery, 0);
    const everything = JSON.stringify([delivery, line]) + logged;
    expect(everything).not.toContain(SECRET.slice('whsec_'.length));
  });
});

describe('a failed attempt', () => {
  test.each([1, 2, 3, 4, 5, 6])('number %i is retried n⁶ + 2 s after its end', async (attempt) => {
    answer = { status: 500, headers: {} };
    const task = taskOf({ attempt, hop: 4 });
    const delivery = await delivered({ ...task, parked: { reason: 'endpoint_full', since: 1 } }, deps);
    const { startedAt, durationMs, failureCode } = attemptedOf(delivery);
    expect(failureCode).toBe('http_5xx');
    if (delivery.settlement.kind !== 'settled' || !delivery.settlement.next)
      throw new Error('no next attempt');
    const { next } = delivery.settlement;
    expect(next).toEqual({ ...task, attempt: attempt + 1, hop: 0, dueAt: next.dueAt });
    const waitMs = next.dueAt - (startedAt + durationMs);
    expect(waitMs).toBeGreaterThanOrEqual(retryDelaySeconds(attempt) * 1000);
    expect(waitMs).toBeLessThan(retryDelaySeconds(attempt) * 1000 + 2);
    expect(delivery.settlement).not.toHaveProperty('dead');
  });

  test('number 7 leaves a dead letter and no eighth attempt', async () => {
    answer = { status: 404, headers: {} };
    const task = taskOf({ attempt: 7 });
    const { settlement } = await delivered(task, deps);
    expect(settlement).toMatchObject({
      kind: 'settled',
      journal: [{ outcome: { kind: 'exhausted' } }],
      dead: { reason: 'exhausted', failureCode: 'http_4xx', task: { deliveryId: task.deliveryId } },
    });
    expect(settlement).not.toHaveProperty('next');
  });

  test('ends the delivery at once when the answer is 410', async () => {
    answer = { status: 410, headers: {} };
    const { settlement } = await delivered(taskOf({ attempt: 2 }), deps);
    expect(settlement).toMatchObject({
      journal: [{ outcome: { kind: 'refused' }, failureCode: 'endpoint_gone' }],
      dead: { reason: 'refused' },
    });
    expect(settlement).not.toHaveProperty('next');
  });

  test('leaves neither a retry nor a dead letter when the delivery was requested by hand', async () => {
    answer = { status: 500, headers: {} };
    for (const trigger of ['test', 'manual', 'replay'] as const) {
      const { settlement } = await delivered(taskOf({ trigger, attemptsMax: 1 }), deps);
      expect(settlement).toMatchObject({ journal: [{ outcome: { kind: 'exhausted' } }] });
      expect(settlement).not.toHaveProperty('next');
      expect(settlement).not.toHaveProperty('dead');
    }
  });

  test('ignores Retry-After in the retry schedule', async () => {
    answer = { status: 429, headers: { 'retry-after': '9999' } };
    const delivery = await delivered(taskOf(), deps);
    const { outcome, startedAt } = attemptedOf(delivery);
    expect(outcome.kind === 'retry' && outcome.dueAt - startedAt).toBeLessThan(60_000);
    expect(delivery.kind === 'attempted' && delivery.posted.retryAfterSeconds).toBe(9999);
  });
});

describe('an attempt at an endpoint that changed', () => {
  test.each([
    ['disabled', 'endpoint_disabled'],
    ['auto_disabled', 'endpoint_auto_disabled'],
  ] as const)('cancels the delivery unsent when the endpoint became %s', async (status, reason) => {
    put({ status });
    for (const trigger of ['live', 'manual', 'replay'] as const) {
      const { settlement } = await delivered(taskOf({ attempt: 4, trigger }), deps);
      expect(settlement).toMatchObject({ kind: 'settled', journal: [{ kind: 'cancelled', reason }] });
    }
    expect(requests).toHaveLength(0);
    // A merchant may test before enabling.
    await delivered(taskOf({ trigger: 'test', attemptsMax: 1 }), deps);
    expect(requests).toHaveLength(1);
  });

  test('cancels the delivery when the endpoint is deleted, unknown or another merchant’s', async () => {
    version += 1;
    const cancelled = { kind: 'settled', journal: [{ kind: 'cancelled', reason: 'endpoint_deleted' }] };
    expect((await delivered(taskOf({ merchantId: 'm2' }), deps)).settlement).toMatchObject(cancelled);
    deps.directory.apply({ kind: 'endpoint', id: endpointId, version, value: null });
    expect((await delivered(taskOf(), deps)).settlement).toMatchObject(cancelled);
    expect((await delivered(taskOf({ endpointId: randomUUID() }), deps)).settlement).toMatchObject(cancelled);
    expect(requests).toHaveLength(0);
  });

  test('uses a rotated secret and a changed URL at once', async () => {
    await delivered(taskOf(), deps);
    const plain = newSecret(new Uint8Array(32).fill(8));
    put({ plain, url: `${base}/new` });
    await delivered(taskOf({ attempt: 2 }), deps);
    expect(requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/hook?x=1', `API-Key ${SECRET}`],
      ['/new', `API-Key ${plain}`],
    ]);
  });
});

describe('no attempt is counted', () => {
  test('for a merchant on hold', async () => {
    const value = {
      merchantId,
      name: 'M',
      state: 'paused',
      senderAccountDetails: false,
      version: 1,
    } as const;
    deps.directory.apply({ kind: 'merchant', id: merchantId, version: 1, value });
    const settled = async (hop: number) => (await delivered(taskOf({ hop }), deps)).settlement;
    expect(await settled(9)).toMatchObject({ kind: 'parked', tier: 66 });
    // On hold for long: it comes again more seldom.
    expect(await settled(10)).toMatchObject({ kind: 'parked', tier: 731 });
    expect(requests).toHaveLength(0);
  });

  test('when the secret cannot be opened', async () => {
    put({ secret: { keyId: 'lost', ciphertext: 'AAAA' } });
    expect((await delivered(taskOf(), deps)).settlement).toMatchObject({ kind: 'parked', tier: 66 });
    expect(requests).toHaveLength(0);
  });

  test('when the sender shuts down', async () => {
    const egress = { ports: [443], allow: parseEgressAllow('localhost') };
    const limits = { totalTimeoutMs: 5000, connectTimeoutMs: 300 };
    const stopped = openTransport({ clock, ...limits, egress, extraCa: null });
    await stopped.close();
    const delivery = await delivered(taskOf(), { ...deps, transport: stopped });
    expect(delivery).toEqual({ kind: 'interrupted', settlement: { kind: 'released' } });
  });
});
