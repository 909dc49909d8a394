import type { PublishedEvent } from '../../broker/broker.ts';
import type { DomainEvent } from '../../domain/event.ts';
import { type Refusal, refusalText } from '../../domain/quarantine.ts';

/** The engine has put it into quarantine, or the router will: an operator finds it there. */
type Answered = 'accepted' | 'duplicate' | 'quarantined';
type QuarantineCode = Refusal | 'event_id_conflict';

/** Returns the body of the answer to POST /producer/events. `now`: when the events were judged. */
export function answerJson(
  events: readonly DomainEvent[],
  results: readonly PublishedEvent[],
  refusals: ReadonlyMap<DomainEvent, Refusal>,
  now: number,
) {
  const counts: Record<Answered, number> = { accepted: 0, duplicate: 0, quarantined: 0 };
  const list = events.map((event, index) => {
    const { status, code } = answered(results[index] ?? 'accepted', refusals.get(event));
    counts[status] += 1;
    const why = code && { code, detail: detailOf(code, event, now) };
    return { event_id: event.eventId, status, ...why };
  });
  const { accepted, duplicate: duplicates, quarantined } = counts;
  return { accepted, duplicates, quarantined, results: list };
}

function answered(
  result: PublishedEvent,
  refusal: Refusal | undefined,
): { readonly status: Answered; readonly code?: QuarantineCode } {
  if (result === 'conflict') return { status: 'quarantined', code: 'event_id_conflict' };
  if (result === 'duplicate') return { status: 'duplicate' };
  return refusal ? { status: 'quarantined', code: refusal } : { status: 'accepted' };
}

/** Returns a sentence for people: what is wrong, and what helps. */
function detailOf(code: QuarantineCode, event: DomainEvent, now: number): string {
  switch (code) {
    case 'event_id_conflict':
      return 'Another event with this id and different content came before: give each event an id of its own.';
    case 'schema_violation':
      return `The event breaks a rule: ${refusalText(code, event, now)}. Correct it, and publish it under a new id.`;
    case 'simulated_in_production':
      return 'The event is marked as simulated, and this is production: send simulated events to a sandbox.';
    case 'unknown_merchant':
      return (
        `There is no merchant "${event.merchantId}": correct header.merchantId and publish the event under a new id, or ` +
        'have the operator create the merchant and put the event back (hookrail operator quarantine replay).'
      );
  }
}
