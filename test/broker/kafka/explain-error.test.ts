/** An error of Kafka is explained in one line: the cause, the address, and the variable to look at. */
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import kafkajs from 'kafkajs';
import { generate } from 'selfsigned';
import { describe, expect, it } from 'vitest';
import { explainKafkaError } from '../../../services/broker/kafka/explain-error.ts';
import { type KafkaOptions, kafkaClient } from '../../../services/kafka-client/client/client.ts';
import { createLogger } from '../../../services/telemetry/logger.ts';

describe('the explanation of a Kafka error', { timeout: 60_000 }, () => {
  const explain = async (more: Partial<KafkaOptions> & Pick<KafkaOptions, 'brokers'>) => {
    const admin = kafkaClient({
      clientId: 'test',
      tls: null,
      sasl: null,
      log: createLogger('silent'),
      ...more,
    }).admin();
    const error = await admin.connect().then(
      () => new Error('connected'),
      (why: unknown) => why,
    );
    await admin.disconnect();
    return explainKafkaError(error, more.brokers);
  };
  const listening = async (server: ReturnType<typeof createTcpServer>): Promise<string> => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  it.concurrent('names a broker that does not answer', async () => {
    const server = createTcpServer();
    const broker = await listening(server);
    server.close();
    expect(await explain({ brokers: [broker] })).toBe(
      `no Kafka broker answers at ${broker}: check HOOKRAIL_KAFKA_BROKERS (Connection error: connect ECONNREFUSED ${broker})`,
    );
  });

  it.concurrent('names a certificate of an unknown authority', async () => {
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }]);
    const server = createTlsServer({ cert, key });
    server.on('tlsClientError', () => {});
    const broker = await listening(server);
    const line = await explain({ brokers: [broker], tls: { ca: null, cert: null, key: null } });
    server.close();
    expect(line).toContain(`TLS with the broker at ${broker} fails (DEPTH_ZERO_SELF_SIGNED_CERT`);
    expect(line).toContain('HOOKRAIL_KAFKA_TLS_CA_FILE');
  });

  it.concurrent('names a broker that cuts the connection', async () => {
    const server = createTcpServer((socket) => socket.once('data', () => socket.end()));
    const broker = await listening(server);
    const line = await explain({ brokers: [broker] });
    server.close();
    expect(line).toContain(`the broker at ${broker} closes the connection`);
    expect(line).toContain('HOOKRAIL_KAFKA_SASL_MECHANISM');
  });

  const { KafkaJSSASLAuthenticationError, KafkaJSConnectionError, KafkaJSProtocolError } = kafkajs;
  const protocol = (type: string) =>
    Object.assign(new KafkaJSProtocolError('refused'), { type, code: 29, retriable: false });
  it.each([
    [
      // Its types forget the message.
      Reflect.construct(KafkaJSSASLAuthenticationError, ['SASL PLAIN authentication failed:\n bad']),
      /^Kafka authentication failed \(SASL PLAIN authentication failed: bad\): check HOOKRAIL_KAFKA_SASL_MECHANISM/,
    ],
    [
      new KafkaJSConnectionError('Connection error: connect ECONNREFUSED', {
        broker: 'inner:9092',
        code: 'ECONNREFUSED',
      }),
      /^Kafka advertises a broker at inner:9092 that cannot be reached from here: check its advertised\.listeners/,
    ],
    [
      protocol('TOPIC_AUTHORIZATION_FAILED'),
      /^the Kafka user has no permission for this topic: grant the ACLs/,
    ],
    [
      Object.assign(protocol('GROUP_AUTHORIZATION_FAILED'), { topic: 'wh.deliver' }),
      /^the Kafka user has no permission for this group \(wh\.deliver\)/,
    ],
    [protocol('UNKNOWN_TOPIC_OR_PARTITION'), /^a topic is missing or hidden from the Kafka user/],
    [new TypeError('odd'), /^Kafka at k:9092: odd$/],
  ])('gives the cause of %s and its remedy', (error, line) => {
    expect(explainKafkaError(error, ['k:9092'])).toMatch(line);
  });
});
