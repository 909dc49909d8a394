/** Guarantee: what is bound to a response ends with it, also where the client left before anybody listened. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { goneSignal } from '../../services/process/gone.ts';
import { eventually } from '../support/eventually.ts';

let server: Server;
let client: Socket;
afterEach(() => {
  client.destroy();
  server.closeAllConnections();
  server.close();
});

/** Sends this many requests at once on one connection, and returns their responses, which nobody has answered. */
async function responses(count: number): Promise<[ServerResponse, ...ServerResponse[]]> {
  const arrived: ServerResponse[] = [];
  server = createServer((_request, response) => void arrived.push(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {}).resume();
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(count));
  await eventually('the requests have arrived', () => arrived.length === count);
  return arrived as [ServerResponse, ...ServerResponse[]];
}

const closed = (response: ServerResponse) => once(response.req.socket, 'close');

it('fires when the client leaves, and when the response was sent', async () => {
  const [left] = await responses(1);
  const signal = goneSignal(left);
  expect(signal.aborted).toBe(false);
  client.destroy();
  await eventually('the signal fires', () => signal.aborted);
  const [sent] = await responses(1);
  const other = goneSignal(sent);
  sent.end('whole');
  await eventually('the signal fires', () => other.aborted);
});

it('has fired already when the client left before the call', async () => {
  const [response] = await responses(1);
  client.destroy();
  await closed(response);
  await new Promise((resolve) => setImmediate(resolve));
  expect(goneSignal(response).aborted).toBe(true);
});

it('has fired already when the response was sent or destroyed before the call', async () => {
  const [sent] = await responses(1);
  sent.end('whole');
  await once(sent, 'close');
  expect(goneSignal(sent).aborted).toBe(true);
  const [destroyed] = await responses(1);
  destroyed.destroy();
  expect(goneSignal(destroyed).aborted).toBe(true);
});

it('fires for responses that wait behind another one of their connection', async () => {
  const waiting = await responses(3);
  const signals = waiting.map(goneSignal);
  client.destroy();
  await eventually('all signals fire', () => signals.every(({ aborted }) => aborted));
  expect(waiting.map((response) => goneSignal(response).aborted)).toEqual([true, true, true]);
});

it('leaves no listener on a connection that stays', async () => {
  const [response] = await responses(1);
  const { socket } = response.req;
  const before = socket.listeners('close');
  const signal = goneSignal(response);
  const added = socket.listeners('close').filter((listener) => !before.includes(listener));
  expect(added).toHaveLength(1);
  response.end('whole');
  await eventually('the signal fires', () => signal.aborted);
  expect(socket.destroyed).toBe(false);
  expect(socket.listeners('close')).not.toContain(added[0]);
});
