import type { JournalEntry } from '../../../domain/journal.ts';
import { ATTEMPTS_PER_DELIVERY } from '../../log/delivery.ts';
import { ErasureOrders } from '../../log/erasure-orders.ts';
import type { TraceLine } from '../../log/trace-lines.ts';
import type { DeliveryColumns } from '../../rows/log-records.ts';
import type { Statements } from '../../sql/statements.ts';
import { arrayOf } from '../client/array-values.ts';
import { idOf } from '../client/packed-id.ts';
import type { StoredEventRow } from './batch-events.ts';
import { BODY_KIND } from './bodies.ts';

/** A delivery as the database has it. */
export interface StoredDeliveryRow extends DeliveryColumns<Buffer> {
  readonly seq: number;
  readonly merchant: number;
  readonly endpoint: number;
  readonly removed: number;
}

/** The rows of the database that a batch names. */
export interface Preloaded {
  readonly deliveries: readonly StoredDeliveryRow[];
  readonly events: readonly StoredEventRow[];
  /** Ids of attempts. */
  readonly attempts: readonly number[];
  /** Bodies of events that a request may have, by the event's number and the code of the version. */
  readonly bodies: ReadonlyMap<number, ReadonlyMap<number, Buffer>>;
  readonly erasures: ErasureOrders;
}

/** The keys of the rows that a batch names. */
interface Named {
  /** Deliveries, with their attempts. */
  readonly deliveries: Map<string, number[]>;
  /** Events whose leaf is known: they were accepted in the batch's span. */
  readonly events: Set<string>;
  /** Events of deliveries that were requested, perhaps long after. */
  readonly olderEvents: Set<string>;
  readonly requested: Set<string>;
  from: number;
  to: number;
}

/** Reads it, within the transaction, and keeps other recorders from changing it. */
export async function preload(tx: Statements, entries: Iterable<JournalEntry>): Promise<Preloaded> {
  const named = namesOf(entries);
  const events = await readEvents(tx, named);
  nameEarlierDeliveries(named, events);
  const deliveries = await readDeliveries(tx, named);
  return {
    deliveries,
    events,
    attempts: await readAttempts(tx, named, deliveries),
    bodies: await readBodies(tx, named, events),
    erasures: await readErasures(tx),
  };
}

function namesOf(entries: Iterable<JournalEntry>): Named {
  const named: Named = {
    deliveries: new Map(),
    events: new Set(),
    olderEvents: new Set(),
    requested: new Set(),
    from: Number.POSITIVE_INFINITY,
    to: 0,
  };
  const span = (at: number) => {
    named.from = Math.min(named.from, Math.floor(at));
    named.to = Math.max(named.to, Math.floor(at) + 1);
  };
  for (const entry of entries) {
    if (entry.kind === 'routed') {
      span(entry.acceptedAt);
      named.events.add(entry.event.eventId);
      for (const line of entry.trace) if (line.verdict === 'delivered_to') attemptsOf(named, line.deliveryId);
      continue;
    }
    const { deliveryId, eventId, acceptedAt, attempt, trigger } = entry.delivery;
    span(acceptedAt);
    const attempts = attemptsOf(named, deliveryId);
    if (entry.kind === 'attempted') attempts.push(attempt);
    if (entry.kind === 'requested') {
      span(entry.at);
      named.requested.add(eventId);
    }
    if (trigger !== 'live') named.olderEvents.add(eventId);
  }
  return named;
}

/** An event that is routed again may lose deliveries of its first routing. */
function nameEarlierDeliveries(named: Named, events: readonly StoredEventRow[]): void {
  for (const { eventId, trace } of events) {
    if (!named.events.has(eventId)) continue;
    for (const [, , deliveryId] of JSON.parse(trace) as TraceLine[])
      if (deliveryId !== undefined) attemptsOf(named, deliveryId);
  }
}

function attemptsOf({ deliveries }: Named, deliveryId: string): number[] {
  const attempts = deliveries.get(deliveryId) ?? [];
  deliveries.set(deliveryId, attempts);
  return attempts;
}

const DELIVERIES = `SELECT * FROM delivery
  WHERE delivery_id = ANY($1::bytea[]) AND created_at >= $2 AND created_at < $3 ORDER BY delivery_id FOR UPDATE`;

