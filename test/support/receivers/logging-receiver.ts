import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** A received request: an entry of the receivers' own log, which the guarantees are checked against. */
export interface Arrival {
  readonly path: string;
  readonly eventId: string;
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly attempt: number;
  readonly authorization: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Milliseconds since the epoch when the request was complete. */
  readonly at: number;
  /** The status of the response. */
  readonly status: number;
}

export interface LoggingReceiver {
  readonly url: string;
  readonly arrivals: Arrival[];
  /** Returns the number of received requests without a response yet. */
  inFlight(): number;
  close(): Promise<void>;
}

/** In place of a status: the request gets no response, or its connection is closed. */
export const NEVER_ANSWERED = 0;
export const CONNECTION_ENDED = -1;

type Answer = (arrival: Omit<Arrival, 'status'>) => number | Promise<number>;

/**
 * Starts an HTTPS receiver that logs every request and responds with the status that `answer` returns. `isEcho`: it also
 * sends the request's headers back, in a header and in the body, as debug pages do.
 */
export function startLoggingReceiver(
  certificate: { readonly certPem: string; readonly keyPem: string },
  answer: Answer,
  isEcho = false,
): Promise<LoggingReceiver> {
  const arrivals: Arrival[] = [];
  let inFlight = 0;
  const server = createServer({ cert: certificate.certPem, key: certificate.keyPem }, (request, response) => {
    inFlight += 1;
    response.once('close', () => {
      inFlight -= 1;
    });
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const header = (name: string) => String(request.headers[name] ?? '');
      const seen = {
        path: request.url ?? '',
        eventId: header('webhook-id'),
        deliveryId: header('webhook-delivery-id'),
        endpointId: header('webhook-endpoint-id'),
        attempt: Number(header('webhook-attempt')),
        authorization: header('authorization'),
        headers: request.headers as Record<string, string>,
        body: Buffer.concat(chunks),
        at: Date.now(),
      };
      const status = await answer(seen);
      arrivals.push({ ...seen, status });
      if (status === CONNECTION_ENDED) response.destroy();
      else if (status !== NEVER_ANSWERED) {
        if (isEcho)
          response.writeHead(status, { 'x-echo': seen.authorization }).end(JSON.stringify(seen.headers));
        else response.writeHead(status).end();
      }
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve({
        url: `https://localhost:${(server.address() as AddressInfo).port}`,
        arrivals,
        inFlight: () => inFlight,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            server.closeAllConnections();
          }),
      });
    });
  });
}
