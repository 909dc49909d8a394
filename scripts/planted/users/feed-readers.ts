import type { PlantedBug } from '../planted-bug.ts';

const CONTRACT = 'test/store/sqlite/contract.test.ts';
const PAGE = 'services/store/log/event-feed-page.ts';
const WANTED = 'test/api/routes/stream-wanted.test.ts';

/** The promises to readers of the event feed, and of a stream that is filtered. */
export const FEED_READER_BUGS: readonly PlantedBug[] = [
  {
    id: 'event-feed-passes-one-over',
    bug: 'the next page of the event feed begins after the first event that this one has no room for',
    file: PAGE,
    text: 'if (taken.length === span.limit) return { taken, next: last, isMissing };',
    replacement: 'if (taken.length === span.limit) return { taken, next: seq, isMissing };',
    test: CONTRACT,
    title: 'selects by type, subject, entity, endpoint, result and time',
  },
  {
    id: 'event-feed-hides-gaps',
    bug: 'the event feed does not tell that retention has deleted what followed a cursor',
    file: PAGE,
    text: 'isMissing || isCut(span.after, extent)',
    replacement: 'isMissing',
    test: CONTRACT,
    title: 'says when events after a position were deleted',
  },
  {
    id: 'event-feed-drops-large-events',
    bug: 'a page of the event feed that has too much data passes over what it leaves out',
    file: PAGE,
    text: 'return { ...events, taken, next: taken.at(-1)?.seq ?? events.next };',
    replacement: 'return { ...events, taken };',
    test: CONTRACT,
    title: 'ends a page early where the data is much',
  },
  {
    id: 'stream-stands-still',
    bug: 'the id of a filtered stream stays where it is while everything is left out',
    file: 'services/api/stream/stream-text.ts',
    text: 'const isWhole = entries.at(-1) === page.entries.at(-1) && entries.length > 0;',
    replacement: 'const isWhole = true;',
    test: WANTED,
    title: 'moves its id on where everything is left out',
  },
];
