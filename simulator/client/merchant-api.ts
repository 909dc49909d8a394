import type { components, operations } from '../../client/generated/merchant-api.ts';
import type { StreamNews, StreamOptions } from '../../client/merchant-stream.ts';
import type { ServiceClock } from '../../client/service-clock.ts';
import type { ApiVersion } from '../../services/domain/endpoint.ts';
import {
  DELIVERY,
  DELIVERY_DETAIL,
  ENDPOINT as ENDPOINT_SHAPE,
  EVENT,
  LOOK_UP,
  METRICS,
  mustHave,
  notTheApi,
  pageOf,
  REPLAY,
  type Shape,
  STORY,
  withTexts,
} from './answer-shape.ts';
import { type ApiClient, bodyOf } from './api-client.ts';
import { merchantStream } from './merchant-stream.ts';

type Schemas = components['schemas'];

/** `signing_secret` is present after the creation only, `hint` after a change that needs one. */
export type EndpointAnswer = Schemas['WebhookEndpoint'] &
  Partial<Pick<Schemas['CreatedWebhookEndpoint'], 'signing_secret'>> &
  Partial<Pick<Schemas['UpdatedWebhookEndpoint'], 'hint'>>;
export type EndpointChange = Schemas['UpdateWebhookEndpoint'];
export type DeliveryAnswer = Schemas['Delivery'];
export type AttemptAnswer = Schemas['Attempt'];
export type DeliveryDetailAnswer = Schemas['DeliveryDetail'];
export type EventAnswer = Schemas['EventDetail'];
export type StoryAnswer = Schemas['Story'];
export type LookUpAnswer = Schemas['LookUp'];
export type EventListed = Schemas['EventListed'];
export type MetricsAnswer = Schemas['Metrics'];
export type ReplayAnswer = Schemas['Replay'];
export type ReplayRequest = Omit<Schemas['StartReplay'], 'dry_run'>;
/** The result is present when the request waited for it and it came in time. */
export type CheckAnswer = Schemas['EndpointCheck'];
export type TestAnswer = Schemas['TestQueued'] & Partial<Schemas['TestResult']>;

type DeliveryQuery = NonNullable<operations['listAllDeliveries']['parameters']['query']>;
type MetricsQuery = NonNullable<operations['getMetrics']['parameters']['query']>;
type EventQuery = NonNullable<operations['listEvents']['parameters']['query']>;
type EndpointQuery = NonNullable<operations['listWebhookEndpoints']['parameters']['query']>;

/** `failed`: retries are left. */
export const DELIVERY_STATUSES = [
  'pending',
  'delivered',
  'failed',
  'exhausted',
  'refused',
  'cancelled',
] as const satisfies readonly DeliveryQuery['status'][];

/** Results of the routing of an event to an endpoint. */
export const VERDICTS = [
  'routed',
  'filtered',
  'endpoint_disabled',
  'endpoint_auto_disabled',
  'type_not_in_api_version',
  'subtype_not_in_api_version',
] as const satisfies readonly EventQuery['verdict'][];

export const METRIC_GROUPS = [
  ...(['outcome', 'code', 'type', 'endpoint'] as const),
] as const satisfies readonly MetricsQuery['by'][];

type Filter<Query> = {
  readonly [Name in Exclude<keyof Query, 'limit' | 'cursor'>]?: Query[Name] | undefined;
} & {
  /** The most items over all pages. */
  readonly limit: number;
};

export type DeliveryFilter = Filter<DeliveryQuery>;
export type EventFilter = Filter<EventQuery>;

export interface Page<Item> {
  readonly data: readonly Item[];
  readonly next_cursor: string | null;
}

const ENDPOINTS = '/merchant/webhook-endpoints';
const ENDPOINT = '/merchant/webhook-endpoints/{id}';
const PAGE_ITEMS_MAX = 100;
/** The longest time between the requested wait and the response to a test. */
const TEST_ANSWER_MS = 15_000;

/** The operations of the merchant API by name. Failures are ApiClient's. */
export class MerchantApi {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  get clock(): ServiceClock {
    return this.#client.clock;
  }

  /** Returns the service's time, milliseconds since the epoch. */
  now(): Promise<number> {
    return this.#client.now();
  }

