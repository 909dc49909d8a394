/**
 * Guarantee: on the way to the receivers, name servers that answer nothing, and an egress proxy that accepts connections
 * and answers nothing, end an attempt with the connect time-out, and hold up no delivery that does not need them. What the
 * proxy held up costs no attempt, is named in the log, and arrives once the proxy answers again.
 */
import { randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Broker } from '../../../services/broker/broker.ts';
import type { JournalEntry } from '../../../services/domain/journal.ts';
import { parseEgressAllow } from '../../../services/egress/egress.ts';
import { parseEgressProxy } from '../../../services/egress/egress-proxy.ts';
import { dnsResolver } from '../../../services/sender/http/address-guard.ts';
import { openTransport, type TransportOptions } from '../../../services/sender/http/transport.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';
import { createAuthority, issueCertificate } from '../../../simulator/receiver/certificate-authority.ts';
import {
  clock,
  OK,
  openEngine,
  publish,
  readJournal,
  start,
  taskOf,
  tempDir,
} from '../../sender/sender-bench.ts';
import { eventually } from '../../support/eventually.ts';
import { TcpLine } from '../../support/faults/tcp-line.ts';
import { startRawReceiver } from '../../support/receivers/misbehaving-receivers.ts';
import { printWait, waited } from '../../support/trials/waits.ts';

const TEST_MS = 120_000;
/** As in production by default. */
const CONNECT_MS = 3000;
const TOTAL_MS = 10_000;
/** Only against waiting for long. */
const WAIT_MS_MAX = 30_000;
/** Fewer than those from which on hookrail takes its own network to be down. */
const ENDPOINTS = 10;
const HOST = 'hooks.merchant.com';
/** An address that may be sent to. */
const PUBLIC_ADDRESS = '93.184.216.34';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A sender with endpoints that need the party, and one that does not: its address is in its URL. */
async function startSenders(broker: Broker, options: (port: number) => Promise<Partial<TransportOptions>>) {
  const authority = await createAuthority();
  const certificate = await issueCertificate(authority, { hosts: [HOST, '127.0.0.1'] });
  const receiver = await startRawReceiver(certificate, (socket) => void socket.write(OK));
  closing.push(() => receiver.close());
  const transport = openTransport({
    ...{ clock, totalTimeoutMs: TOTAL_MS, connectTimeoutMs: CONNECT_MS, extraCa: authority.certPem },
    egress: { ports: [443], allow: parseEgressAllow('127.0.0.0/8') },
    ...(await options(receiver.port)),
  });
  closing.push(() => transport.close());
  const lines: string[] = [];
  const log = createLogger('info', { write: (line) => void lines.push(line) });
  const { addEndpoint } = await start(broker, () => {}, { transport, log });
  const addAll = (urls: readonly string[]) =>
    urls.map((url) => {
      const id = randomUUID();
      addEndpoint(id, url);
      return id;
    });
  const [direct = ''] = addAll([`${receiver.origin}/direct`]);
  return { lines, direct, addAll };
}

const publishTo = (broker: Broker, endpoints: readonly string[]) =>
  publish(
    broker,
    endpoints.map((endpointId) => taskOf({ trigger: 'live', endpointId })),
  );

const attemptsOf = (journal: readonly JournalEntry[], endpoints: readonly string[]) =>
  journal.flatMap((entry) =>
    entry.kind === 'attempted' && endpoints.includes(entry.delivery.endpointId) ? [entry] : [],
  );

/** Expects the endpoint that needs nothing of the party to be delivered to as if nothing was. */
async function expectDelivered(
  row: string,
  broker: Broker,
  journal: readonly JournalEntry[],
  endpoint: string,
): Promise<void> {
  const before = attemptsOf(journal, [endpoint]).length;
  const { ms } = await waited(row, async () => {
    await publishTo(broker, [endpoint]);
    await eventually(row, () => attemptsOf(journal, [endpoint]).length > before);
  });
  expect(attemptsOf(journal, [endpoint]).at(-1)?.outcome.kind).toBe('delivered');
  expect(ms).toBeLessThan(CONNECT_MS);
}

/** A DNS server on UDP, which answers every question for an IPv4 address with one, or nothing at all. */
async function startDns(isSilent: boolean): Promise<string> {
  const server = createSocket('udp4', (question, from) => {
    if (!isSilent) server.send(dnsAnswer(question), from.port, from.address);
  });
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve));
  closing.push(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return `127.0.0.1:${server.address().port}`;
}

