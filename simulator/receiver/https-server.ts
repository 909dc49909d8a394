import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, isIP } from 'node:net';
import { CommandFailure, EXIT } from '../exit.ts';
import type { Certificate } from './certificate-authority.ts';

/** One request whose body is complete. */
export interface CapturedExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Milliseconds since the epoch, when the whole body was there. */
  readonly at: number;
}

export interface HttpsServerOptions {
  /** 0 = any free port. */
  readonly port: number;
  /** Address to listen on. Default 127.0.0.1: only this machine. */
  readonly host?: string | undefined;
  readonly cert: string;
  readonly key: string;
  readonly onRequest: (exchange: CapturedExchange) => void;
}

/** A server on the developer's machine that takes webhooks. */
export interface HttpsServer {
  readonly url: string;
  readonly port: number;
  /** Uses another certificate for the connections that follow. */
  setCertificate(certificate: Certificate): void;
  /** Cuts every connection; complete when it resolves. */
  close(): Promise<void>;
}

const BODY_BYTES_MAX = 1024 * 1024;

/**
 * Starts an HTTPS server that reads each request's body before it hands it on. Rejects with the system's error when it
 * cannot listen (EADDRINUSE and the like).
 */
export async function startHttpsServer(options: HttpsServerOptions): Promise<HttpsServer> {
  const { cert, key, port: wanted, host = '127.0.0.1', onRequest } = options;
  const server = createServer({ cert, key, minVersion: 'TLSv1.2' });
  server.on('request', (request, response) => capture(request, response, onRequest));
  // A client that hangs up or does not speak TLS is not a fault of the receiver, which continues.
  server.on('tlsClientError', () => {});
  server.on('clientError', (_, socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(wanted, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://${shownHost(host)}:${port}/`,
    port,
    setCertificate: ({ certPem, keyPem }) => server.setSecureContext({ cert: certPem, key: keyPem }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Turns the system's refusal to listen into a failure that says what to do. */
export async function orCannotListen<T>(listening: Promise<T>, host: string, port: number): Promise<T> {
  return listening.catch((error: unknown) => {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    const next = code === 'EADDRINUSE' ? ['another program uses the port; --port 0 chooses a free one'] : [];
    throw new CommandFailure(EXIT.usage, `cannot listen on ${host}:${port} (${code})`, next);
  });
}

function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return isIP(host) === 6 ? `[${host}]` : host;
}

function capture(
  request: IncomingMessage,
  response: ServerResponse,
  onRequest: HttpsServerOptions['onRequest'],
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  // Without listeners a broken connection would end the process.
  request.on('error', () => {});
  response.on('error', () => {});
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= BODY_BYTES_MAX) chunks.push(chunk);
  });
  request.on('end', () => {
    if (size > BODY_BYTES_MAX) {
      response.writeHead(413).end();
      return;
    }
    const headers = joined(request.headers);
    onRequest({ request, response, headers, body: Buffer.concat(chunks), at: Date.now() });
  });
}

function joined(headers: IncomingMessage['headers']): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) texts[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return texts;
}
