import type { components } from '../../client/generated/merchant-api.ts';
import { REPLACED_WAIT_MS, serverSentEvents } from '../../client/server-sent-events.ts';
import { visible } from '../../services/domain/text/visible-text.ts';

type Schemas = components['schemas'];

/** One event of the API's stream, as far as a listener needs it. */
export type StreamNews =
  | { readonly event: 'attempt'; readonly data: Schemas['StreamAttempt'] }
  | { readonly event: 'routed'; readonly data: Schemas['StreamRouted'] }
  | { readonly event: 'cancelled'; readonly data: Schemas['StreamCancelled'] }
  | { readonly event: 'endpoint_changed'; readonly data: Schemas['StreamEndpointChanged'] };

export interface StreamAccess {
  readonly baseUrl: string;
  readonly apiKey: string;
}

export interface StreamOptions {
  /** Asked for at each connection: a sandbox that starts again may have another address, and other keys. */
  readonly access: () => StreamAccess;
  readonly pause: (ms: number) => Promise<void>;
  readonly signal: AbortSignal;
  readonly onNews: (news: StreamNews) => void;
  /** The stream is open; `isAgain`, after it was lost. When this rejects, the connection counts as lost. */
  readonly onOpen: (isAgain: boolean) => Promise<void>;
  /** The stream was lost, or the first connection failed; it is opened again until the signal fires. */
  readonly onLost: (reason: string) => void;
}

const FIRST_WAIT_MS = 250;
const WAIT_MS_MAX = 5000;
/** The API sends a comment every 15 s: after this silence the connection is dead. */
const SILENCE_MS_MAX = 45_000;
const KNOWN: ReadonlySet<string | undefined> = new Set<StreamNews['event']>([
  'attempt',
  'routed',
  'cancelled',
  'endpoint_changed',
]);

/** Follows the API's stream until the signal fires, across restarts of the API. Never rejects. */
export async function followStream(options: StreamOptions): Promise<void> {
  const { signal, pause } = options;
  let waitMs = FIRST_WAIT_MS;
  let wasLost = false;
  let lastId: string | undefined;
  const opened = async () => {
    await options.onOpen(wasLost);
    waitMs = FIRST_WAIT_MS;
    wasLost = false;
  };
  while (!signal.aborted) {
    const connection = { lastId, opened, onId: (id: string) => (lastId = id) };
    const reason = await readOnce(options, connection).catch(reasonOf);
    if (signal.aborted) return;
    // An id that the API does not know: its data is not what it was.
    if (/^HTTP 400/.test(reason)) lastId = undefined;
    if (!wasLost) options.onLost(reason);
    wasLost = true;
    await pause(reason === 'replaced' ? REPLACED_WAIT_MS : waitMs);
    waitMs = Math.min(WAIT_MS_MAX, waitMs * 2);
  }
}

interface Connection {
  readonly lastId: string | undefined;
  readonly opened: () => Promise<void>;
  readonly onId: (id: string) => void;
}

/** Reads one connection to its end, and returns why it ended. */
async function readOnce(options: StreamOptions, { lastId, opened, onId }: Connection): Promise<string> {
  const { baseUrl, apiKey } = options.access();
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(), SILENCE_MS_MAX).unref();
  const signal = AbortSignal.any([options.signal, silent.signal]);
  try {
    const response = await fetch(`${baseUrl}/merchant/stream`, {
      headers: {
        accept: 'text/event-stream',
        authorization: `API-Key ${apiKey}`,
        ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
      },
      redirect: 'manual',
      signal,
    });
    if (response.status !== 200 || response.body === null) {
      await response.body?.cancel();
      return `HTTP ${response.status}`;
    }
    let isOpen = false;
    for await (const { lastEventId, event, data } of serverSentEvents(response.body, lastId)) {
      timer.refresh();
      if (lastEventId !== undefined) onId(lastEventId);
      // The opening says where the stream begins: nothing that follows can be missed.
      if (!isOpen) await opened();
      isOpen = true;
      if (event === 'end') return visible(String(JSON.parse(data).reason));
      if (KNOWN.has(event)) options.onNews({ event, data: JSON.parse(data) } as StreamNews);
    }
    return 'the connection was closed';
  } finally {
    clearTimeout(timer);
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const { code } = cause as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : cause instanceof Error ? cause.message : String(cause);
}
