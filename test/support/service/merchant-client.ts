import type { Service, ServiceSetup } from './system.ts';

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read the fields they expect and fail when they are missing.
  readonly body: any;
  readonly headers: Headers;
}

/** The REST requests of a merchant and a producer, for tests. */
export class MerchantClient {
  readonly #setup: ServiceSetup;
  readonly #service: () => Pick<Service, 'apiUrl'>;

  constructor(setup: ServiceSetup, service: () => Pick<Service, 'apiUrl'>) {
    this.#setup = setup;
    this.#service = service;
  }

  request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    return this.#send(this.#setup.apiKey, method, path, body, headers);
  }

  /** Posts events (JSON form) and resolves with the response; rejects when the connection breaks. */
  publish(events: readonly unknown[]): Promise<Answer> {
    return this.#send(this.#setup.producerKey, 'POST', '/producer/events', events, {});
  }

  async createEndpoint(
    url: string,
    extra: object = {},
  ): Promise<{ uuid: string; url: string; signing_secret: string }> {
    const answer = await this.request('POST', '/merchant/webhook-endpoints', {
      url,
      description: 'test',
      ...extra,
    });
    if (answer.status !== 201)
      throw new Error(`creating an endpoint returned ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async #send(key: string, method: string, path: string, body: unknown, headers: Record<string, string>) {
    const response = await fetch(this.#service().apiUrl + path, {
      method,
      headers: {
        authorization: `API-Key ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      body: text === '' ? null : JSON.parse(text),
      headers: response.headers,
    };
  }
}
