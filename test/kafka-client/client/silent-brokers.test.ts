/**
 * Guarantee: a broker that accepts connections and answers nothing keeps a client from nothing that another broker can
 * do. What it does to whole processes is in test/guarantees/silent/hung-broker.test.ts.
 */
import { createRequire } from 'node:module';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kafkaClient } from '../../../services/kafka-client/client/client.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';
import { describeWithKafka } from '../../support/kafka/suites.ts';

/** The classes that silent-brokers.ts replaces parts of, as a client of this process has them. */
const require = createRequire(import.meta.url);
const BrokerPool: {
  readonly prototype: {
    withBroker(this: object, ask: (one: { readonly nodeId: string }) => Promise<never>): Promise<unknown>;
  };
} = require('kafkajs/src/cluster/brokerPool');
const ConsumerGroup: {
  readonly prototype: { heartbeat(this: object, options: object): Promise<void> };
} = require('kafkajs/src/consumer/consumerGroup');

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

/** A broker as far as it is looked at before it is asked. */
function brokerAt(address: string): object {
  const [host, port] = address.split(':');
  return { connectionPool: { host, port: Number(port), pool: [] }, isConnected: () => true };
}

const clientOf = (brokers: readonly string[]) =>
  kafkaClient({ brokers, clientId: 'silent-brokers', tls: null, sasl: null, log });

it('a client of hung brokers only says that they do not answer', async () => {
  const admin = clientOf([await hungBroker()]).admin({ retry: { retries: 1, initialRetryTime: 50 } });
  await expect(admin.connect()).rejects.toThrow('does not answer');
  await admin.disconnect();
}, 60_000);

describe('once a broker did not answer', () => {
  let silent: object;

  beforeAll(async () => {
    const address = await hungBroker();
    const admin = clientOf([address]).admin({ retry: { retries: 0 } });
    await expect(admin.connect()).rejects.toThrow('does not answer');
    await admin.disconnect();
    silent = brokerAt(address);
  }, 60_000);

  it('a broker that did not answer is asked after all others', async () => {
    const brokers: Record<string, object> = {
      silent,
      one: brokerAt('127.0.0.1:1'),
      two: brokerAt('127.0.0.1:2'),
    };
    const pool = {
      brokers,
      getNodeIds: () => Object.keys(brokers),
      findBroker: async ({ nodeId }: { nodeId: string }) => brokers[nodeId],
    };
    // The others are in any order.
    for (let round = 0; round < 20; round += 1) {
      const asked: string[] = [];
      const answer = BrokerPool.prototype.withBroker.call(pool, async ({ nodeId }) => {
        asked.push(nodeId);
        throw new Error('ask the next one');
      });
      expect(await answer).toBeNull();
      expect([...asked].sort()).toEqual(['one', 'silent', 'two']);
      expect(asked.at(-1)).toBe('silent');
    }
  });

  it('a group leaves a coordinator that did not answer', async () => {
    const heartbeat = ConsumerGroup.prototype.heartbeat.call({ coordinator: silent }, { interval: 0 });
    await expect(heartbeat).rejects.toMatchObject({ type: 'NOT_COORDINATOR_FOR_GROUP' });
  });
});

await describeWithKafka('a cluster of which some configured addresses hang', (kafka) => {
  it('is reached by another address', async () => {
    const { brokers } = kafka;
    const admin = clientOf([await hungBroker(), await hungBroker(), ...brokers]).admin();
    await admin.connect();
    expect((await admin.describeCluster()).brokers.length).toBeGreaterThan(0);
    await admin.disconnect();
  }, 60_000);
});
