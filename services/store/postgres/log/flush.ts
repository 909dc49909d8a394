import { STATUS } from '../../log/codes.ts';
import type { Delivery } from '../../log/delivery.ts';
import { arrayOf } from '../client/array-values.ts';
import { CopyRows } from '../client/copy-rows.ts';
import type { Transaction } from '../client/statements.ts';
import type { LeafKind } from '../leaves/leaf.ts';
import { intoLeaf, LEAF_COLUMNS } from '../leaves/leaf-columns.ts';
import type { Leaves } from '../leaves/leaves.ts';
import type { Batch } from './batch.ts';
import type { EventState } from './batch-events.ts';
import type { NewBody } from './bodies.ts';
import { updateDeliveries } from './delivery-updates.ts';
import { writeMissed } from './missed-writes.ts';

/** Writes what a batch has changed, but for health and the position. */
export async function flush(tx: Transaction, batch: Batch, leaves: Leaves): Promise<void> {
  const copies = new Copies(leaves);
  const changed = [...batch.changed];
  for (const state of batch.events.states) if (state.row?.isNew) addEvent(copies, state);
  for (const delivery of changed)
    if (delivery.isNew) addDelivery(copies, delivery, batch.events.states[delivery.event]);
  for (const attempt of batch.attempts.list) addAttempt(copies, attempt);
  const existing: NewBody[] = [];
  for (const body of batch.newBodies) {
    if (!leaves.keepsBodies(body.createdAt)) continue;
    if (body.mayExist) existing.push(body);
    else addBody(copies, body);
  }
  for (const delivery of changed)
    addFailing(copies, delivery, {
      merchant: batch.events.states[delivery.event]?.merchant ?? null,
      before: batch.deliveries.statusBefore.get(delivery.seq),
    });
  await copies.write(tx);
  await updateEvents(tx, leaves, batch.events.states);
  await updateDeliveries(
    tx,
    leaves,
    changed.filter(({ isNew, isChanged }) => isChanged && !isNew),
  );
  await insertBodies(tx, existing);
  await removeFailing(tx, leaves, changed, batch.deliveries.statusBefore);
  await writeMissed(tx, batch.missed.list);
  tx.feed.push(...batch.feed);
}

/** Rows for COPY, by leaf. */
class Copies {
  readonly #leaves: Leaves;
  readonly #copies = new Map<string, { readonly into: string; readonly rows: CopyRows }>();

  constructor(leaves: Leaves) {
    this.#leaves = leaves;
  }

  row(kind: LeafKind, createdAt: number): CopyRows {
    const leaf = this.#leaves.of(createdAt);
    const name = `${kind}_${leaf.suffix}`;
    let copy = this.#copies.get(name);
    if (!copy) {
      copy = { into: intoLeaf(kind, leaf), rows: new CopyRows(LEAF_COLUMNS[kind].length) };
      this.#copies.set(name, copy);
    }
    return copy.rows.row();
  }

