import type { Clock } from '../../process/clock.ts';

const TRIES = 4;
const AGAIN_MS = 150;

export interface SharedConnectionOptions<T> {
  readonly clock: Clock;
  readonly connect: () => Promise<T>;
  readonly disconnect: (connection: T) => Promise<void>;
}

/** A connection that is opened on first use, shared by all requests, and replaced after a failure. */
export class SharedConnection<T> {
  readonly #options: SharedConnectionOptions<T>;
  #connection: Promise<T> | null = null;
  /** The number of requests in progress, by connection. */
  readonly #underWay = new Map<Promise<T>, number>();
  #isClosed = false;

  constructor(options: SharedConnectionOptions<T>) {
    this.#options = options;
  }

  /** Sends a request, with a few retries: leaders move, and new topics have none. Rejects when all tries failed. */
  async ask<Answer>(question: (connection: T) => Promise<Answer>): Promise<Answer> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#askOnce(question);
      } catch (error) {
        if (tries === TRIES || this.#isClosed) throw error;
        await this.#options.clock.sleep(AGAIN_MS * tries);
      }
    }
  }

  /** Sends further requests over a new connection. Requests in progress keep waiting. */
  renew(): void {
    const given = this.#connection;
    this.#connection = null;
    if (given && !this.#underWay.has(given)) void this.#release(given);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const connections = new Set([...this.#underWay.keys(), ...(this.#connection ? [this.#connection] : [])]);
    await Promise.all([...connections].map((connection) => this.#release(connection)));
  }

  async #askOnce<Answer>(question: (connection: T) => Promise<Answer>): Promise<Answer> {
    if (this.#isClosed) throw new Error('the broker is closed');
    this.#connection ??= this.#options.connect();
    const asked = this.#connection;
    this.#underWay.set(asked, (this.#underWay.get(asked) ?? 0) + 1);
    try {
      return await question(await asked);
    } catch (error) {
      if (this.#connection === asked) this.#connection = null;
      throw error;
    } finally {
      this.#answered(asked);
    }
  }

  /** Closes a connection that was given up once no request waits for a response on it. */
  #answered(asked: Promise<T>): void {
    const left = (this.#underWay.get(asked) ?? 1) - 1;
    if (left > 0) {
      this.#underWay.set(asked, left);
      return;
    }
    this.#underWay.delete(asked);
    if (this.#connection !== asked) void this.#release(asked);
  }

  /** Never rejects. */
  async #release(connection: Promise<T>): Promise<void> {
    await connection.then((open) => this.#options.disconnect(open)).catch(() => {});
  }
}
