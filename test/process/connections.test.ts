/** Guarantee: a server survives connections that cannot be accepted, and makes room for those that have waited least. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { Connections } from '../../services/process/connections.ts';
import { eventually } from '../support/eventually.ts';

let server: Server;
let sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  server.closeAllConnections();
  server.close();
});

interface StartOptions {
  readonly isShort: boolean;
  /** The address of many clients. */
  readonly shared: string;
  readonly app: RequestListener;
}

const served: RequestListener = (_request, response) => void response.end('served');

async function start(
  connectionsMax: number,
  { isShort = false, shared = '', app = served }: Partial<StartOptions> = {},
): Promise<number> {
  server = createServer();
  new Connections(server, app, {
    connectionsMax,
    isShort: () => isShort,
    isShared: (address) => address === shared,
    refuse: (response) => void response.writeHead(503).end('no room'),
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Opens a connection; `heard` gives what came back. */
function open(port: number, localAddress: string): Promise<{ socket: Socket; heard: () => string }> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ port, host: '127.0.0.1', localAddress }, () =>
      resolve({ socket, heard: () => text }),
    );
    socket.setEncoding('utf8').on('data', (data) => {
      text += data;
    });
    socket.on('error', () => {});
    sockets.push(socket);
  });
}

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

it('errors of accepting do not end the process', async () => {
  await start(4);
  server.emit('error', new Error('accept EMFILE'));
  server.emit('error', new Error('accept EMFILE'));
});

it('the connection that is idle for longest makes room, fresh ones of the same address do not', async () => {
  const port = await start(2);
  const first = await open(port, '127.0.0.2');
  const second = await open(port, '127.0.0.2');
  const refused = await open(port, '127.0.0.2');
  refused.socket.write(REQUEST);
  await eventually(
    'the first request is answered',
    () => refused.heard().startsWith('HTTP/1.1 503') && refused.socket.closed,
  );
  await new Promise((resolve) => setTimeout(resolve, 600));
  first.socket.write(REQUEST);
  await eventually('the request is served', () => first.heard().includes('served'));
  const third = await open(port, '127.0.0.2');
  third.socket.write(REQUEST);
  await eventually('the request is served', () => third.heard().includes('served'));
  await eventually('the idle connection is closed', () => second.socket.closed);
  expect(first.socket.closed).toBe(false);
});

it('an address that has more connections makes room for another one at once', async () => {
  const port = await start(2);
  const one = await open(port, '127.0.0.2');
  await open(port, '127.0.0.2');
  const other = await open(port, '127.0.0.3');
  other.socket.write(REQUEST);
  await eventually('the request is served', () => other.heard().includes('served'));
  await eventually('the first connection of the crowded address is closed', () => one.socket.closed);
});

it('without file descriptors an idle connection is closed for another one, but not before it can send its request', async () => {
  const port = await start(8, { isShort: true });
  const idle = await open(port, '127.0.0.2');
  await new Promise((resolve) => setTimeout(resolve, 600));
  const clients = await Promise.all(Array.from({ length: 4 }, () => open(port, '127.0.0.2')));
  await eventually('the idle connection is closed', () => idle.socket.closed);
  for (const { socket } of clients) socket.write(REQUEST);
  for (const { socket, heard } of clients) {
    await eventually('the request is served', () => heard().includes('served'));
    await eventually('the connection is closed after its request', () => socket.closed);
  }
});

it('an address of many clients is exempt from the share of one', async () => {
  // An address may have 16 of them.
  const port = await start(64, { shared: '127.0.0.2' });
  const many = await Promise.all(Array.from({ length: 40 }, () => open(port, '127.0.0.2')));
  for (const { socket } of many) socket.write(REQUEST);
  for (const { heard } of many)
    await eventually('the request is served', () => heard().startsWith('HTTP/1.1 200'));
  const others = await Promise.all(Array.from({ length: 17 }, () => open(port, '127.0.0.3')));
  for (const { socket } of others) socket.write(REQUEST);
  for (const { heard } of others) await eventually('there is an answer', () => heard() !== '');
  expect(others.filter(({ heard }) => heard().startsWith('HTTP/1.1 503'))).toHaveLength(1);
});

it('a connection whose last request is served makes no room, although an earlier one was answered', async () => {
  const port = await start(1, {
    app: (request, response) => {
      if (request.url === '/') response.end('served');
    },
  });
  const busy = await open(port, '127.0.0.2');
  busy.socket.write(`${REQUEST}${REQUEST.replace('/ ', '/slow ')}`);
  await eventually('the first request is answered', () => busy.heard().includes('served'));
  await new Promise((resolve) => setTimeout(resolve, 600));
  const other = await open(port, '127.0.0.2');
  other.socket.write(REQUEST);
  await eventually('the other one is refused', () => other.heard().startsWith('HTTP/1.1 503'));
  expect(busy.socket.closed).toBe(false);
});
