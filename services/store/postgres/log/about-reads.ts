import { TRANSACTION_TYPES } from '../../../domain/catalog/subject.ts';
import { ABOUT_EVENTS_MAX, type About, aboutIdOf } from '../../log/about.ts';
import { EVENT_TYPE, TRIGGER } from '../../log/codes.ts';
import { linesOf } from '../../rows/log-records.ts';
import type { Statements } from '../../sql/statements.ts';
import { idBytes } from '../client/packed-id.ts';
import type { DeliveryRow, EventRow } from './log-rows.ts';

const TRANSACTIONS = TRANSACTION_TYPES.map((type) => EVENT_TYPE.of[type]).join(', ');

/** Returns the conditions on what a row is about. `value` returns the place of a value in the statement. */
export function aboutConditions(
  { entityId, subjectId, transactionId }: About,
  value: (each: unknown) => string,
): string[] {
  const conditions: string[] = [];
  if (entityId !== undefined) conditions.push(`entity_id = ${value(idBytes(entityId))}`);
  if (subjectId !== undefined) {
    const id = value(idBytes(subjectId));
    conditions.push(`(subject_id = ${id} OR (subject_id IS NULL AND entity_id = ${id}))`);
  }
  if (transactionId !== undefined)
    conditions.push(`subject_id = ${value(idBytes(transactionId))} AND type IN (${TRANSACTIONS})`);
  return conditions;
}

/** A delivery and when it was made. */
export interface AboutKey {
  readonly deliveryId: Buffer;
  readonly createdAt: number;
}

/** Returns the events of a merchant, or of all (null), in no order; undefined where the filter does not say or there are too many to sort. */
export async function eventsAbout(
  { rows }: Statements,
  merchant: number | null,
  filter: About,
): Promise<readonly EventRow[] | undefined> {
  if (aboutIdOf(filter) === undefined) return undefined;
  return unlessTooMany(await rows<Counted<EventRow>>(...about('event', 'TRUE', merchant, filter)));
}

/** Returns the keys of the events' deliveries, newest first; undefined as `eventsAbout`. */
export async function deliveriesAbout(
  statements: Statements,
  merchant: number | null,
  filter: About,
): Promise<readonly AboutKey[] | undefined> {
  const events = await eventsAbout(statements, merchant, filter);
  if (events === undefined) return undefined;
  const requested = unlessTooMany(
    await statements.rows<Counted<DeliveryKeyRow>>(
      ...about('delivery', `trigger <> ${TRIGGER.of.live}`, merchant, filter),
    ),
  );
  if (requested === undefined) return undefined;
  const keys = new Map<string, AboutKey>();
  const add = (deliveryId: Buffer, createdAt: number) =>
    keys.set(deliveryId.toString('latin1'), { deliveryId, createdAt });
  for (const event of events)
    for (const line of linesOf(event)) if (line.length !== 2) add(idBytes(line[2]), event.created_at);
  // A replay may have made the event's own delivery, later.
  for (const { delivery_id, created_at } of requested) add(delivery_id, created_at);
  return [...keys.values()].sort((one, other) => other.createdAt - one.createdAt);
}

/** A row with the number of all that match. Where there are too many, one row has nothing but the number. */
type Counted<Row> = Row & { readonly matching: number; readonly seq: number | null };

type DeliveryKeyRow = Pick<DeliveryRow, 'delivery_id' | 'created_at'>;

function unlessTooMany<Row>(rows: readonly Counted<Row>[]): readonly Row[] | undefined {
  if ((rows[0]?.matching ?? 0) > ABOUT_EVENTS_MAX) return undefined;
  return rows.filter(({ seq }) => seq !== null);
}

/**
 * Returns a statement and its values. It returns no rows of those that are too many: they take longer to send than to find.
 * `merchant + 0`: no index of the merchant's rows is to be read instead.
 */
function about(
  table: 'event' | 'delivery',
  condition: string,
  merchant: number | null,
  filter: About,
): [text: string, values: unknown[]] {
  const values: unknown[] = [merchant, ABOUT_EVENTS_MAX];
  const conditions = aboutConditions(filter, (each) => `$${values.push(each)}`).join(' AND ');
  return [
    `WITH found AS MATERIALIZED (
      SELECT * FROM ${table} WHERE ${condition} AND ${conditions} AND ($1::int IS NULL OR merchant + 0 = $1) LIMIT $2 + 1
    )
    SELECT n.matching, f.* FROM (SELECT count(*)::int AS matching FROM found) n LEFT JOIN found f ON n.matching <= $2`,
    values,
  ];
}
