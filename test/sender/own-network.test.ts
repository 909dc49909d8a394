/**
 * Guarantee: while the sender's own network or resolver is down, attempts are put back and not counted, whatever the
 * resolver says; a wrong name and a dead receiver stay the endpoint's failure.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Directory } from '../../services/domain/directory.ts';
import { newSecret } from '../../services/domain/secret.ts';
import type { DeliveryTask } from '../../services/domain/task.ts';
import { parseEgressAllow } from '../../services/egress/egress.ts';
import { KeyRing } from '../../services/keys/keyring.ts';
import { systemClock } from '../../services/process/clock.ts';
import type { Resolve } from '../../services/sender/http/names/addresses.ts';
import { NameServers } from '../../services/sender/http/names/name-servers.ts';
import { openTransport } from '../../services/sender/http/transport.ts';
import { NetworkWatch } from '../../services/sender/network-watch.ts';
import { openEndpoint } from '../../services/sender/request.ts';
import { type Said, startNameServer } from '../support/faults/name-server.ts';
import { receiverCertificates, startRawReceiver } from '../support/receivers/misbehaving-receivers.ts';
import { delivered } from '../support/receivers/posting.ts';

const SLOW_MS = 60_000;
/** Long enough for a name server in this process to answer the control question while the machine is busy. */
const CONNECT_MS = 2000;
const ENDPOINTS = 40;
/** As the watch has it: fewer silent endpoints than this may just be dead. */
const SILENT_MIN = 20;
const clock = systemClock();
const SECRET = newSecret(new Uint8Array(32).fill(9));
const keyRing = KeyRing.parse(
  JSON.stringify({ active: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } }),
  'of the test',
);
const opened: { close(): Promise<void> }[] = [];
let certificates: Awaited<ReturnType<typeof receiverCertificates>>;
beforeAll(async () => {
  certificates = await receiverCertificates();
});
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

/** Asks one name server, which says this of every name and, unless told otherwise, of the root. */
async function asking(say: (name: string) => Said, ofRoot?: Said): Promise<Resolve> {
  const server = await startNameServer((name) => (name === '' && ofRoot !== undefined ? ofRoot : say(name)));
  opened.push(server);
  const names = new NameServers({ clock, connectTimeoutMs: CONNECT_MS, servers: () => [server.at] });
  return (hostname) => names.resolve(hostname);
}

/** Endpoints that are delivered to one after the other. Returns what came of each. */
async function deliverTo(urls: readonly string[], resolve: Resolve): Promise<string[]> {
  const directory = new Directory();
  const egress = { ports: [443], allow: parseEgressAllow('127.0.0.0/8') };
  const transport = openTransport({
    clock,
    totalTimeoutMs: 2 * CONNECT_MS,
    connectTimeoutMs: CONNECT_MS,
    egress,
    extraCa: certificates.ca,
    resolve,
  });
  opened.push(transport);
  const deps = {
    directory,
    open: (endpoint: Parameters<typeof openEndpoint>[0]) => openEndpoint(endpoint, { secret: SECRET }),
    transport,
    network: new NetworkWatch(),
    clock,
    retryScale: 1,
  };
  const outcomes: string[] = [];
  for (const url of urls) {
    const task = addEndpoint(directory, url);
    const made = await delivered(task, deps);
    if (made.kind === 'parked') outcomes.push(made.why);
    else outcomes.push(made.kind === 'attempted' ? (made.attempted.failureCode ?? 'delivered') : made.kind);
  }
  return outcomes;
}

function addEndpoint(directory: Directory, url: string): DeliveryTask {
  const uuid = randomUUID();
  const value = {
    uuid,
    merchantId: 'm1',
    url,
    subscribedEvents: null,
    status: 'active' as const,
    apiVersion: '2.3.8' as const,
    secret: keyRing.seal(SECRET, uuid),
    publicKeySignature: false,
    legacy: false,
    version: 1,
  };
  directory.apply({ kind: 'endpoint', id: uuid, version: 1, value });
  return {
    deliveryId: randomUUID(),
    eventId: randomUUID(),
    merchantId: 'm1',
    endpointId: uuid,
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
    body: Buffer.from('{}'),
  };
}

