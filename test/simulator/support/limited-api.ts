import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LimitedApi {
  readonly url: string;
  /** Refuses the merchant's requests for so many milliseconds, as the API does at its rate limit. */
  refuseFor(ms: number): void;
  close(): Promise<void>;
}

/** Starts a front of the API whose rate limit is reached when a test says so, rather than for a minute. */
export async function startLimitedApi(apiUrl: string): Promise<LimitedApi> {
  let refusedUntil = 0;
  const server = createServer(async (request, response) => {
    const waitMs = refusedUntil - Date.now();
    if (waitMs > 0 && request.url?.startsWith('/merchant')) {
      const seconds = String(Math.ceil(waitMs / 1000));
      response.writeHead(429, { 'content-type': 'application/problem+json', 'retry-after': seconds });
      response.end(JSON.stringify({ status: 429, code: 'rate_limited', title: 'Too many requests' }));
      return;
    }
    const body = Buffer.concat(await request.toArray());
    const { authorization = '', 'content-type': type = 'application/json' } = request.headers;
    const answer = await fetch(`${apiUrl}${request.url}`, {
      method: request.method ?? 'GET',
      headers: { authorization, ...(body.length > 0 ? { 'content-type': type } : {}) },
      ...(body.length > 0 ? { body } : {}),
    });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
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
