import { CommandFailure, EXIT } from '../exit.ts';
import type { components } from '../generated/merchant-api.ts';
import type { ApiClient } from './api-client.ts';
import { ApiRefusal } from './api-refusal.ts';
import { REPLACED_WAIT_MS, serverSentEvents } from './server-sent-events.ts';
import { sleep } from './sleep.ts';

type Schemas = components['schemas'];

/** The data of each event of the stream (openapi.yaml, `streamEvents`). */
interface StreamData {
  readonly routed: Schemas['StreamRouted'];
  readonly skipped: Schemas['StreamSkipped'];
  readonly attempt: Schemas['StreamAttempt'];
  readonly cancelled: Schemas['StreamCancelled'];
  readonly endpoint_changed: Schemas['StreamEndpointChanged'];
  readonly gap: Schemas['StreamGap'];
  readonly end: Schemas['StreamEnd'];
}

/** One event of the stream. */
export type StreamNews = {
  readonly [Kind in keyof StreamData]: { readonly kind: Kind; readonly data: StreamData[Kind] };
}[keyof StreamData];

export interface StreamOptions {
  /** Ends the stream. */
  readonly signal: AbortSignal;
  /** The filters: parameters of the request. */
  readonly query?: Readonly<Record<string, string>>;
  /** Called when a connection is open: what happens from now on is reported. */
  readonly onOpen?: () => void;
  /** Called when the stream pauses: the next connection is tried after `waitMs`. */
  readonly onPaused?: (pause: StreamPause) => void;
}

export interface StreamPause {
  /** `limited`: the key has no request or stream left, or a newer stream has taken the place. `lost`: the connection broke, or cannot be made again. */
  readonly reason: 'limited' | 'lost';
  readonly waitMs: number;
}

const RECONNECT_MS = 500;
const RECONNECT_MS_MAX = 5000;
/** The service says something every 15 seconds at least. */
const SILENCE_MS_MAX = 40_000;

/**
 * The merchant's stream of events, from now on until `signal` fires. A connection that breaks is made again with the
 * last id, so nothing is lost and nothing comes twice; where hookrail has lost something itself, `gap` says so. Throws
 * what the first connection fails with, and later a refusal that waiting does not cure, such as a revoked key.
 */
export async function* merchantStream(client: ApiClient, options: StreamOptions): AsyncGenerator<StreamNews> {
  const { signal, onPaused } = options;
  const place: Place = { lastEventId: undefined, wasOpen: false, isReplaced: false, failures: 0 };
  while (!signal.aborted) {
    let error: unknown;
    try {
      for await (const news of connection(client, options, place)) {
        place.isReplaced = news.kind === 'end' && news.data.reason === 'replaced';
        yield news;
      }
    } catch (thrown) {
      error = thrown;
    }
    if (signal.aborted) return;
    if (isForgotten(error, place)) {
      place.lastEventId = undefined;
      yield { kind: 'gap', data: { reason: 'restored' } };
    }
    const paused = pauseAfter(error, place);
    if (paused === undefined) throw error;
    onPaused?.(paused);
    await sleep(paused.waitMs, signal);
  }
}

interface Place {
  lastEventId: string | undefined;
  wasOpen: boolean;
  /** The last connection ended for a newer one of the key. */
  isReplaced: boolean;
  /** Connections in a row that brought nothing. */
  failures: number;
}

/** Yields the events of one connection, and returns when it ends by itself. */
async function* connection(
  client: ApiClient,
  { signal, query = {}, onOpen }: StreamOptions,
  place: Place,
): AsyncGenerator<StreamNews> {
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(), SILENCE_MS_MAX);
  let isOpen = false;
  try {
    const resuming = place.lastEventId === undefined ? {} : { 'last-event-id': place.lastEventId };
    const headers = { accept: 'text/event-stream', ...resuming };
    const asked = new URLSearchParams(query);
    const path = `/merchant/stream${asked.size === 0 ? '' : `?${asked}`}`;
    const response = await client.open(path, headers, AbortSignal.any([signal, silent.signal]));
    const type = response.headers.get('content-type');
    if (response.body === null || !type?.startsWith('text/event-stream')) {
      throw new CommandFailure(EXIT.api, "the response to GET /merchant/stream is not hookrail's stream");
    }
    for await (const { lastEventId, event, data } of serverSentEvents(response.body, place.lastEventId)) {
      timer.refresh();
      // The opening says where the stream begins: only now nothing can be missed.
      if (!isOpen) onOpen?.();
      isOpen = true;
      Object.assign(place, { lastEventId, wasOpen: true, failures: 0 });
      if (event !== undefined) yield { kind: event, data: client.taken(JSON.parse(data)) } as StreamNews;
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Returns whether hookrail no longer knows the last id, as after a new start with other data. */
function isForgotten(error: unknown, { lastEventId }: Place): boolean {
  return error instanceof ApiRefusal && error.status === 400 && lastEventId !== undefined;
}

/** Returns how long to wait for the next connection; undefined when it would fail too. */
function pauseAfter(error: unknown, place: Place): StreamPause | undefined {
  const waitMs = Math.min(RECONNECT_MS_MAX, RECONNECT_MS * 2 ** place.failures);
  place.failures += 1;
  if (error === undefined && place.isReplaced) return { reason: 'limited', waitMs: REPLACED_WAIT_MS };
  if (error instanceof ApiRefusal) {
    if (error.status === 429) return { reason: 'limited', waitMs: error.retryAfterMs ?? RECONNECT_MS_MAX };
    return error.status >= 500 || error.status === 400 ? { reason: 'lost', waitMs } : undefined;
  }
  const isKnown = error instanceof CommandFailure && error.exitCode !== EXIT.unreachable;
  return place.wasOpen && !isKnown ? { reason: 'lost', waitMs } : undefined;
}
