import { NO_SEQUENCE } from '../../../domain/catalog/sequence.ts';
import type { DeliveryHead, Routed } from '../../../domain/journal.ts';
import { API_VERSION, ENTITY_KIND, EVENT_TYPE } from '../../log/codes.ts';
import type { ErasureOrders } from '../../log/erasure-orders.ts';
import type { Completed, LogEvents } from '../../log/log-rows.ts';
import { isPassedOver } from '../../log/missed.ts';
import { mergedTrace, type TraceLine, withdrawn } from '../../log/trace-lines.ts';
import { BODY_KIND, type NewBody } from './bodies.ts';
import type { MissedChanges } from './missed-changes.ts';
import type { Numbers } from './numbers.ts';

/** An event while a batch changes it. */
export interface EventState {
  readonly eventId: string;
  readonly merchant: number;
  readonly entityId: string;
  readonly subjectId: string | null;
  readonly sequence: number;
  readonly type: number;
  readonly subType: string;
  readonly occurredAt: number;
  /** When it was accepted, whole milliseconds. Of one without a row: as its delivery says, which may be later. */
  readonly createdAt: number;
  /** Null: no row is known. */
  row: EventRowState | null;
}

interface EventRowState {
  readonly seq: number;
  entityKind: number;
  simulated: number;
  readonly routedAt: number;
  readonly removedAt: number | null;
  trace: readonly TraceLine[];
  /** Written with a new row: an event that is routed again keeps the first. */
  readonly publishedBy: string | null;
  isNew: boolean;
  isChanged: boolean;
}

/** An event as the database has it. */
export interface StoredEventRow {
  readonly seq: number;
  readonly created_at: number;
  readonly merchant: number;
  readonly eventId: string;
  readonly entityId: string;
  readonly subjectId: string | null;
  readonly sequence: number;
  readonly entity_kind: number;
  readonly type: number;
  readonly sub_type: string;
  readonly occurred_at: number;
  readonly simulated: number;
  readonly routed_at: number;
  readonly removed_at: number | null;
  readonly trace: string;
}

interface Deps {
  readonly numbers: Numbers;
  readonly erasures: ErasureOrders;
  readonly missed: MissedChanges;
  /** Bodies of events that were read, by the event's number and the code of the version. */
  readonly bodies: ReadonlyMap<number, ReadonlyMap<number, Buffer>>;
}

/** The events of one batch. The fold knows each by its place in this list. */
export class BatchEvents implements LogEvents {
  readonly #deps: Deps;
  readonly states: EventState[] = [];
  readonly #places = new Map<string, number>();
  readonly newBodies: NewBody[] = [];

  constructor(deps: Deps, stored: Iterable<StoredEventRow>) {
    this.#deps = deps;
    for (const row of stored) this.#add(toState(row));
  }

  find(eventId: string, merchant: number): number | undefined {
    const place = this.#places.get(keyOf(eventId, merchant));
    return place !== undefined && this.#at(place).row ? place : undefined;
  }