  createEndpoint(endpoint: Schemas['CreateWebhookEndpoint']): Promise<Schemas['CreatedWebhookEndpoint']> {
    return bodyOf(this.#client.rest.POST(ENDPOINTS, { body: endpoint }), CREATED);
  }

  /** All endpoints, newest first. */
  endpoints(status?: EndpointQuery['status']): Promise<readonly EndpointAnswer[]> {
    const filter = given({ status });
    return all(Number.POSITIVE_INFINITY, (page) =>
      bodyOf(
        this.#client.rest.GET(ENDPOINTS, { params: { query: { ...filter, ...page } } }),
        pageOf(ENDPOINT_SHAPE),
      ),
    );
  }

  endpoint(id: string): Promise<EndpointAnswer> {
    return bodyOf(this.#client.rest.GET(ENDPOINT, { params: { path: { id } } }), ENDPOINT_SHAPE);
  }

  updateEndpoint(id: string, change: EndpointChange): Promise<EndpointAnswer> {
    return bodyOf(
      this.#client.rest.PATCH(ENDPOINT, { params: { path: { id } }, body: change }),
      ENDPOINT_SHAPE,
    );
  }

  /** A repeat with the same `idempotencyKey` gets the secret that the first one made, and makes none. */
  rotateSecret(
    id: string,
    idempotencyKey?: string,
    body: Schemas['RotateSecret'] = {},
  ): Promise<{ readonly signing_secret: string }> {
    const header = given({ 'Idempotency-Key': idempotencyKey });
    const params = { path: { id }, header };
    return bodyOf(this.#client.rest.PATCH(`${ENDPOINT}/secret`, { params, body }), SECRET);
  }

  /** Makes the secret that the next rotation puts in force; a repeat gets the same one, as of a rotation. */
  prepareSecret(id: string, idempotencyKey?: string): Promise<{ readonly signing_secret: string }> {
    const params = { path: { id }, header: given({ 'Idempotency-Key': idempotencyKey }) };
    return bodyOf(this.#client.rest.POST(`${ENDPOINT}/secret/prepare`, { params }), SECRET);
  }

  async discardPrepared(id: string): Promise<void> {
    await this.#client.rest.DELETE(`${ENDPOINT}/secret/prepare`, { params: { path: { id } } });
  }

  async deleteEndpoint(id: string): Promise<void> {
    await this.#client.rest.DELETE(ENDPOINT, { params: { path: { id } } });
  }

  /** Sends a test webhook; with `waitSeconds`, returns the result when it arrives in that time. */
  testEndpoint(id: string, test: Schemas['TestWebhook'], waitSeconds: number): Promise<TestAnswer> {
    const header = waitSeconds > 0 ? { Prefer: `wait=${waitSeconds}` } : {};
    const fetch = this.#client.within(waitSeconds * 1000 + TEST_ANSWER_MS);
    const request = { params: { path: { id }, header }, body: test, fetch };
    return bodyOf(this.#client.rest.POST(`${ENDPOINT}/test`, request), QUEUED);
  }

  /** Takes the way of a webhook, and sends none. */
  checkEndpoint(id: string): Promise<CheckAnswer> {
    // It waits for the server at each of its steps.
    const fetch = this.#client.within(4 * TEST_ANSWER_MS);
    return bodyOf(this.#client.rest.POST(`${ENDPOINT}/check`, { params: { path: { id } }, fetch }), CHECK);
  }

  /** The endpoint behind the URL of `PATCH /merchant`, which the list leaves out. */
  async legacyEndpoint(): Promise<EndpointAnswer | undefined> {
    const { webhook_endpoint } = await bodyOf(this.#client.rest.GET('/merchant'), {});
    if (webhook_endpoint) mustHave(webhook_endpoint, ENDPOINT_SHAPE);
    return webhook_endpoint ?? undefined;
  }

  /** The deliveries to all endpoints, newest first. */
  deliveries({ limit, ...filter }: DeliveryFilter): Promise<readonly DeliveryAnswer[]> {
    return all(limit, (page) => this.deliveryPage({ ...given(filter), ...page }));
  }

  deliveryPage(query: DeliveryQuery): Promise<Page<DeliveryAnswer>> {
    return bodyOf(this.#client.rest.GET('/merchant/deliveries', { params: { query } }), pageOf(DELIVERY));
  }

  /** Events with their routing, newest first. */
  events({ limit, ...filter }: EventFilter): Promise<readonly EventListed[]> {
    return all(limit, (page) => this.eventPage({ ...given(filter), ...page }));
  }

  eventPage(query: EventQuery): Promise<Page<EventListed>> {
    return bodyOf(this.#client.rest.GET('/merchant/events', { params: { query } }), pageOf(EVENT));
  }

  metrics(
    query: { readonly [Name in keyof MetricsQuery]?: MetricsQuery[Name] | undefined },
  ): Promise<MetricsAnswer> {
    const params = { query: given(query) };
    return bodyOf(this.#client.rest.GET('/merchant/metrics', { params }), METRICS);
  }

  delivery(id: string, delivery_id: string): Promise<DeliveryDetailAnswer> {
    const path = { id, delivery_id };
    return bodyOf(
      this.#client.rest.GET(`${ENDPOINT}/deliveries/{delivery_id}`, { params: { path } }),
      DELIVERY_DETAIL,
    );
  }

  resend(id: string, delivery_id: string): Promise<Schemas['Resent']> {
    const params = { path: { id, delivery_id } };
    return bodyOf(this.#client.rest.POST(`${ENDPOINT}/deliveries/{delivery_id}/resend`, { params }), QUEUED);
  }

  async startReplay(id: string, body: ReplayRequest): Promise<ReplayAnswer> {
    const request = this.#client.rest.POST(`${ENDPOINT}/replay`, { params: { path: { id } }, body });
    return (await bodyOf(request, REPLAY)) as ReplayAnswer;
  }

  /** Returns the number of events that a replay would send now. */
  async countReplay(id: string, replay: ReplayRequest): Promise<number> {
    const body = { ...replay, dry_run: true };
    const request = this.#client.rest.POST(`${ENDPOINT}/replay`, { params: { path: { id } }, body });
    const { count } = (await bodyOf(request, {})) as Schemas['ReplayDryRun'];
    if (typeof count !== 'number') throw notTheApi('count', 'a number');
    return count;
  }

  replay(id: string, replay_id: string): Promise<ReplayAnswer> {
    const path = { id, replay_id };
    return bodyOf(this.#client.rest.GET(`${ENDPOINT}/replays/{replay_id}`, { params: { path } }), REPLAY);
  }

  /** Follows what happens to the merchant's events, deliveries and endpoints from now on. */
  stream(options: StreamOptions): AsyncGenerator<StreamNews> {
    return merchantStream(this.#client, options);
  }

  /** Everything about a transaction, an account or a user. */
  story(subject_id: string): Promise<StoryAnswer> {
    const params = { path: { subject_id } };
    return bodyOf(this.#client.rest.GET('/merchant/subjects/{subject_id}', { params }), STORY);
  }

  /** Finds the resource that an id names. */
  lookUp(any_id: string): Promise<LookUpAnswer> {
    return bodyOf(
      this.#client.rest.GET('/merchant/lookup/{any_id}', { params: { path: { any_id } } }),
      LOOK_UP,
    );
  }

  /** `api_version`: that of the body, 2.3.8 by default. */
  event(event_id: string, api_version?: ApiVersion): Promise<EventAnswer> {
    const params = { path: { event_id }, query: given({ api_version }) };
    return bodyOf(this.#client.rest.GET('/merchant/events/{event_id}', { params }), EVENT);
  }
}

const CHECK: Shape = {
  ...withTexts<CheckAnswer>()('url', 'result'),
  lists: { steps: withTexts<CheckAnswer['steps'][number]>()('step', 'result', 'says') },
};
const QUEUED: Shape = withTexts<Schemas['TestQueued'] & Schemas['Resent']>()('delivery_uuid');
const SECRET = withTexts<Pick<Schemas['CreatedWebhookEndpoint'], 'signing_secret'>>()('signing_secret');
const CREATED: Shape = { texts: [...ENDPOINT_SHAPE.texts, ...SECRET.texts] };

/** Returns every item of a list, page after page, at most `max`. */
async function all<Item>(
  max: number,
  read: (page: { readonly limit: number; readonly cursor?: string }) => Promise<Page<Item>>,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const limit = Math.min(PAGE_ITEMS_MAX, max - items.length);
    const page: Page<Item> = await read({ limit, ...(cursor === null ? {} : { cursor }) });
    items.push(...page.data);
    const next = page.next_cursor;
    if (next !== null && (typeof next !== 'string' || next === cursor))
      throw notTheApi('next_cursor', 'null or the place of another page');
    cursor = next;
  } while (cursor !== null && items.length < max);
  return items;
}

type Given<Values> = { readonly [Name in keyof Values]?: NonNullable<Values[Name]> };

/** Returns the values that are defined. */
function given<Values extends object>(values: Values): Given<Values> {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Given<Values>;
}
