import type { Random } from '../../process/random.ts';
import { unpackId } from '../../sqlite/ids.ts';
import type { Sqlite } from './source.ts';

/** Rows of the log that were chosen at random. */
export interface LogSample {
  readonly deliveries: readonly {
    readonly merchantId: string;
    readonly endpointId: string;
    readonly deliveryId: string;
  }[];
  readonly events: readonly { readonly merchantId: string; readonly eventId: string }[];
  /** Rows of the feed. */
  readonly feed: readonly { readonly merchantId: string; readonly seq: number }[];
}

type Packed = Uint8Array | string;

/** Chooses up to this many rows of each table at random. */
export function sampleLog(
  db: Sqlite,
  random: Random,
  sizes: Readonly<Record<keyof LogSample, number>>,
): LogSample {
  const choose = <Row>(table: string, size: number, select: string): Row[] => {
    const highest = db.prepare(`SELECT coalesce(max(seq), 0) FROM ${table}`).pluck().get() as number;
    const statement = db.prepare(select);
    const rows: Row[] = [];
    for (let count = 1; count <= Math.min(size, highest); count += 1) {
      // A small table is taken whole.
      const seq = highest <= size ? count : Math.ceil(fraction(random) * highest);
      const row = statement.get(seq) as Row | undefined;
      if (row !== undefined) rows.push(row);
    }
    return rows;
  };
  const deliveries = choose<{ merchantId: string; endpointId: string; id: Packed }>(
    'delivery',
    sizes.deliveries,
    `SELECT m.merchant_id AS merchantId, n.endpoint_id AS endpointId, d.delivery_id AS id FROM delivery d
     CROSS JOIN log_endpoint n ON n.seq = d.endpoint CROSS JOIN log_merchant m ON m.seq = n.merchant
     WHERE d.seq >= ? ORDER BY d.seq LIMIT 1`,
  );
  const events = choose<{ merchantId: string; id: Packed }>(
    'event',
    sizes.events,
    `SELECT m.merchant_id AS merchantId, ev.event_id AS id FROM event ev CROSS JOIN log_merchant m ON m.seq = ev.merchant
     WHERE ev.seq >= ? AND ev.routed_at IS NOT NULL ORDER BY ev.seq LIMIT 1`,
  );
  const feed = choose<LogSample['feed'][number]>(
    'feed',
    sizes.feed,
    `SELECT m.merchant_id AS merchantId, f.seq FROM feed f CROSS JOIN log_merchant m ON m.seq = f.merchant
     WHERE f.seq >= ? ORDER BY f.seq LIMIT 1`,
  );
  return {
    deliveries: deliveries.map(({ id, ...rest }) => ({ ...rest, deliveryId: unpackId(id) })),
    events: events.map(({ id, ...rest }) => ({ ...rest, eventId: unpackId(id) })),
    feed,
  };
}

/** Returns a number from 0 to 1. */
function fraction(random: Random): number {
  const bytes = random.bytes(4);
  return Buffer.from(bytes.buffer, bytes.byteOffset, 4).readUInt32LE() / 2 ** 32;
}
