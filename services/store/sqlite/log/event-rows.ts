import type { Database } from 'better-sqlite3';
import { ViewedEvent } from '../../../codec/view/journal-view.ts';
import { NO_SEQUENCE } from '../../../domain/catalog/sequence.ts';
import type { DeliveryHead, Routed } from '../../../domain/journal.ts';
import { packId } from '../../../sqlite/ids.ts';
import { ENTITY_KIND, EVENT_TYPE } from '../../log/codes.ts';
import type { Completed } from '../../log/log-rows.ts';
import { isPassedOver } from '../../log/missed.ts';
import { mergedTrace, type TraceLine, withdrawn } from '../../log/trace-lines.ts';
import { ErasureRows } from '../maintenance/erasure-rows.ts';
import type { MissedRows } from '../replays/missed-rows.ts';
import { bodiesColumn, bodyOf, mergedBodies } from './bodies-column.ts';
import { ContentWrites } from './contents.ts';
import { IdIndex } from './id-index.ts';
import { ListIndex } from './list-index.ts';
import { nextSeq } from './next-seq.ts';

/** Writes the events of the log: the event, its bodies and its routing trace, once per event. */
export class EventRows {
  readonly index: IdIndex;
  readonly list: ListIndex;
  readonly contents: ContentWrites;
  readonly erasures: ErasureRows;
  #nextSeq: number;
  readonly #insert;
  readonly #complete;
  readonly #stored;
  readonly #bump;
  readonly #bodies;
  readonly #trace;
  readonly #setTrace;
  readonly #missed: MissedRows;
  readonly #isRemoved;

