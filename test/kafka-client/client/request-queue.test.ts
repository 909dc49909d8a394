/** Guarantee: a connection to a broker over which no request waits costs no timers, and one that waits is sent in time. */
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { lookOnlyForWaitingRequests } from '../../../services/kafka-client/client/request-queue.ts';

/** kafkajs's queue, as far as it is used here. */
interface Queue {
  readonly throttleCheckTimeoutId: object | null;
  push(request: object): void;
  fulfillRequest(response: object): void;
  maybeThrottle(ms: number): void;
}

lookOnlyForWaitingRequests();
lookOnlyForWaitingRequests();

function aQueue(maxInFlightRequests: number) {
  const RequestQueue: new (options: object) => Queue = createRequire(import.meta.url)(
    'kafkajs/src/network/requestQueue',
  );
  const logger = { debug: () => {}, warn: () => {} };
  const queue = new RequestQueue({
    maxInFlightRequests,
    requestTimeout: 1000,
    broker: 'b',
    clientId: 'c',
    logger,
  });
  const sent: number[] = [];
  const push = (correlationId: number) =>
    queue.push({
      entry: {
        correlationId,
        apiName: 'Fetch',
        apiKey: 1,
        apiVersion: 11,
        resolve: () => {},
        reject: () => {},
      },
      expectResponse: true,
      sendRequest: () => sent.push(correlationId),
    });
  const respond = (correlationId: number) => queue.fulfillRequest({ correlationId, payload: null, size: 0 });
  return { queue, sent, push, respond };
}

it('after a response nothing is looked for', () => {
  const { queue, sent, push, respond } = aQueue(1);
  push(1);
  respond(1);
  expect(sent).toEqual([1]);
  expect(queue.throttleCheckTimeoutId).toBeNull();
});

it('a request that waits for others is sent after them', () => {
  const { sent, push, respond } = aQueue(1);
  push(1);
  push(2);
  expect(sent).toEqual([1]);
  respond(1);
  expect(sent).toEqual([1, 2]);
});

it('a request that a broker wants later is sent then, and nothing is looked for after it', async () => {
  const { queue, sent, push, respond } = aQueue(5);
  push(1);
  queue.maybeThrottle(60);
  respond(1);
  push(2);
  expect(sent).toEqual([1]);
  await sleep(150);
  expect(sent).toEqual([1, 2]);
  respond(2);
  expect(queue.throttleCheckTimeoutId).toBeNull();
});
