/**
 * Guarantee: no client keeps others out of the API by holding connections open, and a process that has run out of
 * file descriptors reports that and continues to answer.
 */
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type LoggingReceiver, startLoggingReceiver } from '../support/receivers/logging-receiver.ts';
import { jsonEventOf } from '../support/records/events.ts';
import { MerchantClient } from '../support/service/merchant-client.ts';
import { prepareSetup, type Service, type ServiceSetup, startService } from '../support/service/system.ts';

const CONNECTIONS = 4096;
const ANSWERED_MS_MAX = 1000;
const DESCRIPTORS = 120;
const RECEIVERS = 60;

let service: Service | undefined;
let sockets: Socket[] = [];
let receivers: LoggingReceiver[] = [];

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await service?.end('SIGKILL');
  await Promise.all(receivers.map((receiver) => receiver.close()));
  receivers = [];
});

function hold(port: number, localAddress: string, text: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress }, () => {
      if (text !== '') socket.write(text);
      resolve();
    });
    // It may be closed at any time: that is what is tested.
    socket.on('error', () => resolve());
    sockets.push(socket);
  });
}

describe('connections that are held open', () => {
  const head = (setup: ServiceSetup) => `Host: x\r\nAuthorization: API-Key ${setup.apiKey}\r\n`;

  it.each<[string, (setup: ServiceSetup) => string]>([
    ['silent', () => ''],
    ['half a head', () => 'GET /merchant HTTP/1.1\r\nX-Slow: '],
    [
      'half a body',
      (setup) =>
        `POST /merchant/webhook-endpoints HTTP/1.1\r\n${head(setup)}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    ],
    ['idle after a request', (setup) => `GET /merchant HTTP/1.1\r\n${head(setup)}\r\n`],
  ])(
    `${CONNECTIONS} from one address, %s, do not keep another client from an answer`,
    { timeout: 120_000 },
    async (_kind, text) => {
      const setup = await prepareSetup();
      service = await startService(setup.environment);
      const { port } = new URL(service.apiUrl);
      for (let held = 0; held < CONNECTIONS; held += 128) {
        await Promise.all(Array.from({ length: 128 }, () => hold(Number(port), '127.0.0.2', text(setup))));
      }
      const took: number[] = [];
      for (let i = 0; i < 10; i += 1) {
        const startedAt = performance.now();
        const answer = await fetch(`${service.apiUrl}/merchant`, {
          headers: { authorization: `API-Key ${setup.apiKey}`, connection: 'close' },
          signal: AbortSignal.timeout(10_000),
        });
        expect(answer.status).toBe(200);
        took.push(performance.now() - startedAt);
      }
      expect(Math.max(...took)).toBeLessThan(ANSWERED_MS_MAX);
    },
  );
});

describe('a process without file descriptors', () => {
  it('says so in /readyz, the log and a metric, answers its API, and recovers', {
    timeout: 180_000,
  }, async () => {
    const setup = await prepareSetup();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    receivers = await Promise.all(
      Array.from({ length: RECEIVERS }, () =>
        startLoggingReceiver(setup.receiverCert, () => released.then(() => 200)),
      ),
    );
    const limited = ['sh', '-c', `ulimit -n ${DESCRIPTORS}; exec "$@"`, 'sh'];
    const running = await startService(setup.environment, limited);
    service = running;
    const merchant = new MerchantClient(setup, () => running);
    for (const receiver of receivers) await merchant.createEndpoint(`${receiver.url}/held`);
    const event = jsonEventOf(setup.merchantId, 'held');
    expect((await merchant.publish([event])).status).toBe(202);

    const ready = async () =>
      (await fetch(`${running.operationsUrl}/readyz`)).json() as Promise<{
        ready: boolean;
        reasons: string[];
      }>;
    const { reasons } = await eventually('the process is not ready', async () => {
      const answer = await ready();
      return answer.ready ? null : answer;
    });
    expect(reasons.join()).toContain(`all ${DESCRIPTORS} file descriptors are in use: raise the limit`);
    const metrics = await (await fetch(`${running.operationsUrl}/metrics`)).text();
    expect(metrics).toMatch(/^hookrail_file_descriptors_used_up 1$/m);

    const answers: number[] = [];
    for (let round = 0; round < 12; round += 1) {
      const status = () =>
        merchant.request('GET', '/merchant').then(
          (answer) => answer.status,
          () => 0,
        );
      answers.push(...(await Promise.all(Array.from({ length: 8 }, status))));
    }
    expect(answers.filter((status) => status !== 200 && status !== 503)).toEqual([]);

    release();
    await eventually('the process is ready again', async () => (await ready()).ready, 60_000);
    await eventually(
      'every endpoint has the event',
      () => receivers.every(({ arrivals }) => arrivals.length > 0),
      60_000,
    );
    const first = receivers.map(({ arrivals }) => arrivals[0]?.attempt);
    expect(first, 'the lack of descriptors counted as no attempt').toEqual(receivers.map(() => 1));
    const told = running.output.filter((line) => line.includes('"file_descriptors_used_up"'));
    expect(told.length).toBeGreaterThanOrEqual(1);
    expect(told.length, 'one line per transition').toBeLessThan(5);
  });
});
