import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LimitedApi {
  readonly url: string;
  /** The merchant's requests so far, in the order in which they came: `GET /merchant/stream`. */
  readonly requests: readonly string[];
  /** Refuses the merchant's requests for so many milliseconds, as the API does at its rate limit. */
  refuseFor(ms: number): void;
  /** Breaks every connection. */
  cut(): void;
  /** Breaks the connection of the next requests that begin with this, such as `POST /producer/events`, after the API has answered. */
  cutNext(request: string, times?: number): void;
  close(): Promise<void>;
}

/** Starts a front of the API whose rate limit is reached when a test says so, rather than for a minute. */
export async function startLimitedApi(apiUrl: string): Promise<LimitedApi> {
  let refusedUntil = 0;
  const doomed: string[] = [];
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    if (request.url?.startsWith('/merchant')) requests.push(`${request.method} ${request.url}`);
    const waitMs = refusedUntil - Date.now();
    if (waitMs > 0 && request.url?.startsWith('/merchant')) {
      const seconds = String(Math.ceil(waitMs / 1000));
      response.writeHead(429, { 'content-type': 'application/problem+json', 'retry-after': seconds });
      response.end(JSON.stringify({ status: 429, code: 'rate_limited', title: 'Too many requests' }));
      return;
    }
    const body = Buffer.concat(await request.toArray());
    const { authorization = '', 'content-type': type = 'application/json' } = request.headers;
    const lastId = request.headers['last-event-id'];
    // A stream ends when its reader leaves.
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const answer = await fetch(`${apiUrl}${request.url}`, {
      method: request.method ?? 'GET',
      signal: gone.signal,
      headers: {
        authorization,
        ...(lastId === undefined ? {} : { 'last-event-id': String(lastId) }),
        ...(body.length > 0 ? { 'content-type': type } : {}),
      },
      ...(body.length > 0 ? { body } : {}),
    }).catch(() => undefined);
    // The reader has left.
    if (answer === undefined) return void request.socket.destroy();
    const place = doomed.findIndex((start) => `${request.method} ${request.url}`.startsWith(start));
    if (place !== -1) {
      doomed.splice(place, 1);
      request.socket.destroy();
      return;
    }
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
    try {
      for await (const chunk of answer.body ?? []) response.write(chunk);
    } catch {
      // The reader has left, or the API has stopped.
    }
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    cutNext: (start, times = 1) => doomed.push(...Array<string>(times).fill(start)),
    cut: () => server.closeAllConnections(),
    refuseFor: (ms) => {
      refusedUntil = Date.now() + ms;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
