import type { JournalEntry } from './journal.ts';
import type { DeliveryTask } from './task.ts';

/** A delivery that no routing makes: a test, a resend, a replay, an operational notice. */
export type RequestedDelivery = Pick<
  DeliveryTask,
  | 'deliveryId'
  | 'eventId'
  | 'merchantId'
  | 'endpointId'
  | 'entityId'
  | 'subjectId'
  | 'sequence'
  | 'type'
  | 'subType'
  | 'apiVersion'
  | 'trigger'
  | 'attemptsMax'
  | 'occurredAt'
  | 'body'
  | 'signedWith'
>;

/**
 * Returns its first task, due now, with the journal entry that announces it. `at`: whole milliseconds since the epoch.
 */
export function requestedTask(
  asked: RequestedDelivery,
  at: number,
): { readonly task: DeliveryTask; readonly journal: readonly JournalEntry[] } {
  // A copy of its own: the renderer's may be a view of something larger.
  const body = Uint8Array.from(asked.body);
  const task: DeliveryTask = { ...asked, attempt: 1, dueAt: 0, hop: 0, acceptedAt: at, body };
  return { task, journal: [{ kind: 'requested', at, delivery: task, body }] };
}
