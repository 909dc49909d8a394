/** The headers of a merchant's own are in every request, beside those of hookrail, and not in what is kept of a response. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { headersText } from '../../services/domain/controls/custom-headers.ts';
import { Directory } from '../../services/domain/directory.ts';
import type { Endpoint } from '../../services/domain/endpoint.ts';
import { newSecret } from '../../services/domain/secret.ts';
import type { DeliveryTask } from '../../services/domain/task.ts';
import { redactedHeaders } from '../../services/domain/webhook-request.ts';
import { parseEgressAllow } from '../../services/egress/egress.ts';
import { KeyRing } from '../../services/keys/keyring.ts';
import { systemClock } from '../../services/process/clock.ts';
import type { DeliverDeps } from '../../services/sender/deliver.ts';
import { openTransport, type Transport } from '../../services/sender/http/transport.ts';
import { NetworkWatch } from '../../services/sender/network-watch.ts';
import { SecretOpener } from '../../services/sender/secret-opener.ts';
import { createLogger } from '../../services/telemetry/logger.ts';
import {
  type RawReceiver,
  receiverCertificates,
  startRawReceiver,
} from '../support/receivers/misbehaving-receivers.ts';
import { delivered } from '../support/receivers/posting.ts';

const clock = systemClock();
const keyRing = KeyRing.parse(
  JSON.stringify({ active: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } }),
  'of the test',
);
const endpointId = randomUUID();
const TOKEN = 'token-0123456789abcdef';
const HEADERS = [
  { name: 'X-Gateway', value: `Bearer ${TOKEN}` },
  { name: '__proto__', value: 'a\tb' },
];
let receiver: RawReceiver;
let transport: Transport;
let answer = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

beforeAll(async () => {
  const { ca, certificate } = await receiverCertificates();
  receiver = await startRawReceiver(certificate, (socket) => {
    socket.end(answer);
  });
  const egress = { ports: [443], allow: parseEgressAllow('localhost') };
  transport = openTransport({ clock, totalTimeoutMs: 5000, connectTimeoutMs: 3000, egress, extraCa: ca });
});
afterAll(async () => {
  await transport.close();
  await receiver.close();
});

let before = 0;
beforeEach(() => {
  before = receiver.received.length;
});
const received = () => receiver.received.slice(before);

function depsWith(change: Partial<Endpoint>): DeliverDeps {
  const value: Endpoint = {
    ...{ uuid: endpointId, merchantId: 'm1', url: `https://localhost:${receiver.port}/hook` },
    ...{ subscribedEvents: null, status: 'active', apiVersion: '2.3.8', legacy: false, version: 1 },
    ...{ secret: keyRing.seal(newSecret(new Uint8Array(32).fill(9)), endpointId), publicKeySignature: false },
    ...change,
  };
  const directory = new Directory();
  directory.apply({ kind: 'endpoint', id: endpointId, version: 1, value });
  const opener = new SecretOpener(keyRing, createLogger('silent', { write: () => {} }));
  const open: DeliverDeps['open'] = (endpoint, signedWith) => opener.open(endpoint, signedWith);
  return { directory, open, transport, network: new NetworkWatch(), clock, retryScale: 1 };
}

const sealed = () => ({
  names: HEADERS.map(({ name }) => name),
  sealed: keyRing.seal(headersText(HEADERS), endpointId),
});

const taskOf = (trigger: DeliveryTask['trigger']): DeliveryTask => ({
  ...{
    deliveryId: randomUUID(),
    eventId: randomUUID(),
    merchantId: 'm1',
    endpointId,
    entityId: randomUUID(),
  },
  ...{ subjectId: null, sequence: 1, type: 'KYC', subType: 'KYC_STARTED', apiVersion: '2.3.8', trigger },
  ...{ attempt: 1, attemptsMax: 7, dueAt: 0, hop: 0, occurredAt: clock.now(), acceptedAt: clock.now() },
  body: Buffer.from('{}'),
});

test.each(['live', 'test', 'manual', 'replay'] as const)(
  'a request of the kind %s has them as they were set',
  async (trigger) => {
    expect((await delivered(taskOf(trigger), depsWith({ headers: sealed() }))).kind).toBe('attempted');
    expect(received()).toContain(`X-Gateway: Bearer ${TOKEN}\r\n`);
    expect(received()).toContain('__proto__: a\tb\r\n');
    expect(received().match(/^(host|content-length|authorization|webhook-signature):/gim)).toHaveLength(4);
  },
);

test('an endpoint without them gets no other request than before', async () => {
  await delivered(taskOf('live'), depsWith({}));
  expect(received()).toContain('webhook-id:');
  expect(received()).not.toContain('X-Gateway');
});

test('a response that sends a value back is kept without it', async () => {
  answer = `HTTP/1.1 500 No\r\nx-seen: Bearer ${TOKEN}\r\ncontent-length: ${TOKEN.length}\r\n\r\n${TOKEN}`;
  const result = await delivered(taskOf('live'), depsWith({ headers: sealed() }));
  expect(result.kind).toBe('attempted');
  const kept = result.kind === 'attempted' ? result.attempted.response : null;
  expect(kept?.status).toBe(500);
  expect(JSON.stringify(kept?.headers)).not.toContain(TOKEN);
  expect(Buffer.from(kept?.body ?? []).toString()).toBe('[secret removed]');
});

test('headers that cannot be opened make the delivery wait, and it is not sent without them', async () => {
  for (const keyId of ['lost', 'k1']) {
    const headers = {
      names: ['X-Gateway'],
      sealed: { keyId, ciphertext: Buffer.alloc(40).toString('base64') },
    };
    const { settlement } = await delivered(taskOf('live'), depsWith({ headers }));
    expect(settlement).toMatchObject({ kind: 'parked', reason: 'secret_not_openable' });
  }
  expect(received()).toBe('');
});

test('a redirect is not followed, so that no other server gets them', async () => {
  answer = `HTTP/1.1 302 Found\r\nlocation: https://localhost:${receiver.port}/other\r\ncontent-length: 0\r\n\r\n`;
  await delivered(taskOf('live'), depsWith({ headers: sealed() }));
  expect(received().match(/^POST /gm)).toHaveLength(1);
});

test('the delivery log shows names and no values', () => {
  const delivery = taskOf('live');
  const names = HEADERS.map(({ name }) => name);
  const shown = redactedHeaders({ delivery, startedAt: 1000, signature: 's' }, names);
  expect(Object.entries(shown).slice(-2)).toEqual([
    ['X-Gateway', '[redacted]'],
    ['__proto__', '[redacted]'],
  ]);
});
