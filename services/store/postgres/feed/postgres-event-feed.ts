import type { EventFeed, EventFeedPage } from '../../event-feed.ts';
import {
  type EventFeedOptions,
  type EventSpan,
  eventPage,
  eventSpan,
  restoredPage,
  takeEvents,
  withinBytes,
} from '../../log/event-feed-page.ts';
import { FEED_KIND } from '../../log/log-rows.ts';
import { linesOf } from '../../rows/log-records.ts';
import type { Statements } from '../../sql/statements.ts';
import type { EventListed } from '../../store.ts';
import { idOf } from '../client/packed-id.ts';
import type { PostgresDatabase } from '../client/postgres-database.ts';
import { BODY_KIND } from '../log/bodies.ts';
import type { LogNames } from '../log/log-names.ts';
import { type EventRow, toListed } from '../log/log-rows.ts';
import { extentOf } from './feed-extent.ts';

interface Deps {
  readonly database: PostgresDatabase;
  readonly names: LogNames;
}

interface RoutedRow {
  readonly seq: number;
  readonly event_id: Buffer;
  readonly ref_at: number;
}

type Found = EventListed & { readonly row: EventRow };

export class PostgresEventFeed implements EventFeed {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async read(merchantId: string, options: EventFeedOptions): Promise<EventFeedPage> {
    const { database, names } = this.#deps;
    const before = await extentOf(database, merchantId);
    const span = eventSpan(options, before);
    if (span === null) return restoredPage(before);
    const { routed, examinedTo, events } = await database.read(async (statements) => {
      const rows = await readRouted(statements, before.merchant, span);
      return { ...rows, events: await readEvents(statements, before.merchant, rows.routed) };
    });
    // A leaf that was dropped meanwhile is in the extent before its rows are gone.
    const extent = await extentOf(database, merchantId);
    await names.readIds(events.flatMap((row) => linesOf(row).map(([endpoint]) => endpoint)));
    const byId = new Map(
      events.map((row) => [
        idOf(row.event_id),
        { ...toListed(row, merchantId, names.numbers.endpointId), row },
      ]),
    );
    const found = routed.map(({ seq, event_id }) => ({ seq, record: byId.get(idOf(event_id)) }));
    const taken = takeEvents<Found>(found, span, examinedTo, options);
    if (!options.withData) return eventPage(taken, span, extent, () => null);
    return database.read(async (statements) => {
      const kept = taken.taken.flatMap(({ record: { row } }) => (row.removed_at === null ? [row] : []));
      const sizes = await readOfData<number>(statements, 'octet_length(bytes)', kept);
      const within = withinBytes(taken, ({ row }) => sizes.get(row.seq) ?? 0);
      const rows = within.taken.map(({ record }) => record.row).filter(({ seq }) => sizes.has(seq));
      const data = await readOfData<Buffer>(statements, 'bytes', rows);
      return eventPage(within, span, extent, ({ row }) => data.get(row.seq)?.toString() ?? null);
    });
  }
}

/** Reads the merchant's routings. Its rows are numbered without holes, so their numbers say how many are examined. */
async function readRouted(
  { rows }: Statements,
  merchant: number,
  { span, from, examined, candidates: limit }: EventSpan,
) {
  const upTo = Math.min(span.upTo, from + examined - 1);
  const routed = await rows<RoutedRow>(ROUTED, [merchant, from, upTo, limit]);
  return { routed, examinedTo: routed.length < limit ? upTo : (routed.at(-1)?.seq ?? upTo) };
}

async function readEvents({ rows }: Statements, merchant: number, routed: readonly RoutedRow[]) {
  if (routed.length === 0) return [];
  const times = routed.map(({ ref_at }) => ref_at);
  const ids = routed.map(({ event_id }) => event_id);
  return rows<EventRow>(
    `SELECT * FROM event WHERE event_id = ANY($1::bytea[]) AND merchant = $2
     AND created_at >= $3 AND created_at <= $4`,
    [ids, merchant, Math.min(...times), Math.max(...times)],
  );
}

/** Reads something of the data of events, by their numbers. */
async function readOfData<Value>({ rows }: Statements, what: string, events: readonly EventRow[]) {
  if (events.length === 0) return new Map<number, Value>();
  const times = events.map(({ created_at }) => created_at);
  const found = await rows<{ readonly owner: number; readonly value: Value }>(
    `SELECT owner, ${what} AS value FROM body WHERE owner = ANY($1::bigint[]) AND kind = ${BODY_KIND.data} AND n = 0
     AND created_at >= $2 AND created_at <= $3`,
    [events.map(({ seq }) => seq), Math.min(...times), Math.max(...times)],
  );
  return new Map(found.map(({ owner, value }) => [owner, value]));
}

const ROUTED = `SELECT seq, event_id, ref_at FROM feed
  WHERE merchant = $1 AND seq >= $2 AND seq <= $3 AND kind = ${FEED_KIND.routed} ORDER BY seq LIMIT $4`;
