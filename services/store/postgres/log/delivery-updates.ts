import type { Delivery } from '../../log/delivery.ts';
import { ArrayValues } from '../client/array-values.ts';
import type { Transaction } from '../client/statements.ts';
import type { Leaves } from '../leaves/leaves.ts';

/** Writes the last state of deliveries that the database has: one statement for each leaf. */
export async function updateDeliveries(
  tx: Transaction,
  leaves: Leaves,
  deliveries: Iterable<Delivery>,
): Promise<void> {
  for (const [suffix, ofLeaf] of leaves.group(deliveries)) {
    const updates = new Updates();
    for (const delivery of ofLeaf) updates.add(delivery);
    await tx.change(updateOf(`delivery_${suffix}`), updates.parameters());
  }
}

const updateOf = (table: string) => `UPDATE ${table} d SET status = u.status, cancel_reason = u.cancel_reason,
  attempts_made = u.attempts_made, next_attempt_at = u.next_attempt_at, last_attempt_at = u.last_attempt_at,
  last_response_status = u.last_response_status, last_failure_code = u.last_failure_code, parked = u.parked
  FROM unnest($1::bytea[], $2::smallint[], $3::smallint[], $4::smallint[], $5::float8[], $6::float8[], $7::smallint[],
  $8::smallint[], $9::smallint[]) AS u (id, status, cancel_reason, attempts_made, next_attempt_at, last_attempt_at,
  last_response_status, last_failure_code, parked)
  WHERE d.delivery_id = u.id`;

/** The columns of the statement's rows. */
class Updates {
  readonly #id = new ArrayValues('id');
  readonly #status = new ArrayValues('smallint');
  readonly #cancelReason = new ArrayValues('smallint');
  readonly #attemptsMade = new ArrayValues('smallint');
  readonly #nextAttemptAt = new ArrayValues('float8');
  readonly #lastAttemptAt = new ArrayValues('float8');
  readonly #lastResponseStatus = new ArrayValues('smallint');
  readonly #lastFailureCode = new ArrayValues('smallint');
  readonly #parked = new ArrayValues('smallint');

  add(d: Delivery): void {
    this.#id.add(d.deliveryId);
    this.#status.add(d.status);
    this.#cancelReason.add(d.cancelReason);
    this.#attemptsMade.add(d.attemptsMade);
    this.#nextAttemptAt.add(d.nextAttemptAt);
    this.#lastAttemptAt.add(d.lastAttemptAt);
    this.#lastResponseStatus.add(d.lastResponseStatus);
    this.#lastFailureCode.add(d.lastFailureCode);
    this.#parked.add(d.parked);
  }

  parameters(): readonly Buffer[] {
    return [
      this.#id,
      this.#status,
      this.#cancelReason,
      this.#attemptsMade,
      this.#nextAttemptAt,
      this.#lastAttemptAt,
      this.#lastResponseStatus,
      this.#lastFailureCode,
      this.#parked,
    ].map((values) => values.end());
  }
}
