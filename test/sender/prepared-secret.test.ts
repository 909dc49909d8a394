/** A test that asks for the prepared secret is signed with it or not sent, and no other attempt is. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Directory } from '../../services/domain/directory.ts';
import type { Endpoint } from '../../services/domain/endpoint.ts';
import { newSecret } from '../../services/domain/secret.ts';
import type { DeliveryTask } from '../../services/domain/task.ts';
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
const SECRET = newSecret(new Uint8Array(32).fill(9));
const PREPARED = newSecret(new Uint8Array(32).fill(7));
const OF_TEST = { trigger: 'test', attemptsMax: 1, signedWith: 'prepared' } as const;
const endpointId = randomUUID();
let receiver: RawReceiver;
let transport: Transport;

beforeAll(async () => {
  const { ca, certificate } = await receiverCertificates();
  receiver = await startRawReceiver(certificate, (socket) => {
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
  });
  const egress = { ports: [443], allow: parseEgressAllow('localhost') };
  transport = openTransport({ clock, totalTimeoutMs: 5000, connectTimeoutMs: 3000, egress, extraCa: ca });
});
afterAll(async () => {
  await transport.close();
  await receiver.close();
});

function depsWith(change: Partial<Endpoint>): DeliverDeps {
  const value: Endpoint = {
    ...{ uuid: endpointId, merchantId: 'm1', url: `https://localhost:${receiver.port}/hook` },
    ...{ subscribedEvents: null, status: 'active', apiVersion: '2.3.8', legacy: false, version: 1 },
    ...{ secret: keyRing.seal(SECRET, endpointId), publicKeySignature: false },
    ...change,
  };
  const directory = new Directory();
  directory.apply({ kind: 'endpoint', id: endpointId, version: 1, value });
  const opener = new SecretOpener(keyRing, createLogger('silent', { write: () => {} }));
  const open: DeliverDeps['open'] = (endpoint, signedWith) => opener.open(endpoint, signedWith);
  return { directory, open, transport, network: new NetworkWatch(), clock, retryScale: 1 };
}

const taskOf = (change: Partial<DeliveryTask> = {}): DeliveryTask => ({
  ...{
    deliveryId: randomUUID(),
    eventId: randomUUID(),
    merchantId: 'm1',
    endpointId,
    entityId: randomUUID(),
  },
  ...{
    subjectId: null,
    sequence: 1,
    type: 'KYC',
    subType: 'KYC_STARTED',
    apiVersion: '2.3.8',
    trigger: 'live',
  },
  ...{ attempt: 1, attemptsMax: 7, dueAt: 0, hop: 0, occurredAt: clock.now(), acceptedAt: clock.now() },
  body: Buffer.from('{}'),
  ...change,
});

test('a test is signed with the prepared secret, while every other attempt has the one in force', async () => {
  const deps = depsWith({ prepared: keyRing.seal(PREPARED, endpointId) });
  for (const change of [OF_TEST, {}]) expect((await delivered(taskOf(change), deps)).kind).toBe('attempted');
  const sent = [...receiver.received.matchAll(/^authorization: API-Key (\S+)/gim)].map(
    ([, secret]) => secret,
  );
  expect(sent).toEqual([PREPARED, SECRET]);
});

test('a test is cancelled when no secret is prepared any more, and signed with no other', async () => {
  const before = receiver.received;
  const { settlement } = await delivered(taskOf(OF_TEST), depsWith({}));
  expect(settlement).toMatchObject({
    kind: 'settled',
    journal: [{ kind: 'cancelled', reason: 'endpoint_changed' }],
  });
  expect(receiver.received).toBe(before);
});

test('a prepared secret that cannot be opened parks the test, and holds no other delivery back', async () => {
  const deps = depsWith({ prepared: { keyId: 'lost', ciphertext: 'AAAA' } });
  expect((await delivered(taskOf(OF_TEST), deps)).settlement).toMatchObject({ kind: 'parked', tier: 66 });
  expect((await delivered(taskOf(), deps)).kind).toBe('attempted');
});
