import { isUuid } from '../../../services/domain/ids.ts';
import { visible } from '../../../services/domain/text/visible-text.ts';
import { ApiRefusal } from '../../client/api-refusal.ts';
import type {
  DeliveryDetailAnswer,
  EndpointAnswer,
  EventAnswer,
  MerchantApi,
  Page,
} from '../../client/merchant-api.ts';
import { CommandFailure, EXIT, mistyped, usage } from '../../exit.ts';
import { orWhatItIs } from './lookup.ts';

const DIGITS_MIN = 8;
const PAGE = 100;
/** The newest deliveries or events that are searched for the beginning of an id. */
const SEARCHED_MAX = 10_000;

/**
 * Returns the uuid of an endpoint, to read about it, by its uuid or some digits of it, its description, or its URL, or
 * parts of these.
 */
export async function findEndpoint(api: MerchantApi, named: string): Promise<string> {
  if (isUuid(named)) return named.toLowerCase();
  const endpoints = await api.endpoints();
  const kinds = [...wholeNames(endpoints, named), ...partsOfNames(endpoints, named)];
  return onlyOne(
    named,
    kinds.find((kind) => kind.length > 0),
  ).uuid;
}

/**
 * Returns the uuid of an endpoint, to change it or to send to it, by its uuid or at least eight digits of it, its whole
 * description, or its whole URL: a part of a name may be another endpoint's by tomorrow.
 */
export async function findEndpointToChange(api: MerchantApi, named: string): Promise<string> {
  if (isUuid(named)) return named.toLowerCase();
  const endpoints = await api.endpoints();
  const found = wholeNames(endpoints, named).find((kind) => kind.length > 0);
  if (found) return onlyOne(named, found).uuid;
  const meant = partsOfNames(endpoints, named).find((kind) => kind.length > 0);
  if (!meant) return onlyOne(named, meant).uuid;
  // Digits of one id are of one endpoint for ever; a part of a name may be several by tomorrow.
  const [only, second] = meant;
  const isId = second === undefined && only?.uuid.startsWith(named.toLowerCase());
  throw mistyped(
    `"${visible(named)}" is only a part of ${meant.map(shown).join(', ')}: give at least ${DIGITS_MIN} digits of its id, ` +
      'or its whole description or URL',
    named,
    isId ? only?.uuid.slice(0, DIGITS_MIN) : undefined,
    ...(isId ? [] : ['hookrail sim endpoints list']),
  );
}

/** Returns the endpoints that have it as a name, by kind of name, the surest first. */
function wholeNames(endpoints: readonly EndpointAnswer[], named: string): EndpointAnswer[][] {
  return [
    endpoints.filter(({ description, url }) => description === named || url === named),
    beginningWith(endpoints, named, DIGITS_MIN),
  ];
}

function partsOfNames(endpoints: readonly EndpointAnswer[], named: string): EndpointAnswer[][] {
  const wanted = named.toLowerCase();
  return [
    beginningWith(endpoints, named, 4),
    endpoints.filter(({ description, url }) => `${description}\n${url}`.toLowerCase().includes(wanted)),
  ];
}

function beginningWith(endpoints: readonly EndpointAnswer[], named: string, least: number): EndpointAnswer[] {
  const digits = named.toLowerCase();
  if (digits.length < least || !/^[0-9a-f-]+$/.test(digits)) return [];
  return endpoints.filter(({ uuid }) => uuid.startsWith(digits));
}

function onlyOne(named: string, endpoints: readonly EndpointAnswer[] = []): EndpointAnswer {
  const [found, ...others] = endpoints;
  if (found === undefined) {
    throw new CommandFailure(EXIT.api, `no endpoint has "${visible(named)}" as its id, description or URL`, [
      'list them with: hookrail sim endpoints list',
    ]);
  }
  if (others.length === 0) return found;
  throw usage(`"${visible(named)}" may be ${endpoints.map(shown).join(', ')}`, 'hookrail sim endpoints list');
}

