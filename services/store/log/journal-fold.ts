import type {
  Attempted,
  Cancelled,
  DeliveryHead,
  JournalEntry,
  Parked,
  Requested,
  Routed,
} from '../../domain/journal.ts';
import type { CancelReason, Outcome } from '../../domain/outcome.ts';
import {
  API_VERSION,
  CANCEL_REASON,
  EVENT_TYPE,
  FAILURE_CODE,
  PARKED_REASON,
  SKIP_REASON,
  STATUS,
  TRIGGER,
} from './codes.ts';
import {
  ATTEMPTS_PER_DELIVERY,
  applyAttempt,
  applyCancel,
  applyParked,
  countsForHealth,
  type Delivery,
} from './delivery.ts';
import type { LogEvents, LogRows, Observed } from './log-rows.ts';
import { isOwn } from './missed.ts';
import { headOf } from './routed-head.ts';
import { OUTCOME } from './tally/tallies.ts';
import { cancelReasonOf, type TraceLine, type Withdrawn } from './trace-lines.ts';

const STATUS_AFTER: Readonly<Record<Outcome['kind'], number>> = {
  delivered: STATUS.of.delivered,
  retry: STATUS.of.failed,
  exhausted: STATUS.of.exhausted,
  refused: STATUS.of.refused,
};

/**
 * Works out what the entries of a journal batch make of an engine's rows: events, deliveries, attempts, the endpoints'
 * health, the tallies, the feed. Deliveries are folded in memory and written once in their last state; attempts are written as they
 * come.
 */
export class JournalFold {
  readonly #rows: LogRows;
  /** The current batch's deliveries by id. */
  readonly #batch = new Map<string, Delivery>();

  constructor(rows: LogRows) {
    this.#rows = rows;
  }

  /** Begins a batch. */
  begin(): void {
    this.#batch.clear();
  }

  /** The deliveries that the batch has read or made, each in its last state. */
  get deliveries(): Iterable<Delivery> {
    return this.#batch.values();
  }

  apply(entry: JournalEntry): void {
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
    const merchant = this.#rows.names.merchant(event.merchantId);
    const trace: TraceLine[] = [];
    const heads: DeliveryHead[] = [];
    for (const line of entry.trace) {
      const endpoint = this.#rows.names.endpoint(line.endpointId, merchant);
      if (line.verdict !== 'delivered_to') {
        trace.push([endpoint, SKIP_REASON.of[line.verdict]]);
        continue;
      }
      trace.push([endpoint, 0, line.deliveryId, API_VERSION.of[line.apiVersion]]);
      heads.push(headOf(entry, line));
    }
    const known = this.#rows.events.find(event.eventId, merchant);
    if (known === undefined) {
      const made = this.#rows.events.insert(entry, merchant, trace);
      for (const head of heads) {
        // An attempt that came first has made it: in an earlier batch, or in this one.
        const earlier = this.#batch.get(head.deliveryId) ?? this.#rows.deliveries.ofNewEvent(head.deliveryId);
        this.#batch.set(head.deliveryId, earlier ?? this.#begin(head, merchant, made));
      }
      this.#rows.feed.add(event.merchantId, 'routed', { ref: made.seq, detail: trace.length, at: entry.at });
    } else {
      const { isFirst, changed, withdrawn } = this.#rows.events.complete(known, entry, trace);
      for (const head of heads) this.#delivery(head);
      for (const one of withdrawn) this.#withdraw(one, entry);
      const row = { ref: known, at: entry.at };
      if (isFirst) this.#rows.feed.add(event.merchantId, 'routed', { ...row, detail: trace.length });
      else for (const detail of changed) this.#rows.feed.add(event.merchantId, 'line', { ...row, detail });
    }
  }