  async write(tx: Transaction): Promise<void> {
    for (const { into, rows } of this.#copies.values()) await tx.copy(into, rows);
  }
}

function addEvent(copies: Copies, state: EventState): void {
  const { row } = state;
  if (!row) return;
  copies
    .row('event', state.createdAt)
    .bigint(row.seq)
    .bigint(state.createdAt)
    .int(state.merchant)
    .id(state.eventId)
    .id(state.entityId)
    .smallint(row.entityKind)
    .smallint(state.type)
    .text(state.subType)
    .float8(state.occurredAt)
    .smallint(row.simulated)
    .float8(row.routedAt)
    .bigint(row.removedAt)
    .text(JSON.stringify(row.trace))
    .id(row.publishedBy)
    .id(state.subjectId)
    .bigint(state.sequence);
}

function addDelivery(copies: Copies, d: Delivery, event: EventState | undefined): void {
  if (!event) throw new Error(`the delivery ${d.deliveryId} has no event`);
  copies
    .row('delivery', d.createdAt)
    .bigint(d.seq)
    .bigint(d.createdAt)
    .id(d.deliveryId)
    .id(event.eventId)
    .id(event.entityId)
    .float8(event.occurredAt)
    .float8(d.nextAttemptAt)
    .float8(d.lastAttemptAt)
    .int(event.merchant)
    .int(d.endpoint)
    .smallint(d.type)
    .smallint(d.apiVersion)
    .smallint(d.trigger)
    .smallint(d.status)
    .smallint(d.cancelReason)
    .smallint(d.attemptsMade)
    .smallint(d.attemptsMax)
    .smallint(d.lastResponseStatus)
    .smallint(d.lastFailureCode)
    .smallint(d.parked)
    .smallint(d.isRemoved)
    .text(event.subType)
    .id(event.subjectId)
    .bigint(event.sequence);
}

function addAttempt(copies: Copies, attempt: Batch['attempts']['list'][number]): void {
  const { response } = attempt;
  copies
    .row('attempt', attempt.createdAt)
    .bigint(attempt.attemptId)
    .bigint(attempt.createdAt)
    .float8(attempt.startedAt)
    .float8(attempt.durationMs)
    .float8(attempt.nextAttemptAt)
    .smallint(response?.status ?? null)
    .smallint(attempt.failureCode)
    .smallint(response ? Number(response.bodyTruncated) : null)
    .text(attempt.failureDetail)
    .text(response ? JSON.stringify(response.headers) : null)
    .text(attempt.signature);
}

function addBody(copies: Copies, { owner, createdAt, kind, n, bytes }: NewBody): void {
  const row = copies
    .row('body', createdAt)
    .bigint(owner)
    .bigint(createdAt)
    .smallint(kind)
    .smallint(n)
    .smallint(0);
  if (typeof bytes === 'string') row.utf8(bytes);
  else row.bytea(bytes);
}

/** Adds a delivery whose status has become one of those that `failing` lists. */
function addFailing(
  copies: Copies,
  d: Delivery,
  { merchant, before }: { readonly merchant: number | null; readonly before: number | undefined },
): void {
  if (d.status === before || !isFailing(d.status)) return;
  copies
    .row('failing', d.createdAt)
    .int(merchant)
    .int(d.endpoint)
    .smallint(d.status)
    .bigint(d.createdAt)
    .bigint(d.seq)
    .id(d.deliveryId);
}

function isFailing(status: number): boolean {
  return status > STATUS.of.delivered;
}

async function removeFailing(
  tx: Transaction,
  leaves: Leaves,
  changed: readonly Delivery[],
  statusBefore: ReadonlyMap<number, number>,
): Promise<void> {
  const gone = changed.flatMap(({ seq, createdAt, status }) => {
    const before = statusBefore.get(seq);
    return before === undefined || before === status || !isFailing(before)
      ? []
      : [{ seq, createdAt, before }];
  });
  for (const [suffix, ofLeaf] of leaves.group(gone))
    await tx.change(
      `DELETE FROM failing_${suffix} f USING unnest($1::bigint[], $2::smallint[]) AS g (seq, status)
       WHERE f.seq = g.seq AND f.status = g.status`,
      [ofLeaf.map(({ seq }) => seq), ofLeaf.map(({ before }) => before)],
    );
}

/** By id: there is no index of an event's number. */
async function updateEvents(tx: Transaction, leaves: Leaves, states: readonly EventState[]): Promise<void> {
  const changed = states.flatMap(({ row, ...event }) =>
    row?.isChanged && !row.isNew ? [{ ...event, ...row }] : [],
  );
  for (const [suffix, ofLeaf] of leaves.group(changed))
    await tx.change(
      `UPDATE event_${suffix} e SET entity_kind = u.entity_kind, simulated = u.simulated, trace = u.trace
       FROM unnest($1::bytea[], $2::int[], $3::smallint[], $4::smallint[], $5::text[])
       AS u (event_id, merchant, entity_kind, simulated, trace)
       WHERE e.event_id = u.event_id AND e.merchant = u.merchant`,
      [
        arrayOf(
          'id',
          ofLeaf.map(({ eventId }) => eventId),
        ),
        ofLeaf.map(({ merchant }) => merchant),
        ofLeaf.map(({ entityKind }) => entityKind),
        ofLeaf.map(({ simulated }) => simulated),
        ofLeaf.map(({ trace }) => JSON.stringify(trace)),
      ],
    );
}

async function insertBodies(tx: Transaction, bodies: readonly NewBody[]): Promise<void> {
  for (const { owner, createdAt, kind, n, bytes } of bodies)
    await tx.change(
      `INSERT INTO body (owner, created_at, kind, n, codec, bytes) SELECT $1, $2, $3, $4, 0, $5
       WHERE NOT EXISTS (SELECT 1 FROM body WHERE owner = $1 AND created_at = $2 AND kind = $3 AND n = $4)`,
      [owner, createdAt, kind, n, Buffer.from(bytes)],
    );
}
