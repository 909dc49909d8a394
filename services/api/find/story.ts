/**
 * The story of a transaction, an account or a user: its events in order, and for each endpoint what arrived, what is owed and
 * when it is due, and what was not sent and why (docs/api.md, "Find by transaction"). Events in quarantine belong to it.
 */

import type { QuarantinedHead } from '../../broker/broker.ts';
import { type SubjectKind, subjectKindOf } from '../../domain/catalog/subject.ts';
import { explainDelivery, explainSkip } from '../../domain/failures/explanation.ts';
import type { SkipReason } from '../../domain/journal.ts';
import { fewAtOnce, READS_AT_ONCE } from '../../process/few-at-once.ts';
import type { TraceRecord } from '../../store/replays.ts';
import type { DeliveryRecord, EndpointRecord, EventListed, Store } from '../../store/store.ts';
import { NOT_SEARCHED, type QuarantineSearch } from './quarantined-events.ts';

/** The state of an event at an endpoint. `not_received`: it was not sent, or is not sent any more. */
export type Fate = 'received' | 'owed' | 'not_received';

export interface StoryLine {
  /** Null: there was no endpoint. */
  readonly endpointId: string | null;
  readonly verdict: 'routed' | SkipReason | 'no_endpoint';
  readonly fate: Fate;
  /** Why, and what helps, in a sentence. */
  readonly explanation: string;
  /** Oldest first: the event's own, then those that were requested. */
  readonly deliveries: readonly DeliveryRecord[];
}

export interface StoryEvent {
  readonly listed: EventListed;
  /** The state of the subject after it; null when its data is no longer kept. */
  readonly state: string | null;
  readonly lines: readonly StoryLine[];
}

/** The counts of one endpoint in the whole story. */
export interface StoryEndpoint {
  readonly endpointId: string;
  /** Undefined: it was deleted. */
  readonly record: EndpointRecord | undefined;
  readonly counts: Readonly<Record<Fate, number>>;
  /** When the first of what is owed is due, milliseconds since the epoch. */
  readonly nextAttemptAt: number | null;
}

export interface Story {
  readonly subjectId: string;
  /** `event`: an event in quarantine that can be found by its own id. */
  readonly kind: SubjectKind | 'event';
  /** Null: only events in quarantine are known, and it could not be read from them. */
  readonly entityId: string | null;
  /** Oldest first. */
  readonly events: readonly StoryEvent[];
  readonly endpoints: readonly StoryEndpoint[];
  /** The events that were not routed. */
  readonly quarantine: QuarantineSearch;
  readonly isPaused: boolean;
  /** There are older events: the story has the newest. */
  readonly hasMore: boolean;
}

type Stored = Pick<Store, 'lists' | 'log' | 'endpoints' | 'merchants'>;

/** The most events of a story. */
const STORY_EVENTS_MAX = 100;
/** The most deliveries that are read together; those of further ones are read one by one. */
const DELIVERIES_MAX = 1000;

/**
 * Returns a merchant's story of the thing that has this id, or of everything about an entity; undefined when there is
 * nothing. `search`: the look through the quarantine; without it the story says that there was none.
 */
export async function readStory(
  deps: Stored,
  merchantId: string,
  id: string,
  search: QuarantineSearch | Promise<QuarantineSearch> = NOT_SEARCHED,
): Promise<Story | undefined> {
  const page = { limit: STORY_EVENTS_MAX };
  const [ofEntity, ofSubject, merchant, quarantine] = await Promise.all([
    deps.lists.events(merchantId, { entityId: id, ...page }),
    deps.lists.events(merchantId, { subjectId: id, ...page }),
    deps.merchants.get(merchantId),
    search,
  ]);
  const isEntity = ofEntity.records.length > 0;
  const { records, next } = isEntity ? ofEntity : ofSubject;
  const [newest] = records;
  const isPaused = merchant?.state === 'paused';
  const [kept] = quarantine.records;
  const subject = newest ? subjectOf(newest, isEntity) : kept && quarantinedSubject(kept, id);
  if (subject === undefined) return undefined;
  const events = await eventsOf(deps, { merchantId, records, isPaused, id, isEntity });
  const endpoints = await endpointsOf(deps, merchantId, events);
  return { subjectId: id, ...subject, events, endpoints, quarantine, isPaused, hasMore: next !== null };
}

function subjectOf({ event, subjectId }: EventListed, isEntity: boolean): Pick<Story, 'kind' | 'entityId'> {
  return {
    kind: isEntity ? 'entity' : subjectKindOf(event.type, subjectId),
    entityId: event.entityId,
  };
}

/** Returns the kind of thing that a quarantined event was found by, and whose it is. */
export function quarantinedSubject(
  { entityId: known, subjectId, type }: QuarantinedHead,
  id: string,
): Pick<Story, 'kind' | 'entityId'> {
  const entityId = known ?? null;
  if (subjectId === id && type !== undefined) return { kind: subjectKindOf(type, id), entityId };
  return { kind: entityId === id ? 'entity' : 'event', entityId };
}

interface StoredEvents {
  readonly merchantId: string;
  /** Newest first. */
  readonly records: readonly EventListed[];
  readonly isPaused: boolean;
  readonly id: string;
  readonly isEntity: boolean;
}

