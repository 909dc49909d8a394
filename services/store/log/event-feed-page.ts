import { transactionIdOf } from '../../domain/catalog/subject.ts';
import type { EventFed, EventFeed, EventFeedPage, EventFilter, EventListed } from '../event-feed.ts';
import { type FeedExtent, type FeedSpan, feedSpan, isCut } from './feed-page.ts';

export type EventFeedOptions = Parameters<EventFeed['read']>[1];

/** The most rows of the feed that a page examines: an event has a row, and one more for each attempt. */
const EXAMINED_MAX = 20_000;
/** The most events that a page examines where a filter selects some of them. */
const FILTERED_MAX = 1000;

/** The most data of a page, in bytes, besides that of its first event: a page is held in memory. */
const DATA_BYTES_MAX = 4 * 1024 * 1024;

/** The rows of the feed from which a page is made. */
export interface EventSpan {
  readonly span: FeedSpan;
  /** The first row, which is kept. */
  readonly from: number;
  readonly examined: number;
  /** Events to examine at most. */
  readonly candidates: number;
}

/** Returns the rows that a page needs, null when the position is not from this store. Throws CursorInvalid. */
export function eventSpan({ after, ...options }: EventFeedOptions, extent: FeedExtent): EventSpan | null {
  const span = feedSpan({ after: after ?? String(extent.removedTo), limit: options.limit }, extent);
  if (span === null) return null;
  const { limit, withData, ...filter } = options;
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  return {
    span,
    from: Math.max(span.from, extent.removedTo + 1),
    examined: EXAMINED_MAX,
    candidates: isFiltered ? Math.max(FILTERED_MAX, span.limit) : span.limit,
  };
}

/** The page of a position that is not from this store: it ends at the head. */
export function restoredPage({ head }: FeedExtent): EventFeedPage {
  return { records: [], next: String(head), isEnd: true, gap: 'restored' };
}

/** A row of the feed with its event; undefined when that was deleted. */
export interface EventFound<Record> {
  readonly seq: number;
  readonly record: Record | undefined;
}

/** The events of a page, and where the next one begins: after this row. */
export interface EventsTaken<Record> {
  readonly taken: readonly { readonly seq: number; readonly record: Record }[];
  readonly next: number;
  readonly isMissing: boolean;
}

/**
 * Takes the events that match from those found, in order, up to the limit. `examinedTo`: the row up to which nothing else
 * is found.
 */
export function takeEvents<Record extends EventListed>(
  found: Iterable<EventFound<Record>>,
  { span }: EventSpan,
  examinedTo: number,
  filter: EventFilter,
): EventsTaken<Record> {
  const matches = eventMatcher(filter);
  const taken: { readonly seq: number; readonly record: Record }[] = [];
  let [last, isMissing] = [span.after.seq, false];
  for (const { seq, record } of found) {
    if (taken.length === span.limit) return { taken, next: last, isMissing };
    if (record === undefined) isMissing = true;
    else if (matches(record)) taken.push({ seq, record });
    last = seq;
  }
  return { taken, next: Math.max(last, examinedTo), isMissing };
}

/** Leaves out events whose data is too much for one page: they are the next one's. */
export function withinBytes<Record>(
  events: EventsTaken<Record>,
  bytesOf: (record: Record) => number,
): EventsTaken<Record> {
  let bytes = 0;
  const count = events.taken.findIndex(({ record }, index) => {
    bytes += bytesOf(record);
    return index > 0 && bytes > DATA_BYTES_MAX;
  });
  if (count < 0) return events;
  const taken = events.taken.slice(0, count);
  return { ...events, taken, next: taken.at(-1)?.seq ?? events.next };
}

/** Makes the page. `extent`: as it is after the rows were read. */
export function eventPage<Record extends EventListed>(
  { taken, next, isMissing }: EventsTaken<Record>,
  { span }: EventSpan,
  extent: FeedExtent,
  dataOf: (record: Record) => string | null,
): EventFeedPage {
  const gap = isMissing || isCut(span.after, extent) ? 'retention' : null;
  const records = taken.map(({ record }): EventFed => {
    const { event, subjectId, sequence, createdAt, routedAt, trace } = record;
    return { event, subjectId, sequence, createdAt, routedAt, trace, data: dataOf(record) };
  });
  return { records, next: String(next), isEnd: next >= span.upTo, gap };
}

/** Returns the condition on an event. */
function eventMatcher(filter: EventFilter): (record: EventListed) => boolean {
  const { type, subType, entityId, subjectId, transactionId, endpointId, verdict } = filter;
  const { since = 0, until = Number.POSITIVE_INFINITY } = filter;
  const needsTrace = endpointId !== undefined || verdict !== undefined;
  const isLine = (line: EventListed['trace'][number]) =>
    (endpointId === undefined || line.endpointId === endpointId) &&
    (verdict === undefined || line.verdict === verdict);
  return ({ event, subjectId: subject, createdAt, trace }) =>
    (type === undefined || event.type === type) &&
    (subType === undefined || event.subType === subType) &&
    (entityId === undefined || event.entityId === entityId) &&
    (subjectId === undefined || (subject ?? event.entityId) === subjectId) &&
    (transactionId === undefined || transactionIdOf(event.type, subject) === transactionId) &&
    createdAt >= since &&
    createdAt < until &&
    (!needsTrace || trace.some(isLine));
}
