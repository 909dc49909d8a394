import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import net from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import {
  type Authority,
  type Certificate,
  createAuthority,
  issueCertificate,
} from '../../../simulator/receiver/certificate-authority.ts';

/** A receiver on a port of 127.0.0.1 whose responses are scripted byte by byte. */
export interface RawReceiver {
  readonly port: number;
  readonly origin: string;
  /** Connections accepted so far, before any TLS. */
  readonly accepted: number;
  /** Connections open now. */
  readonly open: number;
  /** Decrypted bytes received so far. */
  readonly received: string;
  close(): Promise<void>;
}

/** Handles a connection once the whole request has arrived. `request`: its text, head and body. */
export type Answer = (socket: TLSSocket, path: string, request?: string) => void;

const ANY_PORT = { address: '127.0.0.1', port: 0 };

/** Creates one authority and certificate for all receivers of a test file. */
export async function receiverCertificates(): Promise<{
  readonly authority: Authority;
  readonly ca: string;
  readonly certificate: Certificate;
}> {
  const authority = await createAuthority();
  const certificate = await issueCertificate(authority, { hosts: ['localhost', '127.0.0.1'] });
  return { authority, ca: authority.certPem, certificate };
}

/**
 * Starts a TLS receiver; `answer` is called once per request, when the last byte of its body has arrived. `greeting` is
 * written as soon as TLS is established.
 */
export async function startRawReceiver(
  certificate: Certificate,
  answer: Answer,
  { greeting, ...options }: tls.TlsOptions & { readonly greeting?: string } = {},
): Promise<RawReceiver> {
  const state = { accepted: 0, received: '', sockets: new Set<Socket>() };
  const server = tls.createServer(
    { key: certificate.keyPem, cert: certificate.certPem, ...options },
    (socket: TLSSocket) => {
      let request = '';
      socket.on('error', () => {});
      if (greeting) socket.write(greeting);
      socket.on('data', (bytes) => {
        const text = bytes.toString('latin1');
        state.received += text;
        request += text;
        if (!isWhole(request)) return;
        const whole = request;
        request = '';
        answer(socket, whole.split(' ')[1] ?? '', whole);
      });
    },
  );
  // Some tests use a client that rejects this certificate.
  server.on('tlsClientError', () => {});
  return listen(server, state);
}

/** Starts a receiver without TLS; `behave` handles each new TCP connection. */
export async function startTcpReceiver(
  behave: (socket: Socket) => void,
  at = ANY_PORT,
): Promise<RawReceiver> {
  const state = { accepted: 0, received: '', sockets: new Set<Socket>() };
  const server = net.createServer((socket) => behave(socket.on('error', () => {})));
  return listen(server, state, at);
}