  /** Cancels a delivery that will not be attempted: the event was routed again, and not to its endpoint. */
  #withdraw({ deliveryId, endpoint, skipped }: Withdrawn, { event, at }: Routed): void {
    const endpointId = this.#rows.names.endpointId(endpoint);
    const delivery = this.#batch.get(deliveryId) ?? this.#rows.deliveries.load(deliveryId, endpointId);
    if (!delivery) return;
    this.#batch.set(deliveryId, delivery);
    this.#cancel(delivery, 1, cancelReasonOf(skipped), { merchantId: event.merchantId, at });
  }

  #requested({ at, delivery: head, body }: Requested): void {
    const delivery = this.#delivery(head);
    const requestedAt = Math.floor(at);
    // Known with this time: a repeat after a crash.
    if (delivery.isNew || delivery.createdAt !== requestedAt)
      this.#rows.feed.add(head.merchantId, 'requested', { ref: delivery.seq, at });
    this.#rows.deliveries.setCreated(delivery, requestedAt);
    this.#rows.events.touch(delivery.event, requestedAt);
    if (delivery.isRemoved === 1) return;
    const known = this.#rows.events.body(delivery.event, delivery.apiVersion);
    if (known === undefined || !known.equals(body)) this.#rows.deliveries.addBody(delivery, body);
    // A replay made the event's own delivery, which was skipped before.
    if (!isOwn(delivery)) return;
    this.#rows.missed.begin(delivery);
    this.#rows.events.replayed(delivery.event, delivery.endpoint, delivery.deliveryId, delivery.apiVersion);
  }

  #attempted(entry: Attempted): void {
    const { startedAt, durationMs, outcome, response } = entry;
    const delivery = this.#delivery(entry.delivery);
    const number = entry.delivery.attempt;
    const nextAttemptAt = outcome.kind === 'retry' ? outcome.dueAt : null;
    const failureCode = entry.failureCode === null ? null : FAILURE_CODE.of[entry.failureCode];
    const responseStatus = response?.status ?? null;
    const attemptId = delivery.seq * ATTEMPTS_PER_DELIVERY + number;
    const isNew = this.#rows.attempts.add({
      attemptId,
      startedAt,
      durationMs,
      response,
      keepsBody: delivery.isRemoved === 0,
      failureCode,
      failureDetail: entry.failureDetail,
      nextAttemptAt,
      signature: entry.signature,
    });
    // The attempt is known: a crash repeated it under the same number, and its first record wins.
    if (!isNew) return;
    const at = startedAt + durationMs;
    this.#rows.feed.add(entry.delivery.merchantId, 'attempt', { ref: attemptId, at });
    const status = STATUS_AFTER[outcome.kind];
    const before = delivery.status;
    applyAttempt(delivery, { number, startedAt, status, nextAttemptAt, responseStatus, failureCode });
    this.#rows.missed.follow(delivery, before);
    this.#rows.tallies.count({
      endpoint: delivery.endpoint,
      type: delivery.type,
      startedAt,
      durationMs,
      outcome: OUTCOME[outcome.kind],
      failureCode: failureCode ?? 0,
    });
    if (countsForHealth(delivery.trigger)) this.#rows.health.observe(observationOf(entry));
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
      this.#rows.feed.add(merchantId, 'cancelled', { ref: delivery.seq, detail, at });
    this.#rows.missed.follow(delivery, before);
  }

  #parked({ delivery: head, reason, until }: Parked): void {
    applyParked(this.#delivery(head), head.attempt, PARKED_REASON.of[reason], until);
  }

  /** Returns the delivery: from this batch, from the store, or new. */
  #delivery(head: DeliveryHead): Delivery {
    const known = this.#batch.get(head.deliveryId);
    if (known) return known;
    const merchant = this.#rows.names.merchant(head.merchantId);
    const delivery =
      this.#rows.deliveries.load(head.deliveryId, head.endpointId) ?? this.#begin(head, merchant, undefined);
    this.#batch.set(head.deliveryId, delivery);
    return delivery;
  }

  #begin(head: DeliveryHead, merchant: number, made: EventMade | undefined): Delivery {
    const { deliveryId, endpointId, type, apiVersion, trigger, attemptsMax } = head;
    const createdAt = Math.floor(head.acceptedAt);
    const event = made?.seq ?? this.#rows.events.ofDelivery(head, merchant, createdAt);
    return this.#rows.deliveries.begin({
      deliveryId,
      endpointId,
      endpoint: this.#rows.names.endpoint(endpointId, merchant),
      event,
      type: EVENT_TYPE.of[type],
      apiVersion: API_VERSION.of[apiVersion],
      trigger: TRIGGER.of[trigger],
      attemptsMax,
      createdAt,
      isRemoved: made?.isRemoved ?? this.#rows.events.isRemoved(event),
    });
  }
}

type EventMade = ReturnType<LogEvents['insert']>;

/** Returns what an attempt says of its endpoint. */
export function observationOf({
  delivery,
  endpointVersion,
  startedAt,
  durationMs,
  outcome,
  failureCode,
  response,
}: Attempted): Observed {
  const endedAt = startedAt + durationMs;
  const { endpointId } = delivery;
  if (failureCode === null)
    return { endpointId, version: endpointVersion, seen: { kind: 'success', endedAt } };
  const responseStatus = response?.status ?? null;
  const isLast = outcome.kind !== 'retry';
  const seen = { kind: 'failure', endedAt, code: failureCode, responseStatus, isLast } as const;
  return { endpointId, version: endpointVersion, seen };
}
