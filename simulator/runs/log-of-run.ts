import type { components } from '../../client/generated/merchant-api.ts';
import { DELIVERY, EVENT, pageOf } from '../client/answer-shape.ts';
import { type ApiClient, bodyOf } from '../client/api-client.ts';
import { type DeliveryAnswer, type DeliveryDetailAnswer, MerchantApi } from '../client/merchant-api.ts';
import type { SentStep } from './run-store.ts';

export type EventListed = components['schemas']['EventListed'];

/** The log of one event that was sent. */
export interface LoggedEvent {
  readonly event: EventListed;
  readonly deliveries: readonly LoggedDelivery[];
}

/** A delivery, with its attempts where the verdict depends on them. */
export type LoggedDelivery = DeliveryAnswer & Partial<Pick<DeliveryDetailAnswer, 'attempts'>>;

const PAGE_ITEMS = 100;
/** An attempt takes at most this long: the sender's time limit, and some more. */
const ATTEMPT_MS_MAX = 11_000;
/** The service's clock may be behind the one that recorded the run. */
const CLOCKS_DIFFER_MS = 600_000;
/** One list per user or corporate, up to this number of them; else one list for all. */
const ENTITIES_MAX = 5;

interface Page<Item> {
  readonly data: readonly Item[];
  readonly next_cursor: string | null;
}

/** Reads the delivery log of the events of a run, by the lists: a few requests, however many events there are. */
export class LogOfRun {
  readonly #client: ApiClient;
  readonly #sent: readonly SentStep[];
  readonly #withinMs: number;
  readonly #entities: readonly (string | undefined)[];

  /** `withinMs`: the shortest time in which a delivery has to arrive. */
  constructor(client: ApiClient, sent: readonly SentStep[], withinMs: number) {
    this.#client = client;
    this.#sent = sent;
    this.#withinMs = withinMs;
    const entities = [...new Set(sent.map(({ entity_uuid }) => entity_uuid))];
    this.#entities = entities.length > ENTITIES_MAX ? [undefined] : entities;
  }

  /** Returns what the log has of the events, by event id. Events that are not routed yet are missing. */
  async read(): Promise<ReadonlyMap<string, LoggedEvent>> {
    if (this.#sent.length === 0) return new Map();
    const ids = new Set(this.#sent.map(({ event_uuid }) => event_uuid));
    const sentAt = Math.min(...this.#sent.map(({ sent_at }) => Date.parse(sent_at)));
    const events = await this.#all(ids, new Date(sentAt - CLOCKS_DIFFER_MS).toISOString());
    const deliveries = await this.#deliveriesOf(ids, events);
    return new Map(
      events.map((event) => {
        const own = deliveries.filter(({ event_uuid }) => event_uuid === event.event_uuid);
        return [event.event_uuid, { event, deliveries: own }];
      }),
    );
  }

  async #all(ids: ReadonlySet<string>, since: string): Promise<readonly EventListed[]> {
    const found: EventListed[] = [];
    for (const entity of this.#entities) {
      const expected = this.#sent.filter(({ entity_uuid }) => entity === undefined || entity_uuid === entity);
      let missing = new Set(expected.map(({ event_uuid }) => event_uuid)).size;
      const read = (cursor: string | undefined) =>
        bodyOf(
          this.#client.rest.GET('/merchant/events', {
            params: { query: { limit: PAGE_ITEMS, since, ...queryOf(entity, cursor) } },
          }),
          pageOf(EVENT),
        );
      // Newest first: a run that has just ended is on the first page.
      for await (const event of itemsOf<EventListed>(read, () => missing === 0)) {
        if (!ids.has(event.event_uuid)) continue;
        found.push(event);
        missing -= 1;
      }
    }
    return found;
  }

  async #deliveriesOf(
    ids: ReadonlySet<string>,
    events: readonly EventListed[],
  ): Promise<readonly LoggedDelivery[]> {
    if (events.length === 0) return [];
    const since = new Date(Math.min(...events.map(({ created_at }) => Date.parse(created_at)))).toISOString();
    const found: LoggedDelivery[] = [];
    for (const entity of this.#entities) {
      const read = (cursor: string | undefined) =>
        bodyOf(
          this.#client.rest.GET('/merchant/deliveries', {
            params: { query: { limit: PAGE_ITEMS, since, ...queryOf(entity, cursor) } },
          }),
          pageOf(DELIVERY),
        );
      for await (const delivery of itemsOf<DeliveryAnswer>(read, () => false)) {
        if (ids.has(delivery.event_uuid)) found.push(await this.#withAttempts(delivery));
      }
    }
    return found;
  }

  /** Reads the details of a delivery that may have arrived twice, or too late, for all that the list says. */
  async #withAttempts(delivery: DeliveryAnswer): Promise<LoggedDelivery> {
    const { attempts_made, last_attempt_at, created_at } = delivery;
    const startedMs = last_attempt_at === null ? 0 : Date.parse(last_attempt_at) - Date.parse(created_at);
    const isClear = attempts_made < 2 && startedMs + ATTEMPT_MS_MAX < this.#withinMs;
    if (attempts_made === 0 || isClear) return delivery;
    return new MerchantApi(this.#client).delivery(delivery.endpoint_uuid, delivery.delivery_uuid);
  }
}

function queryOf(entity: string | undefined, cursor: string | undefined) {
  return {
    ...(entity === undefined ? {} : { entity_uuid: entity }),
    ...(cursor === undefined ? {} : { cursor }),
  };
}

/** Yields the items of a list, page after page, until `isEnough`. */
export async function* itemsOf<Item>(
  read: (cursor: string | undefined) => Promise<Page<Item>>,
  isEnough: () => boolean,
): AsyncGenerator<Item> {
  let cursor: string | null | undefined;
  do {
    const page: Page<Item> = await read(cursor ?? undefined);
    yield* page.data;
    cursor = page.next_cursor;
  } while (cursor !== null && !isEnough());
}
