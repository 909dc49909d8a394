import { type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { CapturedExchange } from '../receiver/https-server.ts';
import type { ForwardTarget } from './forward-target.ts';

/** The app's answer, as far as it is shown. */
export interface AppAnswer {
  readonly kind: 'answered';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the body. */
  readonly body: Buffer;
  /** The size of the whole body. */
  readonly bodyBytes: number;
}

export type ForwardResult =
  | AppAnswer
  /** The app gave no answer; hookrail got 502. */
  | { readonly kind: 'unreachable'; readonly code: string }
  /** hookrail, or whoever sent it, hung up before the app had answered. */
  | { readonly kind: 'given-up' };

/** RFC 9110, 7.6.1: these belong to one connection. Host is the app's own. */
const NOT_FORWARDED = new Set([
  'connection',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const SHOWN_BYTES_MAX = 64 * 1024;

/**
 * Sends a request on to the app, with its method, headers and the bytes of its body, and returns the app's answer to the
 * sender. Never rejects: what went wrong is the result.
 */
export function forward(exchange: CapturedExchange, target: ForwardTarget): Promise<ForwardResult> {
  const { request, response } = exchange;
  return new Promise((resolve) => {
    let isOver = false;
    const done = (result: ForwardResult) => {
      isOver = true;
      resolve(result);
    };
    const outgoing = requestTo(target, exchange, (incoming) => answer(incoming, exchange, done));
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (isOver) return;
      done({ kind: 'unreachable', code: error.code ?? error.message });
      if (response.headersSent) response.destroy();
      else refuse(exchange, 502, `hookrail sim listen: no answer from ${target.url.href} (${error.code})\n`);
    });
    response.once('close', () => {
      if (isOver || response.writableFinished) return;
      done({ kind: 'given-up' });
      outgoing.destroy();
    });
    if (request.socket.destroyed) outgoing.destroy();
  });
}

/** Answers instead of the app. */
export function refuse({ response }: CapturedExchange, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

function requestTo(
  { url, isLocal }: ForwardTarget,
  { request, body }: CapturedExchange,
  onAnswer: (incoming: IncomingMessage) => void,
) {
  const options: RequestOptions & { rejectUnauthorized?: boolean } = {
    method: request.method ?? 'POST',
    headers: forwardedHeaders(request, url, body),
    // A connection of its own: an app that restarts closes those that are kept.
    agent: false,
    ...(isLocal ? { rejectUnauthorized: false } : {}),
  };
  const outgoing = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options, onAnswer);
  outgoing.end(body);
  return outgoing;
}

/** Names and values in turn, as they came: order, case and repeats stay. */
function forwardedHeaders({ rawHeaders, headers }: IncomingMessage, url: URL, body: Buffer): string[] {
  const dropped = droppedNames(headers.connection);
  const flat = ['Host', url.host];
  let hasLength = false;
  for (const [name, value] of pairsOf(rawHeaders)) {
    if (dropped.has(name.toLowerCase())) continue;
    hasLength ||= name.toLowerCase() === 'content-length';
    flat.push(name, value);
  }
  // It came in chunks.
  if (!hasLength && body.length > 0) flat.push('Content-Length', `${body.length}`);
  return [...flat, 'Connection', 'close'];
}

function droppedNames(connection: string | undefined): ReadonlySet<string> {
  const listed = (connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  return new Set([...NOT_FORWARDED, ...listed]);
}

function* pairsOf(rawHeaders: readonly string[]): Generator<readonly [name: string, value: string]> {
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) yield [`${rawHeaders[i]}`, `${rawHeaders[i + 1]}`];
}

/** Passes the app's answer on, and keeps the beginning of its body. */
function answer(
  incoming: IncomingMessage,
  { response }: CapturedExchange,
  done: (result: ForwardResult) => void,
): void {
  const dropped = droppedNames(incoming.headers.connection);
  const passed = [...pairsOf(incoming.rawHeaders)].filter(([name]) => !dropped.has(name.toLowerCase()));
  const status = incoming.statusCode ?? 502;
  const kept: Buffer[] = [];
  let bodyBytes = 0;
  incoming.on('data', (chunk: Buffer) => {
    if (bodyBytes < SHOWN_BYTES_MAX) kept.push(chunk.subarray(0, SHOWN_BYTES_MAX - bodyBytes));
    bodyBytes += chunk.length;
  });
  const told = (): AppAnswer => ({
    kind: 'answered',
    status,
    headers: Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
    ),
    body: Buffer.concat(kept),
    bodyBytes,
  });
  // The result is told before the sender can know it, so that a line never comes after what follows from it.
  incoming.on('end', () => done(told()));
  // The app broke off within its body; so does the answer.
  incoming.on('error', () => {
    done({ kind: 'unreachable', code: 'ECONNRESET' });
    response.destroy();
  });
  response.writeHead(status, passed.flat());
  incoming.pipe(response);
}
