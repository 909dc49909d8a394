/**
 * Guarantee: a broker that accepts connections and answers nothing keeps a client from nothing that another broker can
 * do. What it does to whole processes is in test/guarantees/silent/hung-broker.test.ts.
 */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { kafkaClient } from '../../../../services/broker/kafka/client/client.ts';
import { createLogger } from '../../../../services/telemetry/logger.ts';
import { describeWithKafka } from '../../../support/kafka/suites.ts';

const log = createLogger('silent');
const hung: { server: Server; sockets: Set<Socket> }[] = [];

afterAll(() => {
  for (const { server, sockets } of hung) {
    server.close();
    for (const socket of sockets) socket.destroy();
  }
});

/** Returns the address of a server that reads everything and answers nothing. */
async function hungBroker(): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.resume().on('error', () => {}));
  });
  hung.push({ server, sockets });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const clientOf = (brokers: readonly string[]) =>
  kafkaClient({ brokers, clientId: 'silent-brokers', tls: null, sasl: null, log });

it('a client of hung brokers only says that they do not answer', async () => {
  const admin = clientOf([await hungBroker()]).admin({ retry: { retries: 1, initialRetryTime: 50 } });
  await expect(admin.connect()).rejects.toThrow('does not answer');
  await admin.disconnect();
}, 60_000);

await describeWithKafka('a cluster of which some configured addresses hang', (kafka) => {
  it('is reached by another address', async () => {
    const { brokers } = kafka;
    const admin = clientOf([await hungBroker(), await hungBroker(), ...brokers]).admin();
    await admin.connect();
    expect((await admin.describeCluster()).brokers.length).toBeGreaterThan(0);
    await admin.disconnect();
  }, 60_000);
});
