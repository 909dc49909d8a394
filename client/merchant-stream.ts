import type { components } from './generated/merchant-api.ts';
import { REPLACED_WAIT_MS, serverSentEvents } from './server-sent-events.ts';

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

/** The reason why a connection failed. `final`: the next one would fail too. */
export type StreamFailure =
  | { readonly kind: 'refused'; readonly status: number; readonly retryAfterMs: number | undefined }
  | { readonly kind: 'unreachable' | 'final' };

/** Makes the connections of a stream, with the credential of its program. */
export interface StreamSource {
  /** Resolves with a success; throws a refusal. */
  open(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response>;
  /** Returns what the service sent as the program takes it. */
  taken<Value>(value: Value): Value;
  failureOf(error: unknown): StreamFailure;
  /** Returns the failure for a response that is not a stream. */
  notTheStream(): Error;
  /** Tries again, too, when the service was never reached. */
  readonly isPatient: boolean;
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
export async function* followStream(
  source: StreamSource,
  options: StreamOptions,
): AsyncGenerator<StreamNews> {
  const { signal, onPaused } = options;
  const place: Place = {
    lastEventId: undefined,
    mayBreak: source.isPatient,
    isReplaced: false,
    failures: 0,
  };
  while (!signal.aborted) {
    let failure: StreamFailure | undefined;
    let error: unknown;
    try {
      for await (const news of connection(source, options, place)) {
        place.isReplaced = news.kind === 'end' && news.data.reason === 'replaced';
        yield news;
      }
    } catch (thrown) {
      error = thrown;
      failure = source.failureOf(thrown);
    }
    if (signal.aborted) return;
    if (isForgotten(failure, place)) {
      place.lastEventId = undefined;
      yield { kind: 'gap', data: { reason: 'restored' } };
    }
    const paused = pauseAfter(failure, place);
    if (paused === undefined) throw error;
    onPaused?.(paused);
    await pause(paused.waitMs, signal);
  }
}

interface Place {
  lastEventId: string | undefined;
  /** A connection was open, or the source waits for the first one as well. */
  mayBreak: boolean;
  /** The last connection ended for a newer one of the key. */
  isReplaced: boolean;
  /** Connections in a row that brought nothing. */
  failures: number;
}

/** Yields the events of one connection, and returns when it ends by itself. */
async function* connection(
  source: StreamSource,
  { signal, query = {}, onOpen }: StreamOptions,
  place: Place,
): AsyncGenerator<StreamNews> {
  const silent = new AbortController();
  const watched = () => setTimeout(() => silent.abort(), SILENCE_MS_MAX);
  let timer = watched();
  let isOpen = false;
  try {
    const resuming = place.lastEventId === undefined ? {} : { 'last-event-id': place.lastEventId };
    const headers = { accept: 'text/event-stream', ...resuming };
    const asked = new URLSearchParams(query).toString();
    const path = `/merchant/stream${asked === '' ? '' : `?${asked}`}`;
    const response = await source.open(path, headers, AbortSignal.any([signal, silent.signal]));
    const type = response.headers.get('content-type');
    if (response.body === null || !type?.startsWith('text/event-stream')) throw source.notTheStream();
    for await (const { lastEventId, event, data } of serverSentEvents(
      chunksOf(response.body),
      place.lastEventId,
    )) {
      clearTimeout(timer);
      timer = watched();
      // The opening says where the stream begins: only now nothing can be missed.
      if (!isOpen) onOpen?.();
      isOpen = true;
      Object.assign(place, { lastEventId, mayBreak: true, failures: 0 });
      if (event !== undefined) yield { kind: event, data: source.taken(JSON.parse(data)) } as StreamNews;
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Yields the chunks of a body. Not every browser can iterate a stream by itself. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let isRead = false;
  try {
    while (true) {
      const { done, value } = await reader.read();
      isRead = done;
      if (done) return;
      yield value;
    }
  } finally {
    if (!isRead) await reader.cancel().catch(() => {});
  }
}

/** Returns whether hookrail no longer knows the last id, as after a new start with other data. */
function isForgotten(failure: StreamFailure | undefined, { lastEventId }: Place): boolean {
  return failure?.kind === 'refused' && failure.status === 400 && lastEventId !== undefined;
}

/** Returns how long to wait for the next connection; undefined when it would fail too. */
function pauseAfter(failure: StreamFailure | undefined, place: Place): StreamPause | undefined {
  const waitMs = Math.min(RECONNECT_MS_MAX, RECONNECT_MS * 2 ** place.failures);
  place.failures += 1;
  if (failure === undefined && place.isReplaced) return { reason: 'limited', waitMs: REPLACED_WAIT_MS };
  if (failure?.kind === 'refused') {
    const { status, retryAfterMs } = failure;
    if (status === 429) return { reason: 'limited', waitMs: retryAfterMs ?? RECONNECT_MS_MAX };
    return status >= 500 || status === 400 ? { reason: 'lost', waitMs } : undefined;
  }
  return place.mayBreak && failure?.kind !== 'final' ? { reason: 'lost', waitMs } : undefined;
}

/** Waits; ends early when the signal fires. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
