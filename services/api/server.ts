import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../process/clock.ts';
import { Connections } from '../process/connections.ts';
import { acceptedMax } from '../process/descriptors.ts';
import type { Random } from '../process/random.ts';
import { closeServer } from '../telemetry/operations.ts';
import type { ApiLimits } from './context.ts';
import { ERROR_CODES, type ErrorCode } from './error-codes.ts';
import { ApiError, problemDocument } from './problem.ts';
import { refuseExpectation } from './reading/request-target.ts';

const HEADERS_BYTES_MAX = 16 * 1024;
const KEEP_ALIVE_MS = 65_000;

/** Responses to malformed requests, by Node's error code. */
const CODE_OF_ERROR: Readonly<Record<string, ErrorCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
};

/** Creates an HTTP server that a slow or endless caller cannot occupy for long. */
export function createApiServer(
  app: RequestListener,
  limits: ApiLimits,
  {
    random,
    isShort,
    isProxy,
  }: {
    readonly random: Random;
    readonly isShort: () => boolean;
    readonly isProxy: (address: string) => boolean;
  },
): Server {
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // The interval at which Node checks for late requests.
    connectionsCheckingInterval: Math.max(50, Math.min(1000, limits.headersTimeoutMs / 4)),
    maxHeaderSize: HEADERS_BYTES_MAX,
    // Node would answer by itself, without a problem document: the app does.
    requireHostHeader: false,
  });
  new Connections(server, app, {
    connectionsMax: acceptedMax(limits.connectionsMax),
    isShort,
    isShared: isProxy,
    refuse: (response) => {
      const { headers, body } = problemOf('temporarily_unavailable', random);
      response.writeHead(503, { ...headers, 'Retry-After': '1' }).end(body);
    },
  });
  server.on('checkExpectation', (request, response) => {
    refuseExpectation(request);
    server.emit('request', request, response);
  });
  server.on('connect', (_request, socket) => refuse(socket as Socket, 'malformed_request', random));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    refuse(socket as Socket, CODE_OF_ERROR[error.code ?? ''] ?? 'malformed_request', random);
  });
  return server;
}

/** The interval of checks for connections that have become idle while the server stops. */
const IDLE_CHECK_MS = 100;

/**
 * Stops listening and resolves when every running request has been answered, or when `graceMs` have passed and its
 * connection was cut: a caller that does not read the response must not hold up a shutdown.
 */
export async function drainServer(server: Server, graceMs: number, clock: Clock): Promise<void> {
  const isDrained = new AbortController();
  const closed = closeServer(server).then(() => isDrained.abort());
  const until = clock.now() + graceMs;
  while (!isDrained.signal.aborted) {
    await clock.sleep(IDLE_CHECK_MS, isDrained.signal);
    if (clock.now() >= until) server.closeAllConnections();
    else server.closeIdleConnections();
  }
  await closed;
}

/** Responds below Express, where there is no request object, only a connection. */
function refuse(socket: Socket, code: ErrorCode, random: Random): void {
  if (!socket.writable || socket.destroyed) return;
  const { headers, body } = problemOf(code, random);
  const { status, title } = ERROR_CODES[code];
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [`HTTP/1.1 ${status} ${title}`, ...lines, 'Connection: close'].join('\r\n');
  socket.end(`${head}\r\n\r\n${body}`, () => socket.destroy());
}

/** Returns the response for an error code, where there is no Express response. */
function problemOf(code: ErrorCode, random: Random) {
  const requestId = random.uuid();
  const body = JSON.stringify(problemDocument(new ApiError(code, ''), requestId));
  const headers = {
    'Content-Type': 'application/problem+json',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': requestId,
    'Cache-Control': 'no-store',
  };
  return { headers, body };
}
