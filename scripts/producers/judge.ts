/** Determines the end of each record from the receiver's arrivals, the quarantine, and the records after it. */
import type { Case } from './case.ts';
import type { ClientName } from './clients.ts';
import type { Written } from './job.ts';
import type { Arrival, QuarantineEntry } from './system.ts';

export interface Sent {
  readonly client: ClientName;
  readonly of: Case;
  readonly written: Written;
}

export interface Cell {
  readonly client: ClientName;
  readonly group: Case['group'];
  readonly row: string;
  readonly name: string;
  readonly expected: readonly string[];
  /**
   * An end of a case, or: `stuck` (no record after it in its partition has ended either), `behind` (an earlier record of its
   * partition is stuck), `lost` (a record after it has ended), `delivered n times`, `delivered with another body`.
   */
  readonly end: string;
  /** The quarantine's detail, or the message of the registry or Kafka that refused it. */
  readonly detail: string;
  readonly isRight: boolean;
}

interface Ended {
  readonly sent: Sent;
  /** Undefined while the record has not ended. */
  readonly end: { readonly end: string; readonly detail: string } | undefined;
}

export function judge(
  all: readonly Sent[],
  arrivals: ReadonlyMap<string, Arrival>,
  quarantine: readonly QuarantineEntry[],
): Cell[] {
  const find = indexOf(quarantine);
  const ended = all.map((sent): Ended => ({ sent, end: endOf(sent, arrivals, find(sent)) }));
  const byPartition = new Map<number, Ended[]>();
  for (const each of ended) {
    const { written } = each.sent;
    if ('offset' in written)
      byPartition.set(written.partition, [...(byPartition.get(written.partition) ?? []), each]);
  }
  const lastEnded = new Map<number, number>();
  const firstOpen = new Map<number, number>();
  for (const [partition, records] of byPartition) {
    const offsets = (isOpen: boolean) =>
      records
        .filter(({ end, sent }) => (end === undefined) === isOpen && isDue(sent))
        .map(({ sent }) => offsetOf(sent));
    lastEnded.set(partition, Math.max(-1, ...offsets(false)));
    firstOpen.set(partition, Math.min(Number.POSITIVE_INFINITY, ...offsets(true)));
  }
  return ended.map(({ sent, end }) => {
    const { client, of } = sent;
    const { group, row, name, expected } = of;
    const judged = end ?? { end: openEnd(sent, lastEnded, firstOpen), detail: '' };
    const isRight = (expected as readonly string[]).includes(judged.end);
    return { client, group, row, name, expected, ...judged, isRight };
  });
}

/** A record of an aborted transaction must leave no trace. */
const isDue = ({ of }: Sent) => !of.expected.includes('not committed');
const offsetOf = ({ written }: Sent) => ('offset' in written ? written.offset : -1);

function endOf(
  { of, written }: Sent,
  arrivals: ReadonlyMap<string, Arrival>,
  entry: QuarantineEntry | undefined,
): Ended['end'] {
  const arrival = arrivals.get(of.record.eventId);
  if (arrival && entry) return { end: `delivered and quarantined: ${entry.reason}`, detail: entry.detail };
  if (arrival && arrival.times > 1) return { end: `delivered ${arrival.times} times`, detail: '' };
  if (arrival) {
    const missing = (of.bodyHas ?? []).filter((part) => !arrival.body.includes(part));
    if (missing.length > 0)
      return { end: 'delivered with another body', detail: `without ${missing.join(', ')}` };
    return { end: 'delivered', detail: '' };
  }
  if (entry) return { end: `quarantined: ${entry.reason}`, detail: entry.detail };
  if ('refusedBy' in written) {
    const by = written.refusedBy === 'registry' ? 'the registry' : 'Kafka';
    return { end: `refused by ${by}`, detail: written.message };
  }
  return undefined;
}

function openEnd(
  sent: Sent,
  lastEnded: ReadonlyMap<number, number>,
  firstOpen: ReadonlyMap<number, number>,
): string {
  const { written } = sent;
  if (!('offset' in written)) return 'lost';
  if (!isDue(sent)) return 'not committed';
  if (written.offset < (lastEnded.get(written.partition) ?? -1)) return 'lost';
  return written.offset === firstOpen.get(written.partition) ? 'stuck' : 'behind';
}

/** Returns a function that finds a record's entry by its position, else by its event id. */
function indexOf(quarantine: readonly QuarantineEntry[]): (sent: Sent) => QuarantineEntry | undefined {
  const byKey = new Map<string, QuarantineEntry>();
  for (const entry of quarantine) for (const key of keysOf(entry)) byKey.set(key, entry);
  return ({ of, written }) =>
    ('offset' in written ? byKey.get(`${written.partition}@${written.offset}`) : undefined) ??
    byKey.get(of.record.eventId);
}

/** `place` is topic/partition@offset. */
function keysOf({ eventId, place }: QuarantineEntry): string[] {
  const keys: string[] = [];
  if (eventId) keys.push(eventId);
  if (place) keys.push(place.slice(place.lastIndexOf('/') + 1));
  return keys;
}