  insert(
    { at, acceptedAt, event, subjectId, bodies }: Routed,
    merchant: number,
    trace: readonly TraceLine[],
  ): { readonly seq: number; readonly isRemoved: boolean } {
    const { eventId, entityId } = event;
    const createdAt = Math.floor(acceptedAt);
    const isRemoved = this.#deps.erasures.covers(entityId, merchant, createdAt);
    const seq = this.#deps.numbers.take();
    const row: EventRowState = {
      seq,
      entityKind: ENTITY_KIND.of[event.entityKind],
      simulated: event.simulated ? 1 : 0,
      routedAt: at,
      removedAt: isRemoved ? Math.floor(at) : null,
      trace,
      publishedBy: event.publishedBy ?? null,
      isNew: true,
      isChanged: false,
    };
    const place = this.#add({
      eventId,
      merchant,
      entityId,
      subjectId,
      sequence: event.sequence ?? NO_SEQUENCE,
      type: EVENT_TYPE.of[event.type],
      subType: event.subType,
      occurredAt: event.occurredAt,
      createdAt,
      row,
    });
    if (!isRemoved) this.#addBodies(seq, createdAt, event.data, bodies, false);
    for (const line of trace)
      if (isPassedOver(line[1])) this.#deps.missed.skip(line[0], { eventId, createdAt });
    return { seq: place, isRemoved };
  }

  complete(place: number, { event, bodies }: Routed, lines: readonly TraceLine[]): Completed {
    const { createdAt, eventId, row } = this.#at(place);
    if (!row) throw new Error('an event without a row cannot be routed again');
    const known = row.trace;
    const trace = mergedTrace(known, lines);
    row.trace = trace;
    row.entityKind = ENTITY_KIND.of[event.entityKind];
    row.simulated = event.simulated ? 1 : 0;
    row.isChanged = true;
    // Removed bodies do not return with a repeat.
    if (row.removedAt === null) this.#addBodies(row.seq, createdAt, event.data, bodies, true);
    for (const line of trace) {
      if (isPassedOver(line[1])) this.#deps.missed.skip(line[0], { eventId, createdAt });
      else if (line[1] === 0) this.#deps.missed.removePassed(line[0], { eventId, createdAt });
    }
    const changed = trace.flatMap((line, index) => (line[1] === known[index]?.[1] ? [] : [index]));
    return { isFirst: false, changed, withdrawn: withdrawn(known, lines) };
  }

  ofDelivery(head: DeliveryHead, merchant: number, createdAt: number): number {
    const { eventId, entityId, subjectId, sequence, subType, occurredAt } = head;
    const type = EVENT_TYPE.of[head.type];
    const ids = { eventId, merchant, entityId, subjectId, sequence };
    return this.ofStored({ ...ids, type, subType, occurredAt, createdAt });
  }

  /** Returns the event of a delivery that was read. */
  ofStored(event: Omit<EventState, 'row'>): number {
    const { eventId, merchant } = event;
    return this.#places.get(keyOf(eventId, merchant)) ?? this.#add({ ...event, row: null });
  }

  /** Leaves are kept or dropped whole: a delivery does not keep its event. */
  touch(): void {}

  isRemoved(place: number): boolean {
    const { row, entityId, merchant, createdAt } = this.#at(place);
    return row ? row.removedAt !== null : this.#deps.erasures.covers(entityId, merchant, createdAt);
  }

  body(place: number, apiVersion: number): Buffer | undefined {
    const { row } = this.#at(place);
    return row
      ? (this.#deps.bodies.get(row.seq)?.get(apiVersion) ?? this.#newBody(row.seq, apiVersion))
      : undefined;
  }

  replayed(place: number, endpoint: number, deliveryId: string, apiVersion: number): void {
    const { row } = this.#at(place);
    if (!row) return;
    const at = row.trace.findIndex((line) => line[0] === endpoint && line[1] !== 0);
    if (at < 0) return;
    const lines = [...row.trace];
    lines[at] = [endpoint, 0, deliveryId, apiVersion, 1, lines[at]?.[1] ?? 0];
    row.trace = lines;
    row.isChanged = true;
  }

  #addBodies(
    seq: number,
    createdAt: number,
    data: string,
    bodies: Routed['bodies'],
    mayExist: boolean,
  ): void {
    this.newBodies.push({ owner: seq, createdAt, kind: BODY_KIND.data, n: 0, bytes: data, mayExist });
    for (const { apiVersion, body: bytes } of bodies) {
      const n = API_VERSION.of[apiVersion];
      this.newBodies.push({ owner: seq, createdAt, kind: BODY_KIND.event, n, bytes, mayExist });
    }
  }

  #newBody(seq: number, apiVersion: number): Buffer | undefined {
    const found = this.newBodies.find(
      ({ owner, kind, n }) => owner === seq && kind === BODY_KIND.event && n === apiVersion,
    );
    return found && Buffer.from(found.bytes);
  }

  #add(state: EventState): number {
    const place = this.states.push(state) - 1;
    this.#places.set(keyOf(state.eventId, state.merchant), place);
    return place;
  }

  #at(place: number): EventState {
    const state = this.states[place];
    if (!state) throw new Error(`the batch has no event ${place}`);
    return state;
  }
}

function keyOf(eventId: string, merchant: number): string {
  return `${merchant} ${eventId}`;
}

function toState(row: StoredEventRow): EventState {
  return {
    eventId: row.eventId,
    merchant: row.merchant,
    entityId: row.entityId,
    subjectId: row.subjectId,
    sequence: row.sequence,
    type: row.type,
    subType: row.sub_type,
    occurredAt: row.occurred_at,
    createdAt: row.created_at,
    row: {
      seq: row.seq,
      entityKind: row.entity_kind,
      simulated: row.simulated,
      routedAt: row.routed_at,
      removedAt: row.removed_at,
      trace: JSON.parse(row.trace) as TraceLine[],
      publishedBy: null,
      isNew: false,
      isChanged: false,
    },
  };
}
