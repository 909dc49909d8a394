import type { ApiClient } from './api-client.ts';

/** The answers of the merchant API, as far as the simulator reads them (openapi.yaml has the whole). */
export interface EndpointAnswer {
  readonly uuid: string;
  readonly url: string;
  readonly description: string;
  readonly subscribed_events: readonly string[] | null;
  readonly status: string;
  readonly api_version: string;
  readonly secret_hint: string;
  readonly disabled_reason: string | null;
  readonly failure_count: number;
  readonly signing_secret?: string;
  readonly hint?: string;
}

/** `failed`: retries are left. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'exhausted', 'cancelled'] as const;

export interface DeliveryAnswer {
  readonly delivery_uuid: string;
  readonly event_uuid: string;
  readonly endpoint_uuid: string;
  readonly type: string;
  readonly subType: string;
  readonly trigger: string;
  readonly status: string;
  readonly cancel_reason: string | null;
  readonly attempts_made: number;
  readonly attempts_max: number;
  readonly created_at: string;
  readonly next_attempt_at: string | null;
  readonly last_response_status: number | null;
  readonly last_failure_code: string | null;
}

export interface AttemptAnswer {
  readonly number: number;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly response_status: number | null;
  readonly failure_code: string | null;
  readonly failure_detail: string | null;
  readonly next_attempt_at: string | null;
}

export interface DeliveryDetailAnswer extends DeliveryAnswer {
  readonly body: string | null;
  readonly attempts: readonly AttemptAnswer[];
}

export interface EventAnswer {
  readonly event_uuid: string;
  readonly type: string;
  readonly subType: string;
  readonly entity_uuid: string;
  readonly entity_kind: string;
  readonly occurred_at: string;
  readonly routed_at: string;
  readonly simulated: boolean;
  readonly body: string | null;
  readonly endpoints: readonly {
    readonly endpoint_uuid: string;
    readonly verdict: string;
    readonly delivery_uuid: string | null;
    readonly api_version: string | null;
  }[];
}

export interface RotatedAnswer {
  readonly uuid: string;
  readonly signing_secret: string;
  readonly secret_hint: string;
  readonly secret_rotated_at: string;
}

export interface TestAnswer {
  readonly delivery_uuid: string;
  readonly event_uuid: string;
  readonly status: string;
  readonly response_status?: number | null;
  readonly duration_ms?: number | null;
  readonly failure_code?: string | null;
  readonly warnings: readonly { readonly code: string; readonly detail: string }[];
}

interface Page<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

const ENDPOINTS = '/merchant/webhook-endpoints';
const PAGE_ITEMS_MAX = 100;

export interface NewEndpointRequest {
  readonly url: string;
  readonly description: string;
  readonly subscribed_events?: readonly string[];
  readonly api_version?: string;
}

export interface DeliveryFilter {
  readonly status?: string | undefined;
  readonly type?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** At most so many, over all pages. */
  readonly limit: number;
}

/** The operations of the merchant API by name. Failures are ApiClient's. */
export class MerchantApi {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  async createEndpoint(endpoint: NewEndpointRequest): Promise<EndpointAnswer> {
    return (await this.#client.call<EndpointAnswer>('POST', ENDPOINTS, { body: endpoint })).body;
  }

  /** All endpoints, newest first. */
  endpoints(status?: string): Promise<readonly EndpointAnswer[]> {
    return this.#all<EndpointAnswer>(ENDPOINTS, { status }, Number.POSITIVE_INFINITY);
  }

  async endpoint(uuid: string): Promise<EndpointAnswer> {
    return (await this.#client.call<EndpointAnswer>('GET', pathOf(uuid))).body;
  }

  async updateEndpoint(uuid: string, change: object): Promise<EndpointAnswer> {
    return (await this.#client.call<EndpointAnswer>('PATCH', pathOf(uuid), { body: change })).body;
  }

  async rotateSecret(uuid: string): Promise<RotatedAnswer> {
    return (await this.#client.call<RotatedAnswer>('PATCH', `${pathOf(uuid)}/secret`)).body;
  }

  async deleteEndpoint(uuid: string): Promise<void> {
    await this.#client.call('DELETE', pathOf(uuid));
  }

  /** Sends a test webhook; with `waitSeconds`, answers with the result when it comes in that time. */
  async testEndpoint(uuid: string, test: object, waitSeconds: number): Promise<TestAnswer> {
    const headers: Record<string, string> = waitSeconds > 0 ? { prefer: `wait=${waitSeconds}` } : {};
    const timeoutMs = (waitSeconds + 15) * 1000;
    const request = { body: test, headers, timeoutMs };
    return (await this.#client.call<TestAnswer>('POST', `${pathOf(uuid)}/test`, request)).body;
  }

  deliveries(endpointId: string, filter: DeliveryFilter): Promise<readonly DeliveryAnswer[]> {
    const { limit, ...query } = filter;
    return this.#all<DeliveryAnswer>(`${pathOf(endpointId)}/deliveries`, query, limit);
  }

  async delivery(endpointId: string, deliveryId: string): Promise<DeliveryDetailAnswer> {
    const path = `${pathOf(endpointId)}/deliveries/${encodeURIComponent(deliveryId)}`;
    return (await this.#client.call<DeliveryDetailAnswer>('GET', path)).body;
  }

  async event(eventId: string): Promise<EventAnswer> {
    const path = `/merchant/events/${encodeURIComponent(eventId)}`;
    return (await this.#client.call<EventAnswer>('GET', path)).body;
  }

  async #all<Item>(
    path: string,
    query: Readonly<Record<string, string | undefined>>,
    max: number,
  ): Promise<readonly Item[]> {
    const items: Item[] = [];
    let cursor: string | undefined;
    do {
      const limit = Math.min(PAGE_ITEMS_MAX, max - items.length);
      const page = (await this.#client.call<Page<Item>>('GET', path, { query: { ...query, limit, cursor } }))
        .body;
      items.push(...page.data);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined && items.length < max);
    return items;
  }
}

function pathOf(uuid: string): string {
  return `${ENDPOINTS}/${encodeURIComponent(uuid)}`;
}