async function readDeliveries(
  tx: Statements,
  { deliveries, from, to }: Named,
): Promise<readonly StoredDeliveryRow[]> {
  if (deliveries.size === 0) return [];
  return tx.rows(DELIVERIES, [arrayOf('id', deliveries.keys()), from, to]);
}

type EventRow = Omit<StoredEventRow, 'eventId' | 'entityId' | 'subjectId'> & {
  readonly event_id: Buffer;
  readonly entity_id: Buffer;
  readonly subject_id: Buffer | null;
};

const EVENTS = `SELECT seq, created_at, merchant, event_id, entity_id, subject_id, sequence, entity_kind, type, sub_type,
  occurred_at, simulated, routed_at, removed_at, trace FROM event WHERE event_id = ANY($1::bytea[])`;

async function readEvents(
  tx: Statements,
  { events, olderEvents, from, to }: Named,
): Promise<StoredEventRow[]> {
  const near = olderEvents.size === 0 ? [...events] : [...events].filter((id) => !olderEvents.has(id));
  const found: EventRow[] = [];
  if (near.length > 0) {
    const text = `${EVENTS} AND created_at >= $2 AND created_at < $3 ORDER BY event_id FOR UPDATE`;
    found.push(...(await tx.rows<EventRow>(text, [arrayOf('id', near), from, to])));
  }
  if (olderEvents.size > 0) {
    const ids = arrayOf('id', olderEvents);
    found.push(...(await tx.rows<EventRow>(`${EVENTS} ORDER BY event_id FOR UPDATE`, [ids])));
  }
  return found.map(({ event_id, entity_id, subject_id, ...row }) => ({
    ...row,
    eventId: idOf(event_id),
    entityId: idOf(entity_id),
    subjectId: subject_id && idOf(subject_id),
  }));
}

async function readAttempts(
  tx: Statements,
  named: Named,
  stored: readonly StoredDeliveryRow[],
): Promise<readonly number[]> {
  const ids: number[] = [];
  for (const { seq, delivery_id } of stored)
    for (const number of named.deliveries.get(idOf(delivery_id)) ?? [])
      ids.push(seq * ATTEMPTS_PER_DELIVERY + number);
  if (ids.length === 0) return [];
  const rows = await tx.rows<{ readonly attempt_id: number }>(
    'SELECT attempt_id FROM attempt WHERE attempt_id = ANY($1::bigint[]) AND created_at >= $2 AND created_at < $3',
    [arrayOf('bigint', ids), named.from, named.to],
  );
  return rows.map(({ attempt_id }) => attempt_id);
}

async function readBodies(
  tx: Statements,
  { requested }: Named,
  events: readonly StoredEventRow[],
): Promise<Preloaded['bodies']> {
  const wanted = events.filter(({ eventId }) => requested.has(eventId));
  const bodies = new Map<number, Map<number, Buffer>>(wanted.map(({ seq }) => [seq, new Map()]));
  if (wanted.length === 0) return bodies;
  const rows = await tx.rows<{ readonly owner: number; readonly n: number; readonly bytes: Buffer }>(
    `SELECT b.* FROM unnest($1::bigint[], $2::bigint[]) AS e (owner, at) CROSS JOIN LATERAL (
       SELECT owner, n, bytes FROM body WHERE owner = e.owner AND created_at = e.at AND kind = ${BODY_KIND.event}
     ) b`,
    [wanted.map(({ seq }) => seq), wanted.map(({ created_at }) => created_at)],
  );
  for (const { owner, n, bytes } of rows) bodies.get(owner)?.set(n, bytes);
  return bodies;
}

async function readErasures(tx: Statements): Promise<ErasureOrders> {
  const rows = await tx.rows<{ entity_id: string | null; merchant: number | null; accepted_before: number }>(
    'SELECT entity_id, merchant, accepted_before FROM erasure',
  );
  return new ErasureOrders(
    rows.map(({ entity_id, merchant, accepted_before }) => ({
      entityId: entity_id,
      merchant,
      acceptedBefore: accepted_before,
    })),
  );
}
