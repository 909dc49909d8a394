/** A model of a merchant's endpoints, without a store: predicts their state after each request, for the model test. */
import { expect } from 'vitest';
import type { Answer, MerchantClient } from '../service/merchant-client.ts';
import type { EndpointAnswer, Expected, Json, Sent, Wish } from './management-wishes.ts';

const ENDPOINTS = '/merchant/webhook-endpoints';
export const QUOTA = 4;

export class ModelMerchant {
  readonly name: string;
  readonly client: MerchantClient;
  /** Newest first, as the API lists them. */
  living: EndpointAnswer[] = [];
  readonly dead: string[] = [];
  single: EndpointAnswer | null = null;

  constructor(name: string, client: MerchantClient) {
    this.name = name;
    this.client = client;
  }

  /** Deletes all endpoints, so that the next run starts empty. */
  async clear(): Promise<void> {
    for (const { uuid } of await this.#list()) await this.client.request('DELETE', `${ENDPOINTS}/${uuid}`);
    await this.client.request('PATCH', '/merchant', { webhook_url: null });
    this.living = [];
    this.single = null;
  }

  /** Returns the request for a wish, with the result that the model predicts. */
  sent(wish: Wish): Sent {
    switch (wish.kind) {
      case 'create':
        return { ...this.#post(wish.json), expected: this.#create(wish.json) };
      case 'patch': {
        const uuid = this.#uuidOf(wish.target);
        return {
          method: 'PATCH',
          path: `${ENDPOINTS}/${uuid}`,
          json: wish.json,
          headers: {},
          expected: this.#patch(uuid, wish.json),
        };
      }
      case 'prepare': {
        const uuid = this.#uuidOf(wish.target);
        const headers = { 'idempotency-key': crypto.randomUUID() };
        return { method: 'POST', path: preparePath(uuid), headers, expected: this.#prepare(uuid) };
      }
      case 'discard': {
        const uuid = this.#uuidOf(wish.target);
        return { method: 'DELETE', path: preparePath(uuid), headers: {}, expected: this.#discard(uuid) };
      }
      case 'rotate': {
        const uuid = this.#uuidOf(wish.target);
        const headers = { 'idempotency-key': crypto.randomUUID() };
        return {
          method: 'PATCH',
          path: `${ENDPOINTS}/${uuid}/secret`,
          headers,
          expected: this.#rotate(uuid),
        };
      }
      case 'delete': {
        const uuid = this.#uuidOf(wish.target);
        return { method: 'DELETE', path: `${ENDPOINTS}/${uuid}`, headers: {}, expected: this.#delete(uuid) };
      }
      case 'single':
        return {
          method: 'PATCH',
          path: '/merchant',
          json: wish.json,
          headers: {},
          expected: this.#setSingle(wish.json),
        };
    }
  }

  send({ method, path, json, headers }: Sent): Promise<Answer> {
    return this.client.request(method, path, json, headers);
  }

  /** Expects the response that the model predicts, and applies a success to the model. */
  accept(sent: Sent, answer: Answer): void {
    const { status, code, apply } = sent.expected;
    expect([sent.method, sent.path, answer.status, answer.body?.code]).toEqual([
      sent.method,
      sent.path,
      status,
      code,
    ]);
    apply?.(answer.body);
  }

  /** Expects that list and single reads equal the model, and that `other` can read none of its endpoints. */
  async agrees(other: ModelMerchant): Promise<void> {
    expect(await this.#list()).toEqual(this.living);
    const { webhook_endpoint } = (await this.client.request('GET', '/merchant')).body;
    expect(webhook_endpoint).toEqual(this.single);
    for (const record of this.living) {
      const path = `${ENDPOINTS}/${record.uuid}`;
      expect((await this.client.request('GET', path)).body).toEqual(record);
      expect((await other.client.request('GET', path)).status).toBe(404);
    }
    for (const uuid of this.dead.slice(-3)) {
      expect((await this.client.request('GET', `${ENDPOINTS}/${uuid}`)).status).toBe(404);
    }
  }

  /** Returns the service's current state, without checking it. */
  async state(): Promise<string> {
    const { webhook_endpoint } = (await this.client.request('GET', '/merchant')).body;
    return JSON.stringify([await this.#list(), webhook_endpoint]);
  }

  get modelState(): string {
    return JSON.stringify([this.living, this.single]);
  }

  async #list(): Promise<EndpointAnswer[]> {
    const found: EndpointAnswer[] = [];
    let cursor = '';
    do {
      const { status, body } = await this.client.request(
        'GET',
        `${ENDPOINTS}?limit=2${cursor && `&cursor=${cursor}`}`,
      );
      expect(status).toBe(200);
      found.push(...body.data);
      cursor = body.next_cursor ?? '';
    } while (cursor !== '');
    return found;
  }

  /** Returns the uuid of an existing endpoint, or sometimes of a deleted one. */
  #uuidOf(target: number): string {
    const all = [...this.living.map(({ uuid }) => String(uuid)), ...this.dead.slice(-1)];
    return all[target % Math.max(1, all.length)] ?? '00000000-0000-4000-8000-000000000000';
  }

  #post(json: Json) {
    return { method: 'POST', path: ENDPOINTS, json, headers: { 'idempotency-key': crypto.randomUUID() } };
  }

  #create(json: Json): Expected {
    if (this.#isTaken(json.url)) return { status: 409, code: 'url_already_registered' };
    if (this.living.length >= QUOTA) return { status: 409, code: 'endpoint_quota_exceeded' };
    return {
      status: 201,
      apply: ({ signing_secret: secret, ...record }) => {
        expect(record).toEqual({
          uuid: expect.any(String),
          subscribed_events: null,
          api_version: '2.3.8',
          public_key_signature: false,
          ...{ kind: 'events', format: null, headers: [], requests_per_second: null },
          ...json,
          status: 'active',
          environment: 'sandbox',
          created_at: expect.any(String),
          updated_at: record.created_at,
          secret_hint: hintOf(secret),
          secret_rotated_at: null,
          prepared_secret_hint: null,
          secret_prepared_at: null,
          newest_check: null,
          disabled_at: null,
          disabled_reason: null,
          failure_count: 0,
          last_success_at: null,
          last_failure_at: null,
          last_failure: null,
        });
        this.living = [record, ...this.living].sort((a, b) =>
          `${a.created_at}/${a.uuid}` < `${b.created_at}/${b.uuid}` ? 1 : -1,
        );
      },
    };
  }

  #patch(uuid: string, json: Json): Expected {
    const before = this.#living(uuid);
    if (!before) return { status: 404, code: 'webhook_endpoint_not_found' };
    if (this.#isTaken(json.url, uuid)) return { status: 409, code: 'url_already_registered' };
    return {
      status: 200,
      apply: ({ hint, ...record }, isRepeat = false) => {
        const after = { ...before, ...json };
        const disabledNow = isRepeat ? expect.any(String) : record.updated_at;
        expect(record).toEqual({
          ...after,
          updated_at: expect.any(String),
          disabled_at: after.status === 'active' ? null : (before.disabled_at ?? disabledNow),
          disabled_reason: after.status === 'active' ? null : 'manual',
        });
        // Only the request that enables an endpoint gets a hint. A repeat changes nothing.
        const isEnabled = before.status !== 'active' && after.status === 'active' && !isRepeat;
        expect(hint !== undefined).toBe(isEnabled);
        expect(record.updated_at >= before.updated_at).toBe(true);
        Object.assign(before, record);
      },
    };
  }

  #rotate(uuid: string): Expected {
    const before = this.#living(uuid);
    if (!before) return { status: 404, code: 'webhook_endpoint_not_found' };
    return {
      status: 200,
      apply: (body) => {
        expect(body.uuid).toBe(uuid);
        expect(body.secret_hint).toBe(hintOf(body.signing_secret));
        const { secret_hint, secret_rotated_at } = body;
        // A prepared secret is the one that a rotation puts in force.
        expect([null, secret_hint]).toContain(before.prepared_secret_hint);
        Object.assign(before, {
          ...{ secret_hint, secret_rotated_at, updated_at: secret_rotated_at },
          ...NOT_PREPARED,
        });
      },
    };
  }

  #prepare(uuid: string): Expected {
    const before = this.#living(uuid);
    if (!before) return { status: 404, code: 'webhook_endpoint_not_found' };
    return {
      status: 200,
      apply: ({ signing_secret, ...body }) => {
        const { secret_prepared_at } = body;
        expect(body).toEqual({ uuid, prepared_secret_hint: hintOf(signing_secret), secret_prepared_at });
        Object.assign(before, body);
      },
    };
  }

  #discard(uuid: string): Expected {
    const before = this.#living(uuid);
    if (!before) return { status: 404, code: 'webhook_endpoint_not_found' };
    return { status: 204, apply: () => void Object.assign(before, NOT_PREPARED) };
  }

  #delete(uuid: string): Expected {
    const before = this.#living(uuid);
    if (!before) return { status: 404, code: 'webhook_endpoint_not_found' };
    return {
      status: 204,
      apply: () => {
        this.living = this.living.filter((each) => each !== before);
        this.dead.push(uuid);
      },
    };
  }

  #setSingle(json: Json): Expected {
    const { webhook_url: url, webhook_secret: secret } = json;
    const isRemoved = url === null || secret === null;
    if (!isRemoved && !this.single && (url === undefined || secret === undefined)) {
      return { status: 422, code: 'legacy_webhook_incomplete' };
    }
    if (!isRemoved && this.living.some((each) => each.url === url)) {
      return { status: 409, code: 'url_already_registered' };
    }
    return {
      status: 200,
      apply: (body) => {
        const record: EndpointAnswer | null = body.webhook_endpoint;
        expect(record === null).toBe(isRemoved);
        if (record) {
          expect(record).toMatchObject({ status: 'active', legacy: true, api_version: '2.2.8' });
          expect(record.url).toBe(url ?? this.single?.url);
          expect(record.secret_hint).toBe(
            secret === undefined ? this.single?.secret_hint : hintOf(String(secret)),
          );
        }
        this.single = record;
      },
    };
  }

  /** Whether another endpoint than this one has the URL, the single one included. */
  #isTaken(url: unknown, uuid?: string): boolean {
    const all = this.single === null ? this.living : [...this.living, this.single];
    return all.some((each) => each.uuid !== uuid && each.url === url);
  }

  #living(uuid: string): EndpointAnswer | undefined {
    return this.living.find((each) => each.uuid === uuid);
  }
}

const NOT_PREPARED = { prepared_secret_hint: null, secret_prepared_at: null };

const preparePath = (uuid: string) => `${ENDPOINTS}/${uuid}/secret/prepare`;

/** The last four characters, of which 16 others must be left. */
function hintOf(secret: string): string {
  const unpadded = secret.replace(/=+$/, '');
  return `…${unpadded.slice(16).slice(-4)}`;
}