  constructor(db: Database, missed: MissedRows) {
    this.#missed = missed;
    this.index = new IdIndex(db, 'event');
    this.list = new ListIndex(db, 'event');
    this.contents = new ContentWrites(db);
    this.erasures = new ErasureRows(db);
    this.#nextSeq = nextSeq(db, 'event');
    this.#insert = db.prepare(`INSERT INTO event VALUES (${Array(19).fill('?').join(', ')})`);
    this.#complete = db.prepare(
      `UPDATE event SET entity_kind = ?, simulated = ?, routed_at = ?, trace = ?, data = ?, bodies = ?,
       published_by = coalesce(published_by, ?) WHERE seq = ?`,
    );
    this.#stored = db.prepare(
      `SELECT routed_at AS routedAt, created_at AS createdAt, trace, bodies,
       bodies_removed_at IS NOT NULL AS isRemoved FROM event WHERE seq = ?`,
    );
    this.#bump = db.prepare('UPDATE event SET last_at = ? WHERE seq = ? AND last_at < ?');
    this.#bodies = db.prepare('SELECT bodies FROM event WHERE seq = ?').pluck();
    this.#trace = db.prepare('SELECT trace FROM event WHERE seq = ?').pluck();
    this.#setTrace = db.prepare('UPDATE event SET trace = ? WHERE seq = ?');
    this.#isRemoved = db.prepare('SELECT bodies_removed_at IS NOT NULL FROM event WHERE seq = ?').pluck();
  }

  find(eventId: string, merchant: number): number | undefined {
    return this.index.find(merchant, eventId);
  }

  /** Inserts an event. If its entity was erased after it was accepted, it is kept without its bodies. */
  insert(
    { at, acceptedAt, event, subjectId, bodies }: Routed,
    merchant: number,
    lines: readonly TraceLine[],
  ): { seq: number; isRemoved: boolean } {
    const { eventId, entityId } = event;
    const trace = JSON.stringify(lines);
    const createdAt = Math.floor(acceptedAt);
    const seq = this.#nextSeq++;
    const id = packId(eventId);
    const entity = packId(entityId);
    const isRemoved = this.erasures.covers(entityId, merchant, createdAt);
    this.#insert.run(
      seq,
      id,
      merchant,
      entity,
      ENTITY_KIND.of[event.entityKind],
      EVENT_TYPE.of[event.type],
      event.subType,
      event.occurredAt,
      event.simulated ? 1 : 0,
      createdAt,
      createdAt,
      at,
      trace,
      null,
      null,
      isRemoved ? Math.floor(at) : null,
      packedPublisher(event),
      packedSubject(subjectId),
      event.sequence ?? NO_SEQUENCE,
    );
    if (!isRemoved) this.contents.add(seq, dataOf(event), bodies);
    this.index.add(merchant, eventId, seq);
    for (const line of lines) if (isPassedOver(line[1])) this.#missed.skip(line[0], createdAt, seq);
    return { seq, isRemoved };
  }

  /**
   * Returns the row of a delivery's event, created from the delivery when its routing was not recorded (yet, or it has
   * none).
   */
  ofDelivery(head: DeliveryHead, merchant: number, createdAt: number): number {
    const known = this.index.find(merchant, head.eventId);
    if (known !== undefined) {
      this.touch(known, createdAt);
      return known;
    }
    const seq = this.#nextSeq++;
    const simulated = 0;
    this.#insert.run(
      seq,
      packId(head.eventId),
      merchant,
      packId(head.entityId),
      null,
      EVENT_TYPE.of[head.type],
      head.subType,
      head.occurredAt,
      simulated,
      createdAt,
      createdAt,
      null,
      null,
      null,
      null,
      this.erasures.covers(head.entityId, merchant, createdAt) ? createdAt : null,
      null,
      packedSubject(head.subjectId),
      head.sequence,
    );
    this.index.add(merchant, head.eventId, seq);
    return seq;
  }

  /**
   * Completes an event's row. Its first routing fills it; a repeated one (after a crash, perhaps with other endpoints)
   * adds lines that the first did not have, and an endpoint once delivered to stays so.
   */
  complete(seq: number, { at, event, bodies }: Routed, lines: readonly TraceLine[]): Completed {
    const stored = this.#stored.get(seq) as StoredRouting;
    const known: readonly TraceLine[] = JSON.parse(stored.trace ?? '[]');
    const trace = mergedTrace(known, lines);
    const added = bodiesColumn(bodies);
    const packed = stored.bodies === null ? this.contents.of(seq)?.bodies : undefined;
    const before = packed ?? stored.bodies;
    const merged = before === null ? added : mergedBodies(before, added);
    // Removed bodies do not return with a repeat. A repeat without further bodies leaves the content where it is.
    const isKept = stored.isRemoved === 0 && packed?.length !== merged.length;
    this.#complete.run(
      ENTITY_KIND.of[event.entityKind],
      event.simulated ? 1 : 0,
      stored.routedAt ?? at,
      JSON.stringify(trace),
      isKept ? event.data : null,
      isKept ? merged : null,
      packedPublisher(event),
      seq,
    );
    for (const line of trace) {
      if (isPassedOver(line[1])) this.#missed.skip(line[0], stored.createdAt, seq);
      else if (line[1] === 0) this.#missed.removePassed(seq, line[0]);
    }
    const changed = trace.flatMap((line, index) => (line[1] === known[index]?.[1] ? [] : [index]));
    return { isFirst: stored.trace === null, changed, withdrawn: withdrawn(known, lines) };
  }

  /** Marks in the trace that a replay sends the event to an endpoint that was skipped. */
  replayed(seq: number, endpoint: number, deliveryId: string, apiVersion: number): void {
    const trace = this.#trace.get(seq) as string | null;
    const lines = JSON.parse(trace ?? '[]') as TraceLine[];
    const at = lines.findIndex((line) => line[0] === endpoint && line[1] !== 0);
    if (at < 0) return;
    lines[at] = [endpoint, 0, deliveryId, apiVersion, 1, lines[at]?.[1] ?? 0];
    this.#setTrace.run(JSON.stringify(lines), seq);
  }

  /** Records when a delivery of it was made: the event must be kept as long as that delivery. */
  touch(seq: number, at: number): void {
    this.#bump.run(at, seq, at);
  }

  /** Returns whether its bodies were removed: then none is kept of its deliveries either. */
  isRemoved(seq: number): boolean {
    return this.#isRemoved.get(seq) === 1;
  }

  /** Returns the event's body in an API version, if it has one. */
  body(seq: number, apiVersion: number): Buffer | undefined {
    const bodies = (this.#bodies.get(seq) as Buffer | null) ?? this.contents.of(seq)?.bodies;
    return bodies && bodyOf(bodies, apiVersion);
  }
}

/** Returns the event's data as bytes: without decoding it where the journal's entry has it. */
function dataOf(event: Routed['event']): Buffer {
  return event instanceof ViewedEvent ? event.dataBytes : Buffer.from(event.data);
}

function packedPublisher({ publishedBy }: Routed['event']): Buffer | string | null {
  return publishedBy === undefined ? null : packId(publishedBy);
}

function packedSubject(subjectId: string | null): Buffer | string | null {
  return subjectId === null ? null : packId(subjectId);
}

interface StoredRouting {
  readonly routedAt: number | null;
  readonly createdAt: number;
  readonly trace: string | null;
  readonly bodies: Buffer | null;
  readonly isRemoved: number;
}
