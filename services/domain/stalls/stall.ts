import type { DomainEvent } from '../event.ts';
import type { DeliveryTask } from '../task.ts';

/** The main thread of a process stood still: its watchdog ended the process, or is about to. */
export interface Stall {
  /** A later entry with it replaces this one. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly stalledMs: number;
  /** The kind of work that it was busy with: `attempt`, `event`, `record`, `request` …; null = unknown. */
  readonly busyWith: string | null;
  /** The ids and places of that work. */
  readonly fields: Readonly<Record<string, string>>;
}

/** An operator has put a record back: the stalls before count no longer against the ids it names. */
export interface Pardon {
  readonly at: number;
  readonly pardoned: readonly string[];
}

/** The main thread of a stall that was written down early went on: it does not count. */
export interface Resumed {
  readonly at: number;
  readonly resumed: string;
}

export type StallEntry = Stall | Pardon | Resumed;

/** Stalls are kept and count for this long. */
export const STALLS_KEPT_MS = 7 * 86_400_000;

/**
 * The number of stalls from which on something is put aside. A process is ended a few times at the most by one
 * delivery, one endpoint or one merchant, however many of its deliveries stall.
 */
const PUT_ASIDE_AT = { delivery: 2, endpoint: 3, merchant: 5, event: 2, record: 2 } as const;

export type CulpritKind = keyof typeof PUT_ASIDE_AT;

/** Which ids of a piece of work are counted, by its kind. */
const COUNTED: Readonly<Record<string, readonly CulpritKind[]>> = {
  attempt: ['delivery', 'endpoint', 'merchant'],
  event: ['event'],
  record: ['record'],
};

/** Returns an id as stalls are counted by it and pardons name it. */
export function culpritKey(kind: CulpritKind, id: string): string {
  return `${kind}:${id}`;
}

/** The label that was asked for last: what follows an attempt asks for it several times in a row. */
let latest: { readonly task: DeliveryTask | null; readonly label: string } = { task: null, label: '' };

/** Returns a label of the watchdog for work on a task. */
export function attemptLabel(task: DeliveryTask): string {
  if (task !== latest.task) keepLabel(task, labelOf(task));
  return latest.label;
}

/** Keeps a label that was made before, because making and writing a new text costs ten times as much. */
export function keepLabel(task: DeliveryTask, label: string): void {
  latest = { task, label };
}

function labelOf(task: DeliveryTask): string {
  const { deliveryId, attempt, endpointId, merchantId, eventId } = task;
  return `attempt delivery=${deliveryId} attempt=${attempt} endpoint=${endpointId} merchant=${merchantId} event=${eventId}`;
}

/** Returns a label of the watchdog for work on an event. */
export function eventLabel({ eventId, merchantId }: Pick<DomainEvent, 'eventId' | 'merchantId'>): string {
  return `event event=${eventId} merchant=${merchantId}`;
}

type Known = Pick<DeliveryTask, 'deliveryId' | 'endpointId' | 'merchantId'>;

/** Counts the stalls of all processes, to decide what is put aside. */
export class Culprits {
  readonly #stalls = new Map<string, Stall[]>();
  #all: Stall[] = [];

  note(entry: StallEntry): void {
    if ('pardoned' in entry) {
      for (const key of entry.pardoned) this.#stalls.delete(key);
      return;
    }
    if ('resumed' in entry) {
      this.#forget(entry.resumed);
      return;
    }
    this.#forget(entry.id);
    this.#all.push(entry);
    for (const kind of COUNTED[entry.busyWith ?? ''] ?? []) {
      const id = entry.fields[kind];
      if (id === undefined) continue;
      const key = culpritKey(kind, id);
      this.#stalls.set(key, [...(this.#stalls.get(key) ?? []), entry]);
    }
  }

  #forget(stallId: string): void {
    const others = (stalls: readonly Stall[]) => stalls.filter(({ id }) => id !== stallId);
    this.#all = others(this.#all);
    for (const [key, stalls] of this.#stalls) {
      const left = others(stalls);
      if (left.length > 0) this.#stalls.set(key, left);
      else this.#stalls.delete(key);
    }
  }

  /** Returns how many stalls there were since a time. */
  countSince(since: number): number {
    return this.#all.filter(({ at }) => at >= since).length;
  }

  /** Returns why a task is put aside instead of being attempted; null = it is not. */
  ofTask({ deliveryId, endpointId, merchantId }: Known, now: number): string | null {
    if (this.#stalls.size === 0) return null;
    return (
      this.#of('delivery', deliveryId, now) ??
      this.#of('endpoint', endpointId, now) ??
      this.#of('merchant', merchantId, now)
    );
  }

  ofEvent(eventId: string, now: number): string | null {
    return this.#stalls.size === 0 ? null : this.#of('event', eventId, now);
  }

  /** `place`: `<topic>/<partition>@<offset>`. */
  ofRecord(place: () => string, now: number): string | null {
    return this.#stalls.size === 0 ? null : this.#of('record', place(), now);
  }

  #of(kind: CulpritKind, id: string, now: number): string | null {
    const stalls = this.#stalls.get(culpritKey(kind, id)) ?? [];
    const count = stalls.filter(({ at }) => at > now - STALLS_KEPT_MS).length;
    if (count < PUT_ASIDE_AT[kind]) return null;
    return `a process stood still and was ended ${count} times while it was busy with ${SUBJECT[kind]} ${id}`;
  }
}

const SUBJECT: Readonly<Record<CulpritKind, string>> = {
  delivery: 'delivery',
  endpoint: 'deliveries to endpoint',
  merchant: 'deliveries of merchant',
  event: 'event',
  record: 'record',
};
