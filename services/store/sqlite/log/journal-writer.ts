import type { Database } from 'better-sqlite3';
import type {
  Attempted,
  Cancelled,
  DeliveryHead,
  JournalEntry,
  Parked,
  Requested,
  Routed,
} from '../../../domain/journal.ts';
import type { CancelReason, Outcome } from '../../../domain/outcome.ts';
import {
  API_VERSION,
  CANCEL_REASON,
  EVENT_TYPE,
  FAILURE_CODE,
  PARKED_REASON,
  SKIP_REASON,
  STATUS,
  TRIGGER,
} from '../codes.ts';
import type { FeedWrites } from '../feed/feed-writes.ts';
import type { Names } from '../names.ts';
import { isOwn, MissedRows } from '../replays/missed-rows.ts';
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
import { EventRows } from './event-rows.ts';
import { decodeBatch, type JournalBatch } from './journal-batch.ts';
import { headOf } from './routed-head.ts';
import { cancelReasonOf, type TraceLine, type Withdrawn } from './trace-lines.ts';

const STATUS_AFTER: Readonly<Record<Outcome['kind'], number>> = {
  delivered: STATUS.of.delivered,
  retry: STATUS.of.failed,
  exhausted: STATUS.of.exhausted,
  refused: STATUS.of.refused,
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
  readonly #feed: FeedWrites;
  readonly #insertAttempt;
  readonly #position;
  readonly #setPosition;
  /** The current batch's deliveries by id. */
  readonly #batch = new Map<string, Delivery>();

  constructor(db: Database, names: Names, health: EndpointHealth, feed: FeedWrites) {
    this.#names = names;
    this.#feed = feed;
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

  apply(batch: JournalBatch): void {
    const { partition, first, last, positions } = batch.position;
    const stored = this.#position.get(partition) as number | undefined;
    if (stored !== undefined && last <= stored) return;
    this.#batch.clear();
    let index = 0;
    for (const entry of decodeBatch(batch)) {
      // A batch may have been applied in part.
      if (stored === undefined || (positions?.[index] ?? first + index) > stored) this.#entry(entry);
      index += 1;
    }
    for (const delivery of this.#batch.values()) this.deliveries.write(delivery);
    this.events.contents.flush();
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
    this.events.contents.rolledBack();
    this.events.erasures.readAll();
    this.deliveries.forgetPending();
  }

  #entry(entry: JournalEntry): void {
    switch (entry.kind) {
      case 'routed':
        this.#routed(entry);
        break;
      case 'requested':
        this.#requested(entry);
        break;
      case 'attempted':
        this.#attempted(entry);
        break;
      case 'cancelled':
        this.#cancelled(entry);
        break;
      case 'parked':
        this.#parked(entry);
        break;
    }
  }

  #routed(entry: Routed): void {
    const { event } = entry;
    const merchant = this.#names.merchant(event.merchantId);
    const trace: TraceLine[] = [];
    const heads: DeliveryHead[] = [];
    for (const line of entry.trace) {
      const endpoint = this.#names.endpoint(line.endpointId, merchant);
      if (line.verdict !== 'delivered_to') {
        trace.push([endpoint, SKIP_REASON.of[line.verdict]]);
        continue;
      }
      trace.push([endpoint, 0, line.deliveryId, API_VERSION.of[line.apiVersion]]);
      heads.push(headOf(entry, line));
    }
    const known = this.events.find(event.eventId, merchant);
    if (known === undefined) {
      const made = this.events.insert(entry, merchant, trace);
      // The event is new, so are its deliveries: an attempt recorded first would have created the event's row.
      for (const head of heads) this.#batch.set(head.deliveryId, this.#begin(head, merchant, made));
      this.#feed.add(event.merchantId, 'routed', { ref: made.seq, detail: trace.length, at: entry.at });
    } else {
      const { isFirst, changed, withdrawn } = this.events.complete(known, entry, trace);
      for (const head of heads) this.#delivery(head);
      for (const one of withdrawn) this.#withdraw(one, entry);
      const row = { ref: known, at: entry.at };
      if (isFirst) this.#feed.add(event.merchantId, 'routed', { ...row, detail: trace.length });
      else for (const detail of changed) this.#feed.add(event.merchantId, 'line', { ...row, detail });
    }
  }

  /** Cancels a delivery that will not be attempted: the event was routed again, and not to its endpoint. */
  #withdraw({ deliveryId, endpoint, skipped }: Withdrawn, { event, at }: Routed): void {
    const endpointId = this.#names.endpointId(endpoint);
    const delivery = this.#batch.get(deliveryId) ?? this.deliveries.load(deliveryId, endpointId);
    if (!delivery) return;
    this.#batch.set(deliveryId, delivery);
    this.#cancel(delivery, 1, cancelReasonOf(skipped), { merchantId: event.merchantId, at });
  }

  #requested({ at, delivery: head, body }: Requested): void {
    const delivery = this.#delivery(head);
    const requestedAt = Math.floor(at);
    // Known with this time: a repeat after a crash.
    if (delivery.isNew || delivery.createdAt !== requestedAt)
      this.#feed.add(head.merchantId, 'requested', { ref: delivery.seq, at });
    this.deliveries.setCreated(delivery, requestedAt);
    this.events.touch(delivery.event, requestedAt);
    if (delivery.isRemoved === 1) return;
    const known = this.events.body(delivery.event, delivery.apiVersion);
    if (known === undefined || !known.equals(body)) this.deliveries.addBody(delivery, body);
    // A replay made the event's own delivery, which was skipped before.
    if (!isOwn(delivery)) return;
    this.missed.begin(delivery);
    this.events.replayed(delivery.event, delivery.endpoint, delivery.deliveryId, delivery.apiVersion);
  }

  #attempted(entry: Attempted): void {
    const { startedAt, durationMs, outcome, response } = entry;
    const delivery = this.#delivery(entry.delivery);
    const number = entry.delivery.attempt;
    const nextAttemptAt = outcome.kind === 'retry' ? outcome.dueAt : null;
    const failureCode = entry.failureCode === null ? null : FAILURE_CODE.of[entry.failureCode];
    const responseStatus = response?.status ?? null;
    const attemptId = delivery.seq * ATTEMPTS_PER_DELIVERY + number;
    const inserted = this.#insertAttempt.run(
      attemptId,
      startedAt,
      durationMs,
      responseStatus,
      response ? JSON.stringify(response.headers) : null,
      response && delivery.isRemoved === 0 ? response.body : null,
      response ? Number(response.bodyTruncated) : null,
      failureCode,
      entry.failureDetail,
      nextAttemptAt,
      entry.signature,
    );
    // The attempt is known: a crash repeated it under the same number, and its first record wins.
    if (inserted.changes === 0) return;
    const at = startedAt + durationMs;
    this.#feed.add(entry.delivery.merchantId, 'attempt', { ref: attemptId, at });
    const status = STATUS_AFTER[outcome.kind];
    const before = delivery.status;
    applyAttempt(delivery, { number, startedAt, status, nextAttemptAt, responseStatus, failureCode });
    this.missed.follow(delivery, before);
    if (countsForHealth(delivery)) this.#observe(entry);
  }

  #observe({
    delivery,
    endpointVersion,
    startedAt,
    durationMs,
    outcome,
    failureCode,
    response,
  }: Attempted): void {
    const endedAt = startedAt + durationMs;
    this.#health.observe(
      delivery.endpointId,
      endpointVersion,
      failureCode === null
        ? { kind: 'success', endedAt }
        : {
            kind: 'failure',
            endedAt,
            code: failureCode,
            responseStatus: response?.status ?? null,
            isLast: outcome.kind !== 'retry',
          },
    );
  }

  #cancelled({ at, delivery: head, reason }: Cancelled): void {
    this.#cancel(this.#delivery(head), head.attempt, reason, { merchantId: head.merchantId, at });
  }

  #cancel(
    delivery: Delivery,
    attempt: number,
    reason: CancelReason,
    { merchantId, at }: { readonly merchantId: string; readonly at: number },
  ): void {
    const before = delivery.status;
    const detail = CANCEL_REASON.of[reason];
    applyCancel(delivery, attempt, detail);
    if (delivery.status !== before)
      this.#feed.add(merchantId, 'cancelled', { ref: delivery.seq, detail, at });
    this.missed.follow(delivery, before);
  }

  #parked({ delivery: head, reason, until }: Parked): void {
    applyParked(this.#delivery(head), head.attempt, PARKED_REASON.of[reason], until);
  }

  /** Returns the delivery: from this batch, from the file, or new. */
  #delivery(head: DeliveryHead): Delivery {
    const known = this.#batch.get(head.deliveryId);
    if (known) return known;
    const merchant = this.#names.merchant(head.merchantId);
    const delivery =
      this.deliveries.load(head.deliveryId, head.endpointId) ?? this.#begin(head, merchant, undefined);
    this.#batch.set(head.deliveryId, delivery);
    return delivery;
  }

  #begin(head: DeliveryHead, merchant: number, made: EventMade | undefined): Delivery {
    const { deliveryId, endpointId, type, apiVersion, trigger, attemptsMax } = head;
    const createdAt = Math.floor(head.acceptedAt);
    const event = made?.seq ?? this.events.ofDelivery(head, merchant, createdAt);
    return this.deliveries.begin({
      deliveryId,
      endpointId,
      endpoint: this.#names.endpoint(endpointId, merchant),
      event,
      type: EVENT_TYPE.of[type],
      apiVersion: API_VERSION.of[apiVersion],
      trigger: TRIGGER.of[trigger],
      attemptsMax,
      createdAt,
      isRemoved: made?.isRemoved ?? this.events.isRemoved(event),
    });
  }
}

type EventMade = ReturnType<EventRows['insert']>;
