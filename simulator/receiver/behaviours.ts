import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BEHAVIOURS } from '../../client/receiver-behaviours.ts';

export type Behaviour = (typeof BEHAVIOURS)[number];

/** Much more than a sender may read, but bounded. */
const HUGE_BODY_BYTES = 256 * 1024 * 1024;
const CHUNK = Buffer.alloc(64 * 1024, 'x');
/** The interval between single bytes: every read succeeds soon, but the whole never ends before a total deadline. */
const DRIP_MS = 200;
const DRIP_BYTES = 10_000;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** The response of each behaviour. Endless ones stop when the connection closes. */
export const ANSWERS: Readonly<Record<Behaviour, Answer>> = {
  ok: (_, response) => sendText(response, 200, 'ok\n'),
  '500': (_, response) => sendText(response, 500, 'the receiver was told to fail\n'),
  '410': (_, response) => sendText(response, 410, 'gone\n'),
  // To itself: a sender that follows is noticed at once, and nobody else gets the secret.
  redirect: (_, response) => response.writeHead(302, { location: '/redirected', 'content-length': 0 }).end(),
  hang: () => {},
  reset: (request) => {
    request.socket.destroy();
  },
  'slow-body': (_, response) => {
    response.writeHead(200, { 'content-type': 'text/plain', 'content-length': DRIP_BYTES });
    response.flushHeaders();
    drip(response, Buffer.alloc(DRIP_BYTES, 'x'));
  },
  'huge-body': (_, response) => {
    response.writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-length': HUGE_BODY_BYTES,
    });
    pour(response, HUGE_BODY_BYTES);
  },
  drip: (request) =>
    drip(request.socket, Buffer.from(`HTTP/1.1 200 OK\r\nx-slow: ${'x'.repeat(DRIP_BYTES)}`)),
  garbage: (request) => {
    request.socket.end('\u0000\u0001 this is not HTTP \u0002\r\n\r\n');
  },
  // Its certificate is what is wrong (receiver-certificate.ts): a client that verifies it sends no request.
  'tls-expired': (_, response) => sendText(response, 200, 'ok\n'),
};

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

interface ByteSink {
  write(bytes: Uint8Array): boolean;
  once(event: 'close' | 'drain', listener: () => void): unknown;
}

/** Writes one byte at a time until the bytes or the connection end. */
function drip(sink: ByteSink, bytes: Uint8Array): void {
  let sent = 0;
  const timer = setInterval(() => {
    sink.write(bytes.subarray(sent, sent + 1));
    sent += 1;
    if (sent >= bytes.length) clearInterval(timer);
  }, DRIP_MS);
  sink.once('close', () => clearInterval(timer));
}

/** Writes as fast as the other side reads, without holding more than a chunk in memory. */
function pour(response: ServerResponse, total: number): void {
  let left = total;
  let isOpen = !response.closed;
  response.once('close', () => {
    isOpen = false;
  });
  const more = () => {
    while (isOpen && left > 0) {
      const chunk = CHUNK.subarray(0, Math.min(left, CHUNK.length));
      left -= chunk.length;
      if (!response.write(chunk)) {
        response.once('drain', more);
        return;
      }
    }
    if (isOpen) response.end();
  };
  more();
}
