import type { PlantedBug } from '../planted-bug.ts';

const IN_BROWSER = 'test/console/console-in-browser.test.ts';
const PARTS = 'test/console/console-parts.test.ts';

/** The console, as a merchant's developer meets it. */
export const CONSOLE_BUGS: readonly PlantedBug[] = [
  {
    id: 'late-news-undoes-result',
    bug: 'a row of Live shows a delivery as being sent, because news of its routing came after its result',
    file: 'console/live/live-log.ts',
    text: "if (result.kind === 'pending') return known.kind !== 'pending';",
    replacement: '',
    test: PARTS,
    title: 'keep their place when their result changes, and forget no result for older news',
  },
  {
    id: 'live-list-moves',
    bug: 'the rows of Live move while the reader is further down',
    file: 'console/live/live-list.tsx',
    text: 'else setSeenUpTo((known) => known ?? rows[0]?.order);',
    replacement: '',
    test: IN_BROWSER,
    title: 'keeps the place of a reader who has scrolled down, and counts what is new',
  },
  {
    id: 'reordered-text-shown',
    bug: 'characters that reorder text are shown as they are in what a stranger wrote',
    file: 'console/parts/foreign.tsx',
    text: 'return <>{visibleLines(text)}</>;',
    replacement: 'return <>{text}</>;',
    test: IN_BROWSER,
    title: 'shows markup of strangers as text',
  },
];
