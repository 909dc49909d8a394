import type { PublishedEvent } from '../../broker/broker.ts';
import type { DomainEvent } from '../../domain/event.ts';
import { type QuarantineReason, type Refusal, refusalText } from '../../domain/quarantine.ts';
import { QUARANTINE_TEXTS } from '../../domain/routing/quarantine-texts.ts';

/** The engine has put it into quarantine, or the router will: an operator finds it there. */
type Answered = 'accepted' | 'duplicate' | 'quarantined';
type QuarantineCode = Refusal | 'event_id_conflict';

/** The outcome of an event; `why` when it is quarantined. */
export interface Judged {
  readonly status: Answered;
  readonly why?: ReturnType<typeof whyJson>;
}

/** Returns a quarantine's reason as producers read it. `detail`: what is wrong with this event. */
export function whyJson(code: QuarantineReason, detail: string) {
  const { title, remedy } = QUARANTINE_TEXTS[code];
  return { code, title, detail, remedy };
}

/** Returns what becomes of each event, in order. `now`: when they were judged. */
export function judgedOf(
  events: readonly DomainEvent[],
  results: readonly PublishedEvent[],
  refusals: ReadonlyMap<DomainEvent, Refusal>,
  now: number,
): Judged[] {
  return events.map((event, index) => {
    const { status, code } = answered(results[index] ?? 'accepted', refusals.get(event));
    return code === undefined ? { status } : { status, why: whyJson(code, detailOf(code, event, now)) };
  });
}

/** Returns the body of the answer to POST /producer/events: counts, and each event with what `more` has to say of it. */
export function answerJson(
  events: readonly DomainEvent[],
  judged: readonly Judged[],
  more: (index: number) => object = () => ({}),
) {
  const counts: Record<Answered, number> = { accepted: 0, duplicate: 0, quarantined: 0 };
  for (const { status } of judged) counts[status] += 1;
  const results = judged.map(({ status, why }, index) => {
    return { event_id: events[index]?.eventId, status, ...why, ...more(index) };
  });
  const { accepted, duplicate: duplicates, quarantined } = counts;
  return { accepted, duplicates, quarantined, results };
}

function answered(
  result: PublishedEvent,
  refusal: Refusal | undefined,
): { readonly status: Answered; readonly code?: QuarantineCode } {
  if (result === 'conflict') return { status: 'quarantined', code: 'event_id_conflict' };
  if (result === 'duplicate') return { status: 'duplicate' };
  return refusal ? { status: 'quarantined', code: refusal } : { status: 'accepted' };
}

function detailOf(code: QuarantineCode, event: DomainEvent, now: number): string {
  switch (code) {
    case 'event_id_conflict':
      return 'Another event with this id and different content came before.';
    case 'schema_violation':
      return `The event breaks a rule: ${refusalText(code, event, now)}.`;
    case 'simulated_in_production':
      return 'The event is marked as simulated, and this is production.';
    case 'unknown_merchant':
      return `There is no merchant "${event.merchantId}".`;
  }
}
