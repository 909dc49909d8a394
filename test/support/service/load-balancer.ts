import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** Headers of one connection: each side of the balancer has its own. */
const OF_CONNECTION = new Set(['connection', 'keep-alive']);

/**
 * One address before several apis, as a load balancer offers it: each request goes to the next api in turn, also over one
 * connection of the client. An api that does not accept a connection is passed over; what one answers is passed on as it comes.
 */
export class LoadBalancer {
  readonly apiUrl: string;
  readonly #apiUrls: () => readonly string[];
  readonly #server: Server;
  #next = 0;

  /** `apiUrls`: those of the apis that run now. */
  static async open(apiUrls: () => readonly string[]): Promise<LoadBalancer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new LoadBalancer(server, apiUrls);
  }

  private constructor(server: Server, apiUrls: () => readonly string[]) {
    this.#server = server;
    this.#apiUrls = apiUrls;
    this.apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (asked, answer) => void this.#pass(asked, answer));
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const socket = await this.#connected();
    if (!socket) return void answer.writeHead(502).end('no api accepts a connection');
    const passed = request({
      createConnection: () => socket,
      method: asked.method,
      path: asked.url,
      headers: headersOf(asked),
    });
    passed.once('response', (given) => {
      answer.writeHead(given.statusCode ?? 502, given.statusMessage, headersOf(given));
      // A stream's opening must not wait for its first event.
      answer.flushHeaders();
      given.once('close', () => {
        if (!given.complete) answer.destroy();
      });
      given.pipe(answer);
    });
    passed.on('error', () => {
      if (!answer.headersSent) answer.destroy();
    });
    answer.once('close', () => socket.destroy());
    asked.pipe(passed);
  }

  async #connected(): Promise<Socket | undefined> {
    const urls = this.#apiUrls();
    for (let tries = 0; tries < urls.length; tries += 1) {
      this.#next += 1;
      const { hostname, port } = new URL(urls[this.#next % urls.length] ?? '');
      const socket = connect(Number(port), hostname);
      try {
        await once(socket, 'connect');
        return socket;
      } catch {
        socket.destroy();
      }
    }
    return undefined;
  }
}

/** Returns the names and values of the headers, alternating, as they came. */
function headersOf({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.flatMap((name, index) => {
    if (index % 2 === 1 || OF_CONNECTION.has(name.toLowerCase())) return [];
    return [name, rawHeaders[index + 1] ?? ''];
  });
}
