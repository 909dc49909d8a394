/** The reader of `--feed`, in its own process: what it reads must not hold up the process that notes when events are posted. */
import { setTimeout as pause } from 'node:timers/promises';
import { answer } from './child.ts';

export interface FeedReaderOptions {
  readonly apiUrl: string;
  readonly apiKey: string;
  /** Events per page, read from the beginning. */
  readonly events: number;
}

export interface FeedRead {
  readonly events: number;
  readonly pages: number;
  readonly ms: number;
}

const PAGE = 500;
const EVERY_MS = 10_000;

let over = new AbortController();
let reading: Promise<FeedRead[]> = Promise.resolve([]);

answer({
  /** Begins to read, again and again. */
  begin(options: FeedReaderOptions): void {
    over = new AbortController();
    reading = readAgain(options, over.signal);
  },
  /** Ends once what has begun is read, and returns what was read. */
  end(): Promise<FeedRead[]> {
    over.abort();
    return reading;
  },
});

async function readAgain(options: FeedReaderOptions, signal: AbortSignal): Promise<FeedRead[]> {
  const reads: FeedRead[] = [];
  while (!signal.aborted) {
    const read = await readOnce(options);
    reads.push(read);
    await pause(Math.max(0, EVERY_MS - read.ms), undefined, { signal }).catch(() => {});
  }
  return reads;
}

async function readOnce({ apiUrl, apiKey, events }: FeedReaderOptions): Promise<FeedRead> {
  const startedAt = performance.now();
  let [read, pages, cursor] = [0, 0, ''];
  while (read < events) {
    const query = `order=asc&include=body&limit=${PAGE}${cursor}`;
    const response = await fetch(`${apiUrl}/merchant/events?${query}`, {
      headers: { authorization: `API-Key ${apiKey}` },
    });
    if (response.status !== 200) throw new Error(`GET /merchant/events returned ${response.status}`);
    const page = (await response.json()) as { data: { body: string | null }[]; next_cursor: string };
    if (page.data.some(({ body }) => body === null)) throw new Error('an event has no body');
    read += page.data.length;
    pages += 1;
    cursor = `&cursor=${page.next_cursor}`;
  }
  return { events: read, pages, ms: performance.now() - startedAt };
}
