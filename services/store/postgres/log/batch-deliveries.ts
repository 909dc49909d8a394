import { ATTEMPTS_PER_DELIVERY, type Delivery, type NewDelivery, newDelivery } from '../../log/delivery.ts';
import type { LogAttempts, LogDeliveries, NewAttempt } from '../../log/log-rows.ts';
import { BODY_KIND, type NewBody } from './bodies.ts';
import type { Numbers } from './numbers.ts';

/** The deliveries of one batch: those that were read, and new ones. */
export class BatchDeliveries implements LogDeliveries {
  readonly #numbers: Numbers;
  readonly #stored: ReadonlyMap<string, Delivery>;
  /** The status of each delivery that was read, as the database has it. */
  readonly statusBefore = new Map<number, number>();
  readonly #bySeq = new Map<number, Delivery>();
  readonly newBodies: NewBody[] = [];

  constructor(numbers: Numbers, stored: ReadonlyMap<string, Delivery>) {
    this.#numbers = numbers;
    this.#stored = stored;
    for (const delivery of stored.values()) {
      this.statusBefore.set(delivery.seq, delivery.status);
      this.#bySeq.set(delivery.seq, delivery);
    }
  }

  load(deliveryId: string): Delivery | undefined {
    return this.#stored.get(deliveryId);
  }

  ofNewEvent(deliveryId: string): Delivery | undefined {
    return this.#stored.get(deliveryId);
  }

  begin(made: NewDelivery): Delivery {
    const delivery = newDelivery(this.#numbers.take(), made);
    this.#bySeq.set(delivery.seq, delivery);
    return delivery;
  }

  /** Returns the delivery with this number. */
  withSeq(seq: number): Delivery | undefined {
    return this.#bySeq.get(seq);
  }

  /** A delivery that is stored keeps its time, which decides where its rows are. */
  setCreated(delivery: Delivery, at: number): void {
    if (delivery.isNew) delivery.createdAt = at;
  }

  addBody({ seq, createdAt }: Delivery, bytes: Uint8Array): void {
    this.newBodies.push({ owner: seq, createdAt, kind: BODY_KIND.own, n: 0, bytes, mayExist: true });
  }
}

export type WrittenAttempt = NewAttempt & { readonly createdAt: number };

/** The new attempts of one batch. */
export class BatchAttempts implements LogAttempts {
  readonly #known: Set<number>;
  readonly #deliveries: Pick<BatchDeliveries, 'withSeq'>;
  readonly list: WrittenAttempt[] = [];
  readonly newBodies: NewBody[] = [];

  /** `known`: the attempts of the batch that the database has. */
  constructor(known: Iterable<number>, deliveries: Pick<BatchDeliveries, 'withSeq'>) {
    this.#known = new Set(known);
    this.#deliveries = deliveries;
  }

  add(attempt: NewAttempt): boolean {
    const { attemptId, response, keepsBody } = attempt;
    if (this.#known.has(attemptId)) return false;
    this.#known.add(attemptId);
    const owner = Math.floor(attemptId / ATTEMPTS_PER_DELIVERY);
    const createdAt = this.#deliveries.withSeq(owner)?.createdAt ?? Number.NaN;
    this.list.push({ ...attempt, createdAt });
    if (response && keepsBody && response.body.length > 0) {
      const n = attemptId % ATTEMPTS_PER_DELIVERY;
      this.newBodies.push({ owner, createdAt, kind: BODY_KIND.response, n, bytes: response.body });
    }
    return true;
  }
}
