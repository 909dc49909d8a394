import { Refusal } from './refusal.ts';

/** The most items of a page of a list. */
export const PAGE_ITEMS_MAX = 100;
/** The wait after a 429 that does not say how long. */
const WAIT_MS = 5000;
const TOO_MANY_REQUESTS = 429;

export interface Page<Item> {
  readonly data: readonly Item[];
  readonly next_cursor: string | null;
}

interface Collected<Item> {
  readonly items: readonly Item[];
  /** The list has more items than were read. */
  readonly isCut: boolean;
}

export interface CollectOptions {
  readonly itemsMax?: number;
  readonly signal?: AbortSignal;
  readonly onRead?: (items: number) => void;
}

/** Reads the pages of a list, up to a number of items. Waits where the API limits requests. */
export async function collect<Item>(
  read: (page: { readonly limit: number; readonly cursor?: string }) => Promise<Page<Item>>,
  { itemsMax = Number.POSITIVE_INFINITY, signal, onRead }: CollectOptions = {},
): Promise<Collected<Item>> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Item> = await patiently(read, cursor, signal);
    items.push(...page.data);
    onRead?.(Math.min(items.length, itemsMax));
    cursor = page.next_cursor;
  } while (cursor !== null && items.length < itemsMax);
  return { items: items.slice(0, itemsMax), isCut: cursor !== null || items.length > itemsMax };
}

async function patiently<Item>(
  read: Parameters<typeof collect<Item>>[0],
  cursor: string | null,
  signal: AbortSignal | undefined,
): Promise<Page<Item>> {
  for (;;) {
    signal?.throwIfAborted();
    try {
      return await read({ limit: PAGE_ITEMS_MAX, ...(cursor === null ? {} : { cursor }) });
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== TOO_MANY_REQUESTS) throw error;
      const waitMs = error.retryAfterMs ?? WAIT_MS;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
}
