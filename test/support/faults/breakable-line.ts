import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ISocketFactory } from 'kafkajs';

/**
 * The network between a Kafka client and its brokers, for kafkajs's `socketFactory`. `cut`: connections close, and new
 * ones are refused. `silent`: new ones are accepted and never get a response. Brokers and other clients are unaffected.
 */
export class BreakableLine {
  #state: 'whole' | 'cut' | 'silent' = 'whole';
  readonly #sockets = new Set<Socket>();
  readonly #silent: Server;
  readonly #refusingPort: number;

  static async open(): Promise<BreakableLine> {
    const [silent, closed] = await Promise.all([listening(), listening()]);
    const { port } = closed.address() as AddressInfo;
    closed.close();
    return new BreakableLine(silent, port);
  }

  private constructor(silent: Server, refusingPort: number) {
    this.#silent = silent;
    this.#refusingPort = refusingPort;
  }

  readonly socketFactory: ISocketFactory = ({ host, port, ssl, onConnect }) => {
    const to = { whole: port, cut: this.#refusingPort, silent: (this.#silent.address() as AddressInfo).port };
    const where = { host: this.#state === 'whole' ? host : '127.0.0.1', port: to[this.#state] };
    const socket = ssl ? connectTls({ ...where, ...ssl }, onConnect) : connect(where, onConnect);
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    return socket;
  };

  set(state: 'whole' | 'cut' | 'silent'): void {
    this.#state = state;
    if (state === 'whole') return;
    // kafkajs ignores `close`: without an error it would wait for its responses.
    for (const socket of this.#sockets) socket.destroy(new Error('the line is broken'));
  }

  close(): void {
    this.set('cut');
    this.#silent.close();
  }
}

async function listening(): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => {}));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
