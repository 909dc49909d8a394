import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  isSilent: boolean;
}

/**
 * The network between a client and a server on this machine, as a port to connect to. `silence`: nothing passes any more and
 * nothing is closed, as when a network was cut. New connections pass unless that is said for them, too.
 */
export class TcpLine {
  readonly port: number;
  #to: number;
  #isSilent = false;
  #delayMs = 0;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  /** Called with what a client sends, before it is passed on. */
  #watch: (bytes: Buffer, pair: Pair) => 'pass' | 'drop' = () => 'pass';

  static async open(to: number): Promise<TcpLine> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TcpLine(server, to);
  }

  private constructor(server: Server, to: number) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    this.#to = to;
    server.on('connection', (client) => this.#join(client));
  }

  /** Leads to another port. Present connections are closed. */
  leadTo(port: number): void {
    this.#to = port;
    this.#closeAll();
  }

  /** Passes everything on so much later, in each direction, as a network does. */
  slow(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /** Swallows everything from now on, in both directions; new connections are accepted and get no answer. */
  silence(): void {
    this.#isSilent = true;
    for (const pair of this.#pairs) pair.isSilent = true;
  }

  /** Lets new connections pass. Those that were silenced stay so. */
  heal(): void {
    this.#isSilent = false;
  }

  /**
   * Silences the connection on which a client sends this text next: its server gets the text (`answer` is lost) or does
   * not (`request` is lost). Resolves when that has happened.
   */
  loseNext(what: 'request' | 'answer', text: string): Promise<void> {
    return new Promise((resolve) => {
      this.#watch = (bytes, pair) => {
        if (!bytes.includes(text)) return 'pass';
        this.#watch = () => 'pass';
        pair.isSilent = true;
        resolve();
        if (what === 'answer') pair.server.write(bytes);
        return 'drop';
      };
    });
  }

  close(): void {
    this.#closeAll();
    this.#server.close();
  }

  #join(client: Socket): void {
    const server = connect(this.#to, '127.0.0.1');
    const pair: Pair = { client, server, isSilent: this.#isSilent };
    this.#pairs.add(pair);
    client.on('data', (bytes) => {
      if (!pair.isSilent && this.#watch(bytes, pair) === 'pass') this.#pass(bytes, server);
    });
    server.on('data', (bytes) => {
      if (!pair.isSilent) this.#pass(bytes, client);
    });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on('error', () => {});
      socket.on('close', () => {
        // An end does not pass either.
        if (pair.isSilent) return;
        other.destroy();
        this.#pairs.delete(pair);
      });
    }
  }

  /** Timers of the same length fire in order, so the bytes stay in order, too. */
  #pass(bytes: Buffer, to: Socket): void {
    if (this.#delayMs === 0) to.write(bytes);
    else setTimeout(() => void (to.destroyed || to.write(bytes)), this.#delayMs);
  }

  #closeAll(): void {
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
    this.#pairs.clear();
  }
}
