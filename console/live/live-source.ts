import { followStream, type StreamNews, type StreamSource } from '../../client/merchant-stream.ts';
import { bodyOf, clock, exchange, rest } from '../api/api.ts';
import { Refusal } from '../api/refusal.ts';
import type { LiveLog } from './live-log.ts';
import { isRowNews, rowOfDelivery, rowOfNews, skippedRows, type Unordered } from './live-row.ts';

/** `catching up`: the connection is there again, and brings what happened meanwhile. */
export type LiveState = 'connecting' | 'live' | 'catching up' | 'reconnecting';

interface LiveFilter {
  readonly type?: string;
  readonly endpoint_uuid?: string;
}

interface Options {
  readonly signal: AbortSignal;
  readonly filter: LiveFilter;
  readonly onState: (state: LiveState) => void;
  readonly onEndpointChanged: () => void;
  /** The past was read, or why not. */
  readonly onPast: (error: Error | undefined) => void;
}

const PAST_ITEMS = 100;
/** News that is so fresh, or so long without any, is now. */
const FRESH_MS = 3000;
const QUIET_MS = 1500;

const source: StreamSource = {
  open: (path, headers, signal) => exchange(new Request(new URL(path, location.origin), { headers, signal })),
  taken: (value) => value,
  failureOf: (error) =>
    error instanceof Refusal
      ? { kind: 'refused', status: error.status, retryAfterMs: error.retryAfterMs }
      : { kind: 'unreachable' },
  notTheStream: () => new Error('The response is not the stream of hookrail.'),
  isPatient: true,
};

/**
 * Fills the log: first what happened last, then what happens. The stream is opened before the past is read, so nothing
 * falls between them. Ends with the signal; rejects with a refusal that waiting does not cure.
 */
export async function fillLive(log: LiveLog, options: Options): Promise<void> {
  const { signal, filter, onState, onEndpointChanged, onPast } = options;
  const state = new Watch(onState);
  let early: Unordered[] | undefined;
  let isPastRead = false;
  const readPast = async () => {
    if (isPastRead) return;
    isPastRead = true;
    early = [];
    try {
      log.takePast(await past(filter, signal));
      onPast(undefined);
    } catch (error) {
      isPastRead = false;
      if (!signal.aborted) onPast(error as Error);
    }
    for (const row of early) log.take(row);
    early = undefined;
  };
  const onOpen = () => {
    state.opened();
    void readPast();
  };
  const onPaused = () => state.broken();
  const query: Readonly<Record<string, string>> = { ...filter };
  for await (const news of followStream(source, { signal, query, onOpen, onPaused })) {
    state.heard(news);
    if (news.kind === 'endpoint_changed') onEndpointChanged();
    // The lists have the events that the stream has left out.
    if (news.kind === 'gap') {
      isPastRead = false;
      void readPast();
    }
    if (!isRowNews(news)) continue;
    const row = rowOfNews(news);
    if (early === undefined) log.take(row);
    else early.push(row);
  }
  state.end();
}

async function past(filter: LiveFilter, signal: AbortSignal) {
  const params = { query: { ...filter, limit: PAST_ITEMS } as { limit: number } };
  const [deliveries, events] = await Promise.all([
    bodyOf(rest.GET('/merchant/deliveries', { params, signal })),
    bodyOf(rest.GET('/merchant/events', { params, signal })),
  ]);
  const { endpoint_uuid: only } = filter;
  const skipped = events.data
    .flatMap(skippedRows)
    .filter(({ endpoint }) => only === undefined || endpoint === only);
  return [...deliveries.data.map(rowOfDelivery), ...skipped];
}

/** Says how the stream is. */
class Watch {
  readonly #say: (state: LiveState) => void;
  #wasBroken = false;
  #quiet: ReturnType<typeof setTimeout> | undefined;

  constructor(say: (state: LiveState) => void) {
    this.#say = say;
  }

  broken(): void {
    clearTimeout(this.#quiet);
    this.#wasBroken = true;
    this.#say('reconnecting');
  }

  opened(): void {
    this.#say(this.#wasBroken ? 'catching up' : 'live');
    if (this.#wasBroken) this.#wait();
  }

  heard(news: StreamNews): void {
    if (!this.#wasBroken || !('at' in news.data)) return;
    if (clock.now() - Date.parse(news.data.at) < FRESH_MS) this.#caughtUp();
    else this.#wait();
  }

  end(): void {
    clearTimeout(this.#quiet);
  }

  #wait(): void {
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.#caughtUp(), QUIET_MS);
  }

  #caughtUp(): void {
    clearTimeout(this.#quiet);
    this.#wasBroken = false;
    this.#say('live');
  }
}
