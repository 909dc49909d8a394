/** The pace of reading what is past: per key, whatever the number of its streams, and in all, each key in turn. */
import { expect, test } from 'vitest';
import { FEED_PAGES } from '../../services/api/routes/event-feed.ts';
import { CatchUpPace, STREAM_PAGES } from '../../services/api/stream/catch-up-pace.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

const NEVER = new AbortController().signal;

/** Ten readers of each key that read as fast as they may; returns the pages of each key within some seconds. */
async function pagesOf(keys: readonly string[], seconds: number, rates = STREAM_PAGES): Promise<number[]> {
  const clock = new SimulatedClock();
  const pace = new CatchUpPace(clock, rates);
  const pages = new Map(keys.map((key) => [key, 0]));
  const read = async (key: string) => {
    for (;;) {
      await pace.turn(key, NEVER);
      pages.set(key, (pages.get(key) ?? 0) + 1);
    }
  };
  for (const key of keys) for (let n = 0; n < 10; n += 1) void read(key);
  for (let ms = 0; ms < seconds * 1000; ms += 1) {
    clock.advance(1);
    await Promise.resolve();
  }
  return [...pages.values()];
}

test('ten streams of one key read 50 pages a second and 100 at once', async () => {
  const [pages = 0] = await pagesOf(['one'], 10);
  expect(pages).toBeGreaterThan(580);
  expect(pages).toBeLessThanOrEqual(601);
});

test('all keys read 125 pages a second, each as many', async () => {
  const pages = await pagesOf(['one', 'two', 'three', 'four', 'five'], 8);
  const sum = pages.reduce((all, each) => all + each, 0);
  expect(sum).toBeGreaterThan(960);
  expect(sum).toBeLessThanOrEqual(1006);
  expect(Math.max(...pages) - Math.min(...pages)).toBeLessThan(10);
});

test('a key reads six pages of the event feed a second and two at once, so that 10,000 events take three seconds', async () => {
  const [pages = 0] = await pagesOf(['one'], 3, FEED_PAGES);
  expect(pages).toBe(20);
});

test('all keys read 25 pages of the event feed a second', async () => {
  const pages = await pagesOf(['one', 'two', 'three', 'four', 'five', 'six'], 8, FEED_PAGES);
  const sum = pages.reduce((all, each) => all + each, 0);
  expect(sum).toBeGreaterThan(195);
  expect(sum).toBeLessThanOrEqual(205);
  expect(Math.max(...pages) - Math.min(...pages)).toBeLessThan(5);
});
