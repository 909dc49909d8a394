import { timestampOrNull } from '../../../api/endpoint-json.ts';
import type { Requeued } from '../../../broker/broker.ts';
import { newEventId, placeOf, type Quarantined } from '../../../domain/quarantine.ts';
import { type CulpritKind, culpritKey } from '../../../domain/stalls/stall.ts';
import type { Arguments, Given } from '../arguments.ts';
import type { BrokerContext, OperatedBroker } from '../command.ts';
import { FILTER, type Filter, filterOf, matcherOf } from './filter.ts';

/** The most positions in an audit entry. */
const POSITIONS_MAX = 100;
/** The most refusals, or new events, in a response; the others are still listed by `quarantine list`. */
const SHOWN_MAX = 20;
export const CONFLICT =
  'another event has this id: put back as it is, receivers would get two events under one webhook-id. Have the producer ' +
  'publish it under an id of its own, or publish it under a new one: --as-new-event';

interface NewEvent {
  readonly position: string;
  readonly eventId: string | null;
  readonly newEventId: string;
}

/** `refusals` has the first refused records, `newEvents` the first that were published under new ids. */
interface Replayed {
  readonly replayed: number;
  /** Conflicts that were left out. */
  readonly conflicts?: { readonly leftOut: number; readonly detail: string };
  readonly refused?: number;
  readonly refusals?: Requeued['refused'];
  readonly newEvents?: readonly NewEvent[];
}

/** The records that a replay is about, as they were when it began. */
class Choice {
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

export const REPLAYED = {
  positions: { type: 'texts', positional: true, describe: 'Positions from quarantine list' },
  all: { type: 'flag', describe: 'All records in quarantine, except conflicts' },
  asNewEvent: {
    type: 'flag',
    describe: 'Also conflicts (event_id_conflict), each as another event with a new id',
  },
  ...FILTER,
} as const satisfies Arguments;

type Chosen = Given<typeof REPLAYED>;

/** Whether records are chosen by what they are, and not by their positions. */
function isChoice({ all = false, reason, merchant, about, since }: Chosen): boolean {
  return all || [reason, merchant, about, since].some((value) => value !== undefined);
}

/** Returns what is wrong with a choice: it must be one of both. */
export function refuseChoice(given: Chosen): string | undefined {
  const { positions = [] } = given;
  if (isChoice(given) !== positions.length > 0) return undefined;
  return 'give positions (see quarantine list), or --all, --reason, --merchant, --about or --since';
}

/**
 * Puts records back where they came from: those at `positions`, or all of a `reason` or a `merchant`, or `all`. It
 * first finds the records that are there when it begins, so that a record that returns at once is put back only once.
 * An event that would be quarantined again is refused, and stays with its time of arrival. Conflicts are put back with
 * `asNewEvent` only, each under a new event id: docs/decisions.md, "Producers".
 */
export async function replay(
  { quarantine, stalls }: Pick<OperatedBroker, 'quarantine' | 'stalls'>,
  given: Chosen,
  { now, audit, stillRefused }: BrokerContext,
): Promise<Replayed> {
  const { positions = [], asNewEvent = false } = given;
  const filter = filterOf(given, now);
  const chooses = isChoice(given);
  const named = new Set(positions);
  const matches = matcherOf(filter);
  const choice = new Choice(asNewEvent);
  await quarantine.visit((position, record) => {
    if (chooses ? matches(record) : named.has(position)) choice.add(position, record);
  });
  const { wanted, newEvents, pardoned } = choice;
  if (wanted.length === 0) return replayed({ requeued: 0, refused: [] }, choice, chooses);
  const newIds = newEvents.map((each) => each.newEventId).slice(0, POSITIONS_MAX);
  await audit(
    'quarantine.replay',
    {
      ...auditedFilter(filter),
      ...{ records: wanted.length, positions: wanted.slice(0, POSITIONS_MAX) },
      ...(newIds.length > 0 && { newEventIds: newIds }),
    },
    filter.merchant,
  );
  // Otherwise it would be put aside again at once.
  if (pardoned.size > 0) await stalls.append({ at: now, pardoned: [...pardoned] });
  const options = { ...(asNewEvent && { newIdOf: newEventId }), ...(stillRefused && { stillRefused }) };
  return replayed(await quarantine.requeue(wanted, options), choice, chooses);
}

function auditedFilter(filter: Filter) {
  return { ...filter, since: timestampOrNull(filter.since ?? null) ?? undefined };
}

/** Conflicts that were named are refused; those among many are left out. */
function replayed(
  { requeued, refused }: Requeued,
  { conflicts, newEvents }: Choice,
  chooses: boolean,
): Replayed {
  const named = chooses ? [] : conflicts.map((position) => ({ position, detail: CONFLICT }));
  const refusals = [...named, ...refused];
  const failed = new Set(refused.map(({ position }) => position));
  const published = newEvents.filter(({ position }) => !failed.has(position));
  return {
    replayed: requeued,
    ...(chooses && conflicts.length > 0 && { conflicts: { leftOut: conflicts.length, detail: CONFLICT } }),
    ...(refusals.length > 0 && { refused: refusals.length, refusals: refusals.slice(0, SHOWN_MAX) }),
    ...(published.length > 0 && { newEvents: published.slice(0, SHOWN_MAX) }),
  };
}

/** Returns what stalls were counted by for a record that was put aside; nothing for others. */
function culpritsOf({ reason, deliveryId, endpointId, merchantId, eventId, origin }: Quarantined): string[] {
  const ids: Partial<Record<CulpritKind, string | null | undefined>> = {
    ...(reason === 'attempt_stalled' && { delivery: deliveryId, endpoint: endpointId, merchant: merchantId }),
    ...(reason === 'event_stalled' && { event: eventId, record: origin && placeOf(origin) }),
  };
  return Object.entries(ids).flatMap(([kind, id]) => (id ? [culpritKey(kind as CulpritKind, id)] : []));
}
