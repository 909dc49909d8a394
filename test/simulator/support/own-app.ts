import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { freePort } from '../../../scripts/free-ports.ts';
import { eventually } from '../../support/eventually.ts';

export interface AppRequest {
  readonly method: string;
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** A developer's app: plain HTTP, on a port of its own. */
export interface OwnApp {
  readonly port: number;
  readonly url: string;
  readonly requests: readonly AppRequest[];
  /** How the next requests are answered. */
  answer: (request: AppRequest, response: ServerResponse) => void;
  /** Resolves with the requests once there are so many. */
  received(count: number): Promise<readonly AppRequest[]>;
  close(): Promise<void>;
}

/** Starts an app that answers 200 to everything. */
export async function startOwnApp(port?: number): Promise<OwnApp> {
  const requests: AppRequest[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await request.toArray());
    const { method = '', url = '', rawHeaders } = request;
    const headers = request.headers as Record<string, string>;
    const taken = { method, url, headers, rawHeaders, body };
    requests.push(taken);
    app.answer(taken, response);
  };
  const server = createServer(take);
  const own = port ?? (await freePort());
  await new Promise<void>((resolve) => server.listen(own, '127.0.0.1', resolve));
  const app: OwnApp = {
    port: own,
    url: `http://localhost:${own}/hook`,
    requests,
    answer: (_, response) => response.end('thank you'),
    received: (count) =>
      eventually(`${count} requests at the app`, () => (requests.length >= count ? requests : undefined)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return app;
}
