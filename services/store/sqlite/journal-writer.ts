import type { Database } from 'better-sqlite3';
import { ATTEMPTS_MAX } from '../../domain/retry.ts';
import { FAILURE_CODE, STATUS, TRIGGER } from './codes.ts';
import {
  ATTEMPTS_PER_DELIVERY,
  applyAttempt,
  applyCancel,
  applyParked,
  countsForHealth,
  type Delivery,
  DeliveryRows,
} from './delivery-rows.ts';
import type { EndpointHealth } from './endpoint-health.ts';
import { EventRows, type TraceLine } from './event-rows.ts';
import { type DeliveredLine, type Head, JournalReader, type RoutedEvent } from './journal-reader.ts';
import { ENTRY_KIND, FIRST_MENTION, type JournalWire, OUTCOME } from './journal-wire.ts';
import { isOwn, MissedRows } from './missed-rows.ts';
import type { Names } from './names.ts';

/** The status after an attempt. A refused (410) delivery has ended like an exhausted one; its failure code differs. */
const STATUS_AFTER: Readonly<Record<number, number>> = {
  [OUTCOME.delivered]: STATUS.of.delivered,
  [OUTCOME.retry]: STATUS.of.failed,
  [OUTCOME.exhausted]: STATUS.of.exhausted,
  [OUTCOME.refused]: STATUS.of.exhausted,
};

/**
 * Applies journal batches: events, deliveries, attempts, the endpoints' health and the position, in the caller's
 * transaction. Deliveries are folded in memory and written once in their last state; attempts are written as they come.
 */
export class JournalWriter {
  readonly events: EventRows;
  readonly deliveries: DeliveryRows;
  readonly missed: MissedRows;
  readonly #names: Names;
  readonly #health: EndpointHealth;
  readonly #insertAttempt;
  readonly #position;
  readonly #setPosition;
  /** The current batch's deliveries, by ordinal: a head until an entry that counts needs the delivery. */
  #mentioned: (Head | Delivery)[] = [];