async function listen(
  server: Server,
  state: { accepted: number; received: string; readonly sockets: Set<Socket> },
  at = ANY_PORT,
): Promise<RawReceiver> {
  server.on('connection', (socket: Socket) => {
    state.accepted += 1;
    state.sockets.add(socket);
    socket.on('close', () => state.sockets.delete(socket));
    socket.on('error', () => {});
  });
  await once(server.listen(at.port, at.address), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    ...{ port, origin: `https://127.0.0.1:${port}` },
    get accepted() {
      return state.accepted;
    },
    get open() {
      return state.sockets.size;
    },
    get received() {
      return state.received;
    },
    async close() {
      for (const socket of state.sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function isWhole(request: string): boolean {
  const end = request.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = Number(/content-length: (\d+)/i.exec(request)?.[1] ?? 0);
  return request.length >= end + 4 + length;
}

/** Writes `piece(n)` at an interval until the connection closes. */
function drip(socket: TLSSocket, everyMs: number, piece: (n: number) => string): void {
  let n = 0;
  const timer = setInterval(() => socket.write(piece(n++), 'latin1'), everyMs);
  socket.on('close', () => clearInterval(timer));
}

/** Writes as fast as the connection accepts it, up to `bytesMax`. */
function flood(socket: TLSSocket, piece: string | Buffer, bytesMax: number): void {
  let sent = 0;
  const more = () => {
    while (sent < bytesMax && !socket.destroyed) {
      sent += piece.length;
      if (!socket.write(piece)) return void socket.once('drain', more);
    }
  };
  more();
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** Every misbehaviour after a complete request, with its expected failure code; `null` = acknowledged. */
export const MISBEHAVIOURS: readonly {
  readonly name: string;
  readonly code: string | null;
  readonly answer: Answer;
}[] = [
  { name: 'never answers', code: 'response_timeout', answer: () => {} },
  {
    name: 'drips the status line',
    code: 'response_timeout',
    answer: (socket) => drip(socket, 20, (n) => 'HTTP/1.1 200 All is well, wait for it'.charAt(n) || 'x'),
  },
  {
    name: 'drips header lines',
    code: null,
    answer: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      drip(socket, 20, (n) => `X-${n}: y\r\n`);
    },
  },
  {
    name: 'drips body bytes after a 200',
    code: null,
    answer: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n');
      drip(socket, 20, () => 'x');
    },
  },
  {
    name: 'drips body bytes after a 500',
    code: 'http_5xx',
    answer: (socket) => {
      socket.write('HTTP/1.1 500 Oh\r\nContent-Length: 100000\r\n\r\n');
      drip(socket, 20, () => 'x');
    },
  },
  {
    name: 'sends 103 without end',
    code: 'http_1xx',
    answer: (s) => drip(s, 5, () => 'HTTP/1.1 103 Early Hints\r\n\r\n'),
  },
  {
    name: 'sends one 103 and nothing else',
    code: 'http_1xx',
    answer: (socket) => void socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'),
  },
  {
    name: 'sends one 103 and closes',
    code: 'http_1xx',
    answer: (socket) => void socket.end('HTTP/1.1 103 Early Hints\r\n\r\n'),
  },
  {
    name: 'sends a 103, then a 200',
    code: null,
    answer: (s) => void s.write(`HTTP/1.1 103 Early Hints\r\n\r\n${OK}`),
  },
  {
    name: 'sends 100 without end',
    code: 'http_1xx',
    answer: (s) => drip(s, 5, () => 'HTTP/1.1 100 Continue\r\n\r\n'),
  },
  {
    name: 'switches protocols',
    code: 'http_1xx',
    answer: (s) =>
      void s.write('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'),
  },
  {
    name: 'sends a 40 kB header',
    code: null,
    answer: (socket) => void socket.write(`HTTP/1.1 200 OK\r\nX-Big: ${'x'.repeat(40_000)}\r\n\r\n`),
  },
  {
    name: 'sends 5,000 headers',
    code: null,
    answer: (socket) => void socket.write(`HTTP/1.1 200 OK\r\n${'a:b\r\n'.repeat(5000)}\r\n`),
  },
  {
    name: 'sends a 130 MB body',
    code: null,
    answer: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 136314880\r\n\r\n');
      flood(socket, Buffer.alloc(65_536, 120), 136_314_880);
    },
  },
  {
    name: 'promises a longer body than it sends',
    code: null,
    answer: (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort'),
  },
  {
    name: 'sends a length and chunks',
    code: null,
    answer: (s) =>
      void s.write(
        'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
      ),
  },
  {
    name: 'does not speak HTTP',
    code: 'protocol_error',
    answer: (s) => void s.write('220 mail.example ESMTP\r\n'),
  },
  { name: 'sends two responses', code: null, answer: (s) => void s.write(OK + OK) },
  {
    name: 'sends a gzip bomb',
    code: null,
    answer: (socket) => {
      const bomb = gzipSync(Buffer.alloc(20_000_000));
      socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    },
  },
  { name: 'closes at once', code: 'connection_reset', answer: (socket) => void socket.end() },
  { name: 'resets', code: 'connection_reset', answer: (socket) => void socket.destroy() },
  {
    name: 'closes in the middle of the headers',
    code: null,
    answer: (s) => void s.end('HTTP/1.1 200 OK\r\nX-'),
  },
  {
    name: 'answers 204',
    code: null,
    answer: (socket) => void socket.write('HTTP/1.1 204 No Content\r\n\r\n'),
  },
  {
    name: 'answers in HTTP/1.0 and closes',
    code: null,
    answer: (socket) => void socket.end('HTTP/1.0 200 OK\r\n\r\nok'),
  },
  {
    name: 'redirects',
    code: 'http_3xx',
    answer: (s) =>
      void s.write('HTTP/1.1 307 Go\r\nLocation: https://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n'),
  },
  {
    name: 'refuses',
    code: 'http_4xx',
    answer: (s) => void s.write('HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n'),
  },
  {
    name: 'is gone',
    code: 'endpoint_gone',
    answer: (s) => void s.write('HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n'),
  },
  {
    name: 'fails',
    code: 'http_5xx',
    answer: (s) => void s.write('HTTP/1.1 503 Oh\r\nContent-Length: 0\r\n\r\n'),
  },
  {
    name: 'invents a status',
    code: 'protocol_error',
    answer: (s) => void s.write('HTTP/1.1 799 Huh\r\nContent-Length: 0\r\n\r\n'),
  },
];