/** RFC 1035, section 4.1: a header of 12 bytes, the name ended by a zero, type and class. */
function dnsAnswer(question: Buffer): Buffer {
  const end = question.indexOf(0, 12) + 5;
  const isForIPv4 = question.readUInt16BE(end - 4) === 1;
  const answer = Buffer.from(question.subarray(0, end));
  answer.writeUInt16BE(0x8180, 2);
  answer.writeUInt16BE(isForIPv4 ? 1 : 0, 6);
  answer.fill(0, 8, 12);
  if (!isForIPv4) return answer;
  const address = PUBLIC_ADDRESS.split('.').map(Number);
  return Buffer.concat([answer, Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address])]);
}

/** A CONNECT proxy that leads to a port of this machine, behind a line that can be silenced. */
async function startProxy(to: number): Promise<TcpLine> {
  const server = createServer((_request, response) => void response.writeHead(405).end());
  server.on('connect', (_request: IncomingMessage, client: Socket) => {
    const upstream = connect(to, '127.0.0.1');
    for (const socket of [client, upstream]) socket.on('error', () => {});
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  const line = await TcpLine.open((server.address() as AddressInfo).port);
  closing.push(() => line.close());
  return line;
}

describe('name servers that answer nothing', () => {
  it('end an attempt in time, and hold up no other delivery', { timeout: TEST_MS }, async () => {
    const broker = await openEngine(tempDir());
    const journal = await readJournal(broker);
    const silent = dnsResolver(CONNECT_MS / 2, [await startDns(true)]);
    const { direct, addAll } = await startSenders(broker, async () => ({ resolve: silent }));
    const named = addAll(Array.from({ length: ENDPOINTS }, (_, i) => `https://m${i}.merchant.com/`));
    await publishTo(broker, named);
    await expectDelivered('a delivery that needs no name server', broker, journal, direct);
    const failed = () => attemptsOf(journal, named);
    await eventually('their attempts end', () => failed().length >= ENDPOINTS, WAIT_MS_MAX);
    const longest = Math.max(...failed().map(({ durationMs }) => durationMs));
    printWait('an attempt that needs a name', longest);
    expect(longest).toBeLessThan(WAIT_MS_MAX);
    expect(new Set(failed().map(({ failureCode }) => failureCode))).toEqual(new Set(['dns_error']));
  });

  it('are passed over for one that answers', { timeout: TEST_MS }, async () => {
    const resolve = dnsResolver(CONNECT_MS / 2, [await startDns(true), await startDns(false)]);
    const first = await waited('the first name, with one of two name servers', () =>
      resolve('a.merchant.com'),
    );
    const second = await waited('the second name', () => resolve('b.merchant.com'));
    expect([first.result, second.result]).toEqual([[PUBLIC_ADDRESS], [PUBLIC_ADDRESS]]);
    expect(first.ms).toBeLessThan(WAIT_MS_MAX);
    expect(second.ms).toBeLessThan(first.ms);
  });
});

describe('an egress proxy that accepts connections and answers nothing', () => {
  it('costs no attempt, holds up no other delivery, and is named', { timeout: TEST_MS }, async () => {
    const broker = await openEngine(tempDir());
    const journal = await readJournal(broker);
    let line: TcpLine | undefined;
    const { direct, addAll, lines } = await startSenders(broker, async (port) => {
      line = await startProxy(port);
      const proxy = parseEgressProxy(`http://127.0.0.1:${line.port}`);
      return { proxy, resolve: async () => [PUBLIC_ADDRESS] };
    });
    const proxied = addAll(Array.from({ length: ENDPOINTS }, (_, i) => `https://${HOST}/${i}`));
    const settled = () => attemptsOf(journal, proxied).map(({ outcome }) => outcome.kind);
    line?.silence();
    const from = performance.now();
    await publishTo(broker, proxied);
    await expectDelivered('a delivery past the proxy', broker, journal, direct);
    const said = () => lines.find((each) => each.includes('"egress_proxy"'));
    const told = await waited('the log names the proxy', () => eventually('a line', said, WAIT_MS_MAX));
    expect(told.result).toContain(`the egress proxy at 127.0.0.1:${line?.port} does not answer`);
    expect(told.result).toContain('HOOKRAIL_EGRESS_PROXY');
    expect(settled()).toEqual([]);
    printWait('the proxy was silent for', performance.now() - from);

    line?.heal();
    const all = proxied.map(() => 'delivered');
    await waited('all arrive after it answers again', () =>
      eventually('all', () => settled().length >= all.length, WAIT_MS_MAX),
    );
    expect(settled()).toEqual(all);
    expect(attemptsOf(journal, proxied).every(({ delivery }) => delivery.attempt === 1)).toBe(true);
  });
});