function shown({ uuid, url, description }: EndpointAnswer): string {
  return `${uuid.slice(0, DIGITS_MIN)} ${visible(url)} "${visible(description)}"`;
}

/** Returns a delivery by its uuid or at least eight digits of it. `endpoint` makes the search unnecessary. */
export async function findDelivery(
  api: MerchantApi,
  id: string,
  endpoint?: string,
): Promise<DeliveryDetailAnswer> {
  if (endpoint !== undefined && isUuid(id)) return api.delivery(await findEndpoint(api, endpoint), id);
  const listed = await search(
    'delivery',
    id,
    (query) => api.deliveryPage(query),
    ({ delivery_uuid }) => delivery_uuid,
  );
  if (listed === undefined) return atSomeEndpoint(api, id);
  try {
    return await api.delivery(listed.endpoint_uuid, listed.delivery_uuid);
  } catch (error) {
    if (!(error instanceof ApiRefusal) || error.status !== 404) throw error;
    throw new CommandFailure(
      EXIT.api,
      `the endpoint of delivery ${id} is deleted, and its attempts with it`,
      [`hookrail sim events get ${listed.event_uuid}`],
    );
  }
}

/** Returns an event by its uuid or at least eight digits of it. */
export async function findEvent(api: MerchantApi, id: string): Promise<EventAnswer> {
  if (isUuid(id))
    return api.event(id).catch(async (error: unknown) => {
      throw await orWhatItIs(api, { id, wanted: 'event' }, error);
    });
  const found = await search(
    'event',
    id,
    (query) => api.eventPage(query),
    ({ event_uuid }) => event_uuid,
  );
  if (found === undefined) throw notFound('event', id);
  return api.event(found.event_uuid);
}

/** Searches the newest ones, page after page; a whole uuid only on the first, because it is found otherwise too. */
async function search<Item>(
  kind: 'delivery' | 'event',
  id: string,
  read: (query: { limit: number; cursor?: string }) => Promise<Page<Item>>,
  idOf: (item: Item) => string,
): Promise<Item | undefined> {
  const wanted = id.toLowerCase();
  if (!isUuid(id) && !/^[0-9a-f-]{8,35}$/.test(wanted)) {
    const what = `the id of ${kind === 'event' ? 'an event' : 'a delivery'}`;
    const says = `"${visible(id)}" is not ${what}, nor at least ${DIGITS_MIN} digits of one`;
    throw usage(says, listing(kind));
  }
  const pages = isUuid(id) ? 1 : SEARCHED_MAX / PAGE;
  let cursor: string | null = null;
  for (let number = 0; number < pages; number += 1) {
    const page: Page<Item> = await read({ limit: PAGE, ...(cursor === null ? {} : { cursor }) });
    const matches = page.data.filter((item) => idOf(item).startsWith(wanted));
    const [found, ...others] = matches;
    if (others.length > 0)
      throw usage(`"${id}" may be ${matches.map(idOf).join(', ')}: give more digits`, listing(kind));
    if (found !== undefined) return found;
    cursor = page.next_cursor;
    if (cursor === null) break;
  }
  return undefined;
}

async function atSomeEndpoint(api: MerchantApi, id: string): Promise<DeliveryDetailAnswer> {
  const legacy = isUuid(id) ? await api.legacyEndpoint() : undefined;
  const endpoints = isUuid(id) ? [...(await api.endpoints()), ...(legacy ? [legacy] : [])] : [];
  for (const { uuid } of endpoints) {
    try {
      return await api.delivery(uuid, id);
    } catch (error) {
      if (!(error instanceof ApiRefusal) || error.status !== 404) throw error;
    }
  }
  throw await orWhatItIs(api, { id, wanted: 'delivery' }, notFound('delivery', id));
}

function notFound(kind: 'delivery' | 'event', id: string): CommandFailure {
  return new CommandFailure(EXIT.api, `the merchant has no ${kind} ${id}`, [listing(kind)]);
}

function listing(kind: 'delivery' | 'event'): string {
  return `list them with: hookrail sim ${kind === 'event' ? 'events' : 'deliveries'} list`;
}
