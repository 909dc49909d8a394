/** A merchant that changes endpoints without a pause, and knows which changes were acknowledged. */
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { eventually } from '../eventually.ts';
import type { Answer, MerchantClient } from '../service/merchant-client.ts';

const ENDPOINTS = '/merchant/webhook-endpoints';
/** A type of which these trials have no events. */
const UNUSED_TYPE = 'KYB';
const IN_PROGRESS = 'idempotency_key_in_progress';
const ACKNOWLEDGED_MS_MAX = 180_000;
const CHANGES_OF_EACH = 3;
/** Every endpoint of this many is deleted in the end. */
const DELETED_EVERY = 3;

interface Managed {
  readonly id: string;
  /** Null: it was deleted. */
  description: string | null;
}

export class ManagementWriter {
  readonly #merchant: MerchantClient;
  readonly #managed: Managed[] = [];
  #isOver = false;
  #running: Promise<void> = Promise.resolve();
  #acknowledged = 0;
  #failure: unknown;
  /** Requests that failed, or had to be sent again. */
  refused = 0;

  constructor(merchant: MerchantClient) {
    this.#merchant = merchant;
  }

  /** Changes that were acknowledged. Throws once a request was refused for good. */
  get acknowledged(): number {
    if (this.#failure !== undefined) throw this.#failure;
    return this.#acknowledged;
  }

  start(): void {
    this.#running = this.#run();
    // `stop` rejects with it, too.
    this.#running.catch((failure: unknown) => {
      this.#failure = failure;
    });
  }

  /** Resolves when the change under way was acknowledged. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  /** Expects every endpoint to be as it was acknowledged. */
  async expectKept(): Promise<void> {
    const wrong: string[] = [];
    for (const { id, description } of this.#managed) {
      const answer = await this.#untilAnswered('GET', `${ENDPOINTS}/${id}`, undefined, [200, 404]);
      const found = answer.status === 200 ? answer.body.description : null;
      if (found !== description) wrong.push(`${id}: ${found}, acknowledged was ${description}`);
    }
    expect(wrong).toEqual([]);
  }

  async #run(): Promise<void> {
    for (let number = 0; !this.#isOver; number += 1) {
      const endpoint = {
        url: `https://127.0.0.1:8443/managed/${number}`,
        description: '0',
        subscribed_events: [UNUSED_TYPE],
      };
      const created = await this.#untilAnswered('POST', ENDPOINTS, endpoint, [201]);
      const managed: Managed = { id: created.body.uuid, description: '0' };
      this.#managed.push(managed);
      const path = `${ENDPOINTS}/${managed.id}`;
      for (let change = 1; change <= CHANGES_OF_EACH; change += 1) {
        await this.#untilAnswered('PATCH', path, { description: `${change}` }, [200]);
        managed.description = `${change}`;
      }
      if (number % DELETED_EVERY !== 0) continue;
      // 404: an earlier try, whose answer did not come, has deleted it.
      await this.#untilAnswered('DELETE', path, undefined, [204, 404]);
      managed.description = null;
    }
  }

  /** Sends the request again, with the same Idempotency-Key, until it gets one of these answers. */
  async #untilAnswered(method: string, path: string, body: unknown, statuses: readonly number[]) {
    const headers = method === 'POST' ? { 'idempotency-key': randomUUID() } : {};
    const answer = await eventually(
      `${method} ${path} is acknowledged`,
      async (): Promise<Answer | null> => {
        const given = await this.#merchant.request(method, path, body, headers).catch(() => null);
        if (given && statuses.includes(given.status)) return given;
        // A request that is under way, or whose answer did not come in time, ends with another try.
        if (given && given.status < 500 && given.body.code !== IN_PROGRESS)
          throw new Error(`${method} ${path} returned ${given.status} ${JSON.stringify(given.body)}`);
        this.refused += 1;
        return null;
      },
      ACKNOWLEDGED_MS_MAX,
    );
    if (method !== 'GET') this.#acknowledged += 1;
    return answer;
  }
}
