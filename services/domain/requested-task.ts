import type { JournalEntry } from './journal.ts';
import type { DeliveryTask, Trigger } from './task.ts';

/** A requested delivery: a test, a resend, a replay. */
export interface RequestedDelivery
  extends Pick<
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
    | 'attemptsMax'
    | 'occurredAt'
    | 'body'
    | 'signedWith'
  > {
  readonly trigger: Exclude<Trigger, 'live'>;
}

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
