import { CursorInvalid } from '../change.ts';
import type { FeedContent, FeedEntry, FeedPage } from '../feed.ts';
import type { FeedRow } from './feed-contents.ts';

/** The most rows of one page, whatever is requested. */
const PAGE_MAX = 1000;

/** A place in the feed: all of a row (no line), or its entries up to and including this one. */
export interface FeedPlace {
  readonly seq: number;
  readonly line: number | null;
}

/** The extent of a merchant's feed: the number of its newest row, and of the newest row that was deleted. */
export interface FeedExtent {
  readonly head: number;
  readonly removedTo: number;
}

/** The rows that a page needs. */
export interface FeedSpan {
  readonly after: FeedPlace;
  readonly from: number;
  readonly upTo: number;
  readonly limit: number;
}

/** Throws CursorInvalid. */
function parseFeedPlace(position: string): FeedPlace {
  const parts = /^(\d{1,15})(?:\.(\d{1,6}))?$/.exec(position);
  if (!parts) throw new CursorInvalid('the position does not belong to the feed');
  return { seq: Number(parts[1]), line: parts[2] === undefined ? null : Number(parts[2]) };
}

/** Returns the rows that a page needs, null when the position is not from this store. Throws CursorInvalid. */
export function feedSpan(
  options: { readonly after: string; readonly upTo?: string; readonly limit: number },
  { head }: FeedExtent,
): FeedSpan | null {
  const after = parseFeedPlace(options.after);
  const upTo = options.upTo === undefined ? head : parseFeedPlace(options.upTo).seq;
  if (after.seq > head) return null;
  const from = after.line === null ? after.seq + 1 : after.seq;
  return { after, from, upTo, limit: Math.min(options.limit, PAGE_MAX) };
}

/** Returns whether rows that followed the position were deleted. */
export function isCut(after: FeedPlace, { removedTo }: FeedExtent): boolean {
  return after.seq < removedTo || (after.line !== null && after.seq === removedTo);
}

/** Makes a page of the span's rows, in order. `contentsOf`: undefined when what a row reports was deleted. */
export function feedPage<Row extends FeedRow>(
  rows: readonly Row[],
  { after, upTo, limit }: FeedSpan,
  extent: FeedExtent,
  position: string,
  contentsOf: (row: Row) => readonly FeedContent[] | undefined,
): FeedPage {
  // An entry is missing when its row was deleted, or (below) what the row refers to.
  const entries: FeedEntry[] = [];
  let last = after.seq;
  let gap: FeedPage['gap'] = isCut(after, extent) ? 'retention' : null;
  for (const row of rows) {
    if (entries.length >= limit) break;
    const contents = contentsOf(row);
    if (contents === undefined) gap = 'retention';
    const skipped = row.seq === after.seq ? (after.line ?? 0) : 0;
    entries.push(...entriesOf(row, contents ?? [], skipped));
    last = row.seq;
  }
  const isWhole = rows.length < limit && last === (rows.at(-1)?.seq ?? after.seq);
  // Everything up to the end was examined; the head itself may be below it.
  const next = isWhole ? Math.max(last, upTo) : last;
  const isUnmoved = next === after.seq && rows.length === 0;
  return { entries, next: isUnmoved ? position : String(next), gap };
}

/** Numbers a row's entries; the last one's position is the whole row, which is where the next page begins. */
function entriesOf(row: FeedRow, contents: readonly FeedContent[], skipped: number): FeedEntry[] {
  return contents
    .map((content, index) => {
      const isLast = index === contents.length - 1;
      const position = isLast ? String(row.seq) : `${row.seq}.${index + 1}`;
      return { ...content, position, at: row.at };
    })
    .slice(skipped);
}
