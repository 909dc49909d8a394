import { type DeliveriesQuery, type EventsQuery, readDeliveries, readEvents } from '../api/reads.ts';
import type { Delivery, Endpoint, EventListed } from '../api/shapes.ts';
import type { Cell } from './csv.ts';

/** The most rows of a list that a file has: so many requests are made in a minute. */
export const ROWS_MAX = 5000;

/** The rows of a file: deliveries, and events that an endpoint did not get. */
export interface Lists {
  readonly deliveries: readonly DeliveriesQuery[];
  readonly events: readonly EventsQuery[];
}

type Row = Readonly<Record<string, Cell>> & { readonly created_at: string };

const COLUMNS = [
  ...['created_at', 'type', 'subType', 'subject_uuid', 'transaction_uuid', 'entity_uuid', 'event_uuid'],
  ...['endpoint', 'url', 'endpoint_uuid', 'delivery_uuid', 'trigger', 'result', 'cancel_reason'],
  ...['attempts_made', 'last_response_status', 'last_failure_code', 'last_attempt_at', 'next_attempt_at'],
  ...['api_version', 'occurred_at'],
] as const;

interface Options {
  readonly endpoints: readonly Endpoint[];
  readonly signal: AbortSignal;
  readonly onRead: (rows: number) => void;
}

interface Table {
  /** The names of the columns, then the rows, newest first. */
  readonly rows: readonly (readonly Cell[])[];
  readonly isCut: boolean;
}

/** Reads all pages of the lists. Where one was cut, the table ends there for all: it has no gaps. */
export async function readTable(lists: Lists, { endpoints, signal, onRead }: Options): Promise<Table> {
  const rows: Row[] = [];
  let oldest = '';
  const take = (list: { readonly isCut: boolean }, found: readonly Row[], last: Row['created_at'] = '') => {
    rows.push(...found);
    if (list.isCut && last > oldest) oldest = last;
  };
  const options = { itemsMax: ROWS_MAX, signal, onRead: (items: number) => onRead(rows.length + items) };
  for (const query of lists.deliveries) {
    const list = await readDeliveries(query, options);
    take(
      list,
      list.items.map((item) => rowOfDelivery(item, endpoints)),
      list.items.at(-1)?.created_at,
    );
  }
  for (const query of lists.events) {
    const list = await readEvents(query, options);
    const found = list.items.flatMap((item) => rowsOfEvent(item, endpoints, query.endpoint_uuid));
    take(list, found, list.items.at(-1)?.created_at);
  }
  const kept = rows
    .filter(({ created_at: at }) => at >= oldest)
    .sort((a, b) => b.created_at.localeCompare(a.created_at));
  return {
    rows: [COLUMNS, ...kept.map((row) => COLUMNS.map((name) => row[name] ?? null))],
    isCut: oldest !== '',
  };
}

function nameOf(uuid: string, endpoints: readonly Endpoint[]) {
  const found = endpoints.find((one) => one.uuid === uuid);
  return { endpoint: found?.description ?? null, url: found?.url ?? null, endpoint_uuid: uuid };
}

function rowOfDelivery(delivery: Delivery, endpoints: readonly Endpoint[]): Row {
  const { held: _held, status, ...cells } = delivery;
  return { ...cells, result: status, ...nameOf(delivery.endpoint_uuid, endpoints) };
}

/** An event has a row for each endpoint that it was not sent to; what was sent is in the list of deliveries. */
function rowsOfEvent(event: EventListed, endpoints: readonly Endpoint[], only?: string): readonly Row[] {
  const { endpoints: routing, body: _body, body_removed: _removed, simulated: _simulated, ...cells } = event;
  if (routing.length === 0 && only === undefined) return [{ ...cells, result: 'no_endpoint' }];
  return routing
    .filter(({ delivery_uuid: id, endpoint_uuid: uuid }) => id === null && (only ?? uuid) === uuid)
    .map(({ endpoint_uuid: uuid, verdict }) => ({ ...cells, result: verdict, ...nameOf(uuid, endpoints) }));
}
