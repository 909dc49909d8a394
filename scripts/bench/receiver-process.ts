/**
 * The receiver of the benchmark, in its own process: HTTPS over node:tls with just enough of HTTP/1.1 to read a request
 * with a Content-Length, and to respond with 200 or 500 without a body, or not at all. A full HTTP server would use much of
 * the CPU under measurement; this one costs a fraction of a delivery.
 */
import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { answer } from './child.ts';
import { wallClock } from './measure.ts';
import type { Arrival, ResetOptions } from './receiver.ts';

const DONE = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
const FAILED = Buffer.from('HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n');
const END_OF_HEADERS = Buffer.from('\r\n\r\n');
/** The upper limit of a request in the benchmark; more unread bytes mean that requests are misread. */
const REQUEST_BYTES_MAX = 256 * 1024;

interface Arrivals {
  total: number;
  readonly deliveries: Set<string>;
  /** The arrivals, if they are recorded. */
  readonly recorded: Arrival[];
  lastAt: number;
}

let arrivals: Arrivals = { total: 0, deliveries: new Set(), recorded: [], lastAt: 0 };
let isRecording = false;
let done = DONE;
let failedAttempts = 0;
/** Endpoints with a lower index get no response. */
let dark = 0;
let target: { readonly distinct: number; readonly reached: (at: number) => void } | null = null;

answer({
  listen: ({ cert, key, count }: { cert: string; key: string; count: number }) =>
    Promise.all(Array.from({ length: count }, () => listen({ cert, key }))),
  reset: (options: ResetOptions) => {
    arrivals = { total: 0, deliveries: new Set(), recorded: [], lastAt: 0 };
    isRecording = options.record;
    failedAttempts = options.failedAttempts ?? 0;
    dark = options.dark ?? 0;
    done = options.response === undefined ? DONE : Buffer.from(options.response, 'latin1');
  },
  count: () => ({ total: arrivals.total, distinct: arrivals.deliveries.size }),
  /** Resolves when this many different deliveries have arrived, with the time of the last. */
  reached: (distinct: number) =>
    new Promise<number>((resolve) => {
      target = { distinct, reached: resolve };
      checkTarget();
    }),
  recorded: () => arrivals.recorded,
});

function listen(certificate: { cert: string; key: string }): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer({ ...certificate, noDelay: true }, receive);
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

function checkTarget(): void {
  if (!target || arrivals.deliveries.size < target.distinct) return;
  target.reached(arrivals.lastAt);
  target = null;
}

function receive(socket: TLSSocket): void {
  let unread: Buffer = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
    let length = requestLength(unread);
    while (length > 0) {
      const headers = unread.toString('latin1', 0, unread.indexOf(END_OF_HEADERS));
      const attempt = arrived(headers);
      if (!isDark(headers)) socket.write(attempt <= failedAttempts ? FAILED : done);
      unread = unread.subarray(length);
      length = requestLength(unread);
    }
    if (unread.length > REQUEST_BYTES_MAX) socket.destroy();
  });
}

/** Returns the length of the first request in the buffer, headers and body; 0 while it is incomplete. */
function requestLength(bytes: Buffer): number {
  const headersEnd = bytes.indexOf(END_OF_HEADERS);
  if (headersEnd < 0) return 0;
  const headers = bytes.toString('latin1', 0, headersEnd);
  const length =
    headersEnd + END_OF_HEADERS.length + Number(/\ncontent-length: *(\d+)/i.exec(headers)?.[1] ?? 0);
  return bytes.length >= length ? length : 0;
}

/** Records a request and returns its attempt number. */
function arrived(headers: string): number {
  arrivals.total += 1;
  arrivals.lastAt = wallClock();
  const deliveryId = header(headers, 'webhook-delivery-id');
  const attempt = Number(header(headers, 'webhook-attempt'));
  arrivals.deliveries.add(deliveryId);
  if (isRecording) {
    arrivals.recorded.push({
      ...{ eventId: header(headers, 'webhook-id'), deliveryId, attempt },
      at: arrivals.lastAt,
    });
  }
  if (target) checkTarget();
  return attempt;
}

/** Returns whether the endpoint is dark, by its index at the end of the path. */
function isDark(headers: string): boolean {
  return dark > 0 && Number(/^POST \S*?(\d+) /.exec(headers)?.[1] ?? dark) < dark;
}

/** Relies on the sender's lower-case header names, which a real receiver must not do. */
function header(headers: string, name: string): string {
  const start = headers.indexOf(`\n${name}: `) + name.length + 3;
  return headers.slice(start, headers.indexOf('\r', start) < 0 ? undefined : headers.indexOf('\r', start));
}
