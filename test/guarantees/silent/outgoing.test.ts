/**
 * Guarantee: on the way to the receivers, name servers that answer nothing, and an egress proxy that accepts connections
 * and answers nothing, hold up no delivery that does not need them. What they held up costs no attempt; they are named in
 * the log; and it arrives once they answer again or were replaced.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Broker } from '../../../services/broker/broker.ts';
import type { JournalEntry } from '../../../services/domain/journal.ts';
import { parseEgressAllow } from '../../../services/egress/egress.ts';
import { parseEgressProxy } from '../../../services/egress/egress-proxy.ts';
import { Tunnels } from '../../../services/sender/http/egress-proxy.ts';
import { NameServers } from '../../../services/sender/http/names/name-servers.ts';
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
import { type NameServer, startNameServer } from '../../support/faults/name-server.ts';
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

/** A name server whose answers can be stopped; each name has one address. */
async function startNames(port = 0) {
  const state = { isSilent: false };
  const server = await startNameServer(
    (_, type) => (state.isSilent ? null : type === 'A' ? [PUBLIC_ADDRESS] : []),
    port,
  );
  closing.push(() => server.close());
  return Object.assign(server, { state });
}

const namesOf = (...servers: NameServer[]) =>
  new NameServers({ clock, connectTimeoutMs: CONNECT_MS, servers: () => servers.map(({ at }) => at) });

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
  it.each([
    [
      'are silent',
      (server: Awaited<ReturnType<typeof startNames>>) =>
        void Object.assign(server.state, { isSilent: true }),
    ],
    ['are gone', (server: Awaited<ReturnType<typeof startNames>>) => server.close()],
  ])(
    'because they %s cost no attempt, hold up no other delivery, and are named',
    { timeout: TEST_MS },
    async (_, stop) => {
      const broker = await openEngine(tempDir());
      const journal = await readJournal(broker);
      const servers = [await startNames()];
      const nameServers = new NameServers({
        clock,
        connectTimeoutMs: CONNECT_MS,
        servers: () => servers.map(({ at }) => at),
      });
      // Connections lead to the receiver of this machine, through a proxy that never fails.
      const { direct, addAll, lines } = await startSenders(broker, async (port) => ({
        nameServers,
        tunnels: Tunnels.through(
          parseEgressProxy(`http://127.0.0.1:${(await startProxy(port)).port}`),
          clock,
          CONNECT_MS,
        ),
      }));
      const named = addAll(Array.from({ length: ENDPOINTS }, (_, i) => `https://${HOST}/${i}`));
      const settled = () => attemptsOf(journal, named);
      for (const server of servers) await stop(server);
      await publishTo(broker, named);
      await expectDelivered('a delivery that needs no name server', broker, journal, direct);
      const said = () => lines.find((each) => each.includes('"network_down"'));
      const told = await waited('the log names the servers', () => eventually('a line', said, WAIT_MS_MAX));
      expect(told.result).toContain(`the name servers (${servers[0]?.at}) answer no question`);
      expect(nameServers.failing).not.toBeNull();
      // Under load, until some have been put back several times.
      for (let i = 0; i < 20; i += 1) {
        await publishTo(broker, named);
        await clock.sleep(200);
      }
      expect(settled()).toEqual([]);

      servers[0] = await startNames();
      await waited('all arrive after the servers were replaced', () =>
        eventually('all', () => settled().length >= 21 * ENDPOINTS, WAIT_MS_MAX),
      );
      expect(new Set(settled().map(({ failureDetail }) => failureDetail))).toEqual(new Set([null]));
      expect(settled().every(({ delivery }) => delivery.attempt === 1)).toBe(true);
      await eventually('they are known to answer', () => nameServers.failing === null, WAIT_MS_MAX);
    },
  );

  it('are passed over for one that answers', { timeout: TEST_MS }, async () => {
    const silent = await startNames();
    silent.state.isSilent = true;
    const names = namesOf(silent, await startNames());
    const first = await waited('the first name, with one of two name servers', () =>
      names.resolve('a.merchant.com'),
    );
    const second = await waited('the second name', () => names.resolve('b.merchant.com'));
    expect([first.result.first, second.result.first]).toEqual([[PUBLIC_ADDRESS], [PUBLIC_ADDRESS]]);
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
      return { tunnels: Tunnels.through(proxy, clock, CONNECT_MS), resolve: async () => [PUBLIC_ADDRESS] };
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