const names = (count: number, prefix = 'm') =>
  Array.from({ length: count }, (_, i) => `https://${prefix}${i}.merchant-hooks.com/`);
const countOf = (outcomes: readonly string[], outcome: string) =>
  outcomes.filter((each) => each === outcome).length;

describe('name servers that', () => {
  test.each<[string, Said]>([
    ['say SERVFAIL', 'servfail'],
    ['say REFUSED', 'refused'],
    ['say nothing', null],
  ])('%s to everything cost no endpoint an attempt', { timeout: SLOW_MS }, async (_, said) => {
    const outcomes = await deliverTo(names(5), await asking(() => said));
    expect(outcomes).toEqual(Array(5).fill('network_down'));
  });

  test.each<[string, Said, Said]>([
    ['say SERVFAIL to every name, and answer for the root', 'servfail', []],
    ['know no name at all', 'nxdomain', 'nxdomain'],
  ])('%s cost nineteen endpoints an attempt, and no more', { timeout: SLOW_MS }, async (_, said, ofRoot) => {
    const outcomes = await deliverTo(names(ENDPOINTS), await asking(() => said, ofRoot));
    expect(outcomes.slice(0, SILENT_MIN - 1)).toEqual(Array(SILENT_MIN - 1).fill('dns_error'));
    expect(countOf(outcomes, 'network_down')).toBe(ENDPOINTS - SILENT_MIN + 1);
  });

  test('are silent, as a resolver without a control question tells it, cost nineteen endpoints an attempt', async () => {
    const resolve: Resolve = () => Promise.reject(Object.assign(new Error('silent'), { code: 'ETIMEOUT' }));
    expect(countOf(await deliverTo(names(ENDPOINTS), resolve), 'network_down')).toBe(21);
  });

  test('say SERVFAIL, and NXDOMAIN for a few names, do not show that the sender’s network is up', {
    timeout: SLOW_MS,
  }, async () => {
    const resolve = await asking((name) => (name.startsWith('gone') ? 'nxdomain' : 'servfail'), []);
    const urls = names(ENDPOINTS).flatMap((url) => [url, 'https://gone.merchant-hooks.com/']);
    const outcomes = await deliverTo(urls, resolve);
    expect(countOf(outcomes, 'network_down')).toBeGreaterThanOrEqual(ENDPOINTS - SILENT_MIN + 1);
  });

  test('do not know one name that many endpoints share leave the failures to the endpoints', {
    timeout: SLOW_MS,
  }, async () => {
    const resolve = await asking(() => 'nxdomain');
    const outcomes = await deliverTo(Array(ENDPOINTS).fill('https://gone.merchant-hooks.com/'), resolve);
    expect(countOf(outcomes, 'dns_error')).toBe(ENDPOINTS);
  });
});

test('blocked addresses do not show that the sender’s network is up', async () => {
  const resolve: Resolve = async (name) => {
    if (name.startsWith('blocked')) return ['10.0.0.1'];
    throw Object.assign(new Error('no'), { code: 'ESERVFAIL' });
  };
  const urls = names(ENDPOINTS).flatMap((url) => [url, 'https://blocked.merchant-hooks.com/']);
  const outcomes = await deliverTo(urls, resolve);
  expect(countOf(outcomes, 'blocked_address')).toBe(ENDPOINTS);
  expect(countOf(outcomes, 'network_down')).toBe(ENDPOINTS - SILENT_MIN + 1);
});

test.each([
  ['answers', 'delivered'],
  ['refuses the connection', 'connect_refused'],
])('one receiver that %s shows that the sender’s network is up', async (_, outcome) => {
  const receiver = await startRawReceiver(
    certificates.certificate,
    (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
  );
  if (outcome === 'delivered') opened.push(receiver);
  else await receiver.close();
  const resolve: Resolve = () => Promise.reject(Object.assign(new Error('no'), { code: 'ESERVFAIL' }));
  const urls = names(ENDPOINTS);
  urls.splice(10, 0, `${receiver.origin}/`);
  const outcomes = await deliverTo(urls, resolve);
  expect(countOf(outcomes, outcome)).toBe(1);
  expect(countOf(outcomes, 'network_down')).toBe(0);
});