  constructor(db: Database, names: Names, health: EndpointHealth) {
    this.#names = names;
    this.#health = health;
    this.missed = new MissedRows(db);
    this.events = new EventRows(db, this.missed);
    this.deliveries = new DeliveryRows(db);
    this.#insertAttempt = db.prepare(
      `INSERT OR IGNORE INTO attempt VALUES (${Array(11).fill('?').join(', ')})`,
    );
    this.#position = db.prepare('SELECT last FROM journal_position WHERE partition = ?').pluck();
    this.#setPosition = db.prepare('INSERT OR REPLACE INTO journal_position VALUES (?, ?)');
  }

  apply(wire: JournalWire): void {
    const { partition, first, last, positions } = wire.position;
    const stored = this.#position.get(partition) as number | undefined;
    if (stored !== undefined && last <= stored) return;
    const reader = new JournalReader(wire);
    this.#mentioned = [];
    for (let index = 0; index < wire.count; index += 1) {
      // Of a batch that was applied in part, the old part is only read for its heads.
      const isNew = stored === undefined || (positions?.[index] ?? first + index) > stored;
      this.#entry(reader, isNew);
    }
    for (const delivery of this.#mentioned) if ('seq' in delivery) this.deliveries.write(delivery);
    this.#health.flush();
    this.#setPosition.run(partition, last);
    this.events.index.write();
    this.deliveries.index.write();
  }

  committed(): void {
    this.events.index.committed();
    this.deliveries.index.committed();
  }

  rolledBack(): void {
    this.events.index.rolledBack();
    this.deliveries.index.rolledBack();
    this.events.erasures.readAll();
    this.deliveries.forgetPending();
  }

  #entry(reader: JournalReader, isNew: boolean): void {
    const kind = reader.number();
    if (kind === ENTRY_KIND.routed) this.#routed(reader, isNew);
    else if (kind === ENTRY_KIND.requested) this.#requested(reader, isNew);
    else if (kind === ENTRY_KIND.attempted) this.#attempted(reader, isNew);
    else if (kind === ENTRY_KIND.cancelled) this.#cancelled(reader, isNew);
    else this.#parked(reader, isNew);
  }

  #routed(reader: JournalReader, isNew: boolean): void {
    const event = reader.routed();
    const merchant = this.#names.merchant(event.merchantId);
    const trace: TraceLine[] = [];
    const mentioned: (number | Head)[] = [];
    for (const line of event.lines) {
      const endpoint = this.#names.endpoint(line.endpointId, merchant);
      if (line.kind === 'skipped') {
        trace.push([endpoint, line.reason]);
        continue;
      }
      trace.push([endpoint, 0, line.deliveryId, line.apiVersion]);
      mentioned.push(line.ordinal === FIRST_MENTION ? headOf(event, line) : line.ordinal);
    }
    if (!isNew) {
      for (const delivery of mentioned) this.#mention(delivery);
      return;
    }
    const known = this.events.find(event.eventId, merchant);
    if (known === undefined) {
      const made = this.events.insert(event, merchant, trace);
      // The event is new, so are its deliveries: an attempt recorded first would have created the event's row.
      for (const delivery of mentioned) this.#newDelivery(delivery, made, merchant);
    } else {
      this.events.complete(known, event, trace);
      for (const delivery of mentioned) this.#delivery(delivery);
    }
  }

  #requested(reader: JournalReader, isNew: boolean): void {
    const at = Math.floor(reader.number());
    const mentioned = reader.delivery();
    const body = reader.bytes(reader.number());
    if (!isNew) {
      this.#mention(mentioned);
      return;
    }
    const delivery = this.#delivery(mentioned);
    this.deliveries.setCreated(delivery, at);
    this.events.touch(delivery.event, at);
    if (delivery.isRemoved === 1) return;
    const known = this.events.body(delivery.event, delivery.apiVersion);
    if (known === undefined || !known.equals(body)) this.deliveries.addBody(delivery, body);
    // A replay made the event's own delivery, which was skipped before.
    if (!isOwn(delivery)) return;
    this.missed.begin(delivery);
    this.events.replayed(delivery.event, delivery.endpoint, delivery.deliveryId, delivery.apiVersion);
  }

  #attempted(reader: JournalReader, isNew: boolean): void {
    const mentioned = reader.delivery();
    const number = reader.number();
    const endpointVersion = reader.number();
    const startedAt = reader.number();
    const durationMs = reader.number();
    const outcome = reader.number();
    const nextAttemptAt = reader.numberOrNull();
    const failureCode = reader.numberOrNull();
    const detail = reader.textOrNull();
    const signature = reader.text();
    const responseStatus = reader.numberOrNull();
    const hasResponse = responseStatus !== null;
    const headers = hasResponse ? reader.text() : null;
    const bodyLength = hasResponse ? reader.number() : 0;
    const truncated = hasResponse ? reader.number() : null;
    const body = hasResponse ? reader.bytes(bodyLength) : null;
    if (!isNew) {
      this.#mention(mentioned);
      return;
    }
    const delivery = this.#delivery(mentioned);
    const id = delivery.seq * ATTEMPTS_PER_DELIVERY + number;
    const bodyKept = delivery.isRemoved === 1 ? null : body;
    const inserted = this.#insertAttempt.run(
      id,
      startedAt,
      durationMs,
      responseStatus,
      headers,
      bodyKept,
      truncated,
      failureCode,
      detail,
      nextAttemptAt,
      signature,
    );
    // The attempt is known: a crash repeated it under the same number, and its first record wins.
    if (inserted.changes === 0) return;
    const status = STATUS_AFTER[outcome] ?? STATUS.of.failed;
    const before = delivery.status;
    applyAttempt(delivery, { number, startedAt, status, nextAttemptAt, responseStatus, failureCode });
    this.missed.follow(delivery, before);
    if (!countsForHealth(delivery)) return;
    const endedAt = startedAt + durationMs;
    this.#health.observe(
      delivery.endpointId,
      endpointVersion,
      failureCode === null
        ? { kind: 'success', endedAt }
        : {
            kind: 'failure',
            endedAt,
            code: FAILURE_CODE.word(failureCode),
            responseStatus,
            isLast: outcome !== OUTCOME.retry,
          },
    );
  }

  #cancelled(reader: JournalReader, isNew: boolean): void {
    const mentioned = reader.delivery();
    const attempt = reader.number();
    const reason = reader.number();
    if (!isNew) {
      this.#mention(mentioned);
      return;
    }
    const delivery = this.#delivery(mentioned);
    const before = delivery.status;
    applyCancel(delivery, attempt, reason);
    this.missed.follow(delivery, before);
  }

  #parked(reader: JournalReader, isNew: boolean): void {
    const mentioned = reader.delivery();
    const attempt = reader.number();
    const reason = reader.number();
    const until = reader.number();
    if (isNew) applyParked(this.#delivery(mentioned), attempt, reason, until);
    else this.#mention(mentioned);
  }

  /** Gives a first mention its ordinal, without reading the file. */
  #mention(mentioned: number | Head): void {
    if (typeof mentioned !== 'number') this.#mentioned.push(mentioned);
  }

  /** Returns the delivery: from this batch, from the file, or new. */
  #delivery(mentioned: number | Head): Delivery {
    const known = typeof mentioned === 'number' ? this.#mentioned[mentioned] : mentioned;
    if (known === undefined)
      throw new Error(`a journal batch mentions delivery ${mentioned} it does not have`);
    if ('seq' in known) return known;
    const merchant = this.#names.merchant(known.merchantId);
    const delivery =
      this.deliveries.load(known.deliveryId, known.endpointId) ?? this.#begin(known, merchant, undefined);
    if (typeof mentioned === 'number') this.#mentioned[mentioned] = delivery;
    else this.#mentioned.push(delivery);
    return delivery;
  }

  #newDelivery(mentioned: number | Head, event: EventMade, merchant: number): void {
    if (typeof mentioned === 'number') this.#delivery(mentioned);
    else this.#mentioned.push(this.#begin(mentioned, merchant, event));
  }

  #begin(head: Head, merchant: number, made: EventMade | undefined): Delivery {
    const { deliveryId, endpointId, type, apiVersion, trigger, attemptsMax } = head;
    const createdAt = Math.floor(head.acceptedAt);
    const event = made?.seq ?? this.events.ofDelivery(head, merchant, createdAt);
    return this.deliveries.begin({
      deliveryId,
      endpointId,
      endpoint: this.#names.endpoint(endpointId, merchant),
      event,
      type,
      apiVersion,
      trigger,
      attemptsMax,
      createdAt,
      isRemoved: made?.isRemoved ?? this.events.isRemoved(event),
    });
  }
}

type EventMade = ReturnType<EventRows['insert']>;

/** Returns the head of a delivery made by routing. */
function headOf(event: Omit<RoutedEvent, 'lines'>, line: DeliveredLine): Head {
  return {
    deliveryId: line.deliveryId,
    eventId: event.eventId,
    merchantId: event.merchantId,
    endpointId: line.endpointId,
    entityId: event.entityId,
    type: event.type,
    subType: event.subType,
    apiVersion: line.apiVersion,
    trigger: TRIGGER.of.live,
    attemptsMax: ATTEMPTS_MAX,
    occurredAt: event.occurredAt,
    acceptedAt: event.acceptedAt,
  };
}
