import type { Broker, Requeued, RequeueOptions } from '../../broker/broker.ts';
import { newEventId, placeOf, type Quarantined } from '../../domain/quarantine.ts';
import { type CulpritKind, culpritKey } from '../../domain/stalls/stall.ts';
import type { AddToAudit } from '../audit.ts';
import { isByFilter, matcherOf, type QuarantineChoice, type QuarantineFilter } from './choice.ts';

/** The most positions in an audit entry. */
const POSITIONS_MAX = 100;

/** Says why a conflict is not put back as it is. `asked`: how it is asked for under a new id. */
export function conflictText(asked: string): string {
  return (
    'another event has this id: put back as it is, receivers would get two events under one webhook-id. Have the producer ' +
    `publish it under an id of its own, or publish it under a new one: ${asked}`
  );
}

export interface NewEvent {
  readonly position: string;
  readonly eventId: string | null;
  readonly newEventId: string;
}

/** The fate of the records; in a dry run, the one that they would have. */
export interface ReplayedRecords {
  readonly requeued: number;
  /** Conflicts among many, which are left out. */
  readonly leftOut: number;
  /** With conflicts that were named by their positions. */
  readonly refused: Requeued['refused'];
  /** The events that are published under new ids. */
  readonly newEvents: readonly NewEvent[];
}

interface Deps {
  readonly quarantine: Pick<Broker['quarantine'], 'visit' | 'requeue'>;
  readonly stalls: Pick<Broker['stalls'], 'append'>;
  readonly now: number;
  readonly audit: AddToAudit;
  /** Returns why the router would refuse an event, or null. Absent where nobody knows the merchants. */
  readonly stillRefused?: RequeueOptions['stillRefused'];
}

interface Options {
  /** Also conflicts, each under a new event id. */
  readonly asNewEvent: boolean;
  readonly isDryRun: boolean;
  /** How a conflict is asked for under a new id. */
  readonly asked: string;
}

/** The records that a replay is about, as they were when it began. */
class Chosen {
  readonly wanted: string[] = [];
  readonly conflicts: string[] = [];
  readonly newEvents: NewEvent[] = [];
  /** The stalls that are forgotten. */
  readonly pardoned = new Set<string>();
  readonly #asNewEvent: boolean;

  constructor(asNewEvent: boolean) {
    this.#asNewEvent = asNewEvent;
  }

  add(position: string, record: Quarantined): void {
    const id = newEventId(record);
    if (id !== null && !this.#asNewEvent) {
      this.conflicts.push(position);
      return;
    }
    if (id !== null) this.newEvents.push({ position, eventId: record.eventId, newEventId: id });
    this.wanted.push(position);
    for (const key of culpritsOf(record)) this.pardoned.add(key);
  }
}

/**
 * Puts records back where they came from: those at `positions`, or all that pass the filter, or `all`. It first finds the
 * records that are there when it begins, so that a record that returns at once is put back only once.
 * An event that would be quarantined again is refused, and stays with its time of arrival. Conflicts are put back with
 * `asNewEvent` only, each under a new event id: docs/decisions.md, "Producers". Unknown positions are ignored.
 */
export async function replayQuarantined(
  { quarantine, stalls, now, audit, stillRefused }: Deps,
  choice: QuarantineChoice,
  { asNewEvent, isDryRun, asked }: Options,
): Promise<ReplayedRecords> {
  const chosen = await chosenOf(quarantine, choice, asNewEvent);
  const { wanted, conflicts, newEvents, pardoned } = chosen;
  const isMany = isByFilter(choice);
  const named = isMany ? [] : conflicts.map((position) => ({ position, detail: conflictText(asked) }));
  const leftOut = isMany ? conflicts.length : 0;
  if (wanted.length === 0) return { requeued: 0, leftOut, refused: named, newEvents };
  if (!isDryRun) {
    const newIds = newEvents.map((each) => each.newEventId).slice(0, POSITIONS_MAX);
    await audit(
      'quarantine.replay',
      {
        ...auditedFilter(choice),
        ...{ records: wanted.length, positions: wanted.slice(0, POSITIONS_MAX) },
        ...(newIds.length > 0 && { newEventIds: newIds }),
      },
      choice.merchant,
    );
    // Otherwise it would be put aside again at once.
    if (pardoned.size > 0) await stalls.append({ at: now, pardoned: [...pardoned] });
  }
  const { requeued, refused } = await quarantine.requeue(wanted, {
    ...(asNewEvent && { newIdOf: newEventId }),
    ...(stillRefused && { stillRefused }),
    ...(isDryRun && { isDryRun }),
  });
  const failed = new Set(refused.map(({ position }) => position));
  return {
    ...{ requeued, leftOut, refused: [...named, ...refused] },
    newEvents: newEvents.filter(({ position }) => !failed.has(position)),
  };
}

async function chosenOf(
  quarantine: Pick<Broker['quarantine'], 'visit'>,
  choice: QuarantineChoice,
  asNewEvent: boolean,
): Promise<Chosen> {
  const chosen = new Chosen(asNewEvent);
  const named = new Set(choice.positions);
  const matches = matcherOf(choice);
  const chooses = isByFilter(choice);
  await quarantine.visit((position, record) => {
    if (chooses ? matches(record) : named.has(position)) chosen.add(position, record);
  });
  return chosen;
}

function auditedFilter({ reason, merchant, about, since }: QuarantineFilter) {
  return { reason, merchant, about, since: since === undefined ? since : new Date(since).toISOString() };
}

/** Returns what stalls were counted by for a record that was put aside; nothing for others. */
function culpritsOf({ reason, deliveryId, endpointId, merchantId, eventId, origin }: Quarantined): string[] {
  const ids: Partial<Record<CulpritKind, string | null | undefined>> = {
    ...(reason === 'attempt_stalled' && { delivery: deliveryId, endpoint: endpointId, merchant: merchantId }),
    ...(reason === 'event_stalled' && { event: eventId, record: origin && placeOf(origin) }),
  };
  return Object.entries(ids).flatMap(([kind, id]) => (id ? [culpritKey(kind as CulpritKind, id)] : []));
}