async function eventsOf(
  store: Stored,
  { merchantId, records, isPaused, id, isEntity }: StoredEvents,
): Promise<readonly StoryEvent[]> {
  if (records.length === 0) return [];
  const about = isEntity ? { entityId: id } : { subjectId: id };
  const deliveries = await store.lists.deliveries(merchantId, { ...about, limit: DELIVERIES_MAX });
  const found = new FoundDeliveries(store, merchantId, deliveries.records);
  const events: StoryEvent[] = [];
  for (const listed of [...records].reverse())
    events.push({
      listed,
      state: await stateAfter(store, merchantId, listed),
      lines: await linesOf(listed, found, isPaused),
    });
  return events;
}

/** The deliveries of a story's events. */
class FoundDeliveries {
  readonly #store: Pick<Store, 'log'>;
  readonly #merchantId: string;
  readonly #byEvent = new Map<string, DeliveryRecord[]>();

  constructor(store: Pick<Store, 'log'>, merchantId: string, newestFirst: readonly DeliveryRecord[]) {
    this.#store = store;
    this.#merchantId = merchantId;
    for (const delivery of [...newestFirst].reverse()) {
      const known = this.#byEvent.get(delivery.eventId);
      if (known) known.push(delivery);
      else this.#byEvent.set(delivery.eventId, [delivery]);
    }
  }

  /** Returns an event's deliveries to the endpoint of a line, oldest first. */
  async of(eventId: string, line: TraceRecord): Promise<readonly DeliveryRecord[]> {
    const { endpointId } = line;
    const known = (this.#byEvent.get(eventId) ?? []).filter((each) => each.endpointId === endpointId);
    if (line.verdict !== 'delivered_to' || known.some(({ deliveryId }) => deliveryId === line.deliveryId))
      return known;
    const own = await this.#store.log.delivery(this.#merchantId, endpointId, line.deliveryId);
    return own === undefined ? known : [own, ...known];
  }
}

async function linesOf(
  { event, trace }: EventListed,
  found: FoundDeliveries,
  isPaused: boolean,
): Promise<readonly StoryLine[]> {
  if (trace.length === 0) {
    const explanation = explainSkip('no_endpoint');
    return [{ endpointId: null, verdict: 'no_endpoint', fate: 'not_received', explanation, deliveries: [] }];
  }
  return fewAtOnce(trace, READS_AT_ONCE, async (line) =>
    toLine(line, await found.of(event.eventId, line), isPaused),
  );
}

function toLine(line: TraceRecord, deliveries: readonly DeliveryRecord[], isPaused: boolean): StoryLine {
  const { endpointId } = line;
  const verdict = line.verdict === 'delivered_to' ? 'routed' : line.verdict;
  const telling = mostTelling(deliveries);
  if (telling !== undefined) {
    const explanation = explainDelivery(telling, isPaused);
    return { endpointId, verdict, fate: fateOf(telling), explanation, deliveries };
  }
  const explanation =
    verdict === 'routed' ? 'Owed: its first attempt is not recorded yet.' : explainSkip(verdict);
  return {
    endpointId,
    verdict,
    fate: verdict === 'routed' ? 'owed' : 'not_received',
    explanation,
    deliveries,
  };
}

function fateOf({ status }: DeliveryRecord): Fate {
  if (status === 'delivered') return 'received';
  return status === 'pending' || status === 'failed' ? 'owed' : 'not_received';
}

const TELLING: readonly Fate[] = ['received', 'owed', 'not_received'];

/** Returns the delivery that decides: one that arrived, else one that is owed, else the last. */
function mostTelling(deliveries: readonly DeliveryRecord[]): DeliveryRecord | undefined {
  for (const fate of TELLING) {
    const found = deliveries.findLast((each) => fateOf(each) === fate);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The types whose only subType says that the status in their data has changed. */
const STATUS_UPDATE = 'statusUpdate';

async function stateAfter(store: Stored, merchantId: string, { event }: EventListed): Promise<string | null> {
  if (event.subType !== STATUS_UPDATE) return event.subType;
  const whole = await store.log.event(merchantId, event.eventId);
  const status = whole?.event.data?.status;
  return typeof status === 'string' ? status : null;
}

async function endpointsOf(
  store: Stored,
  merchantId: string,
  events: readonly StoryEvent[],
): Promise<readonly StoryEndpoint[]> {
  const lines = events.flatMap((event) => event.lines);
  const ids = [...new Set(lines.flatMap(({ endpointId }) => endpointId ?? []))];
  return fewAtOnce(ids, READS_AT_ONCE, async (endpointId) => {
    const own = lines.filter((line) => line.endpointId === endpointId);
    const count = (fate: Fate) => own.filter((line) => line.fate === fate).length;
    const due = own
      .filter(({ fate }) => fate === 'owed')
      .flatMap(({ deliveries }) => deliveries.flatMap(({ nextAttemptAt }) => nextAttemptAt ?? []));
    return {
      endpointId,
      record: await store.endpoints.get(merchantId, endpointId),
      counts: { received: count('received'), owed: count('owed'), not_received: count('not_received') },
      nextAttemptAt: due.length === 0 ? null : Math.min(...due),
    };
  });
}
