import { setTimeout as sleep } from 'node:timers/promises';
import { CommandFailure, EXIT } from '../exit.ts';

/** An event of GET /merchant/stream. */
export interface StreamEvent {
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: the data depends on the event (openapi.yaml, Stream…).
  readonly data: any;
}

export interface StreamOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly signal: AbortSignal;
  /** Called once, when the stream is open: everything after that is on it. */
  readonly onOpen: () => void;
  readonly onEvent: (event: StreamEvent) => void;
}

const RECONNECT_MS = 500;
const LINE_BYTES_MAX = 1024 * 1024;
/** Refusals that pass: too many requests or streams, or a service that starts. */
const TEMPORARY = [429, 503];

/**
 * Follows the stream until the signal aborts, and connects again where it was cut off: nothing is lost. Rejects with a
 * failure when the API refuses it, or cannot be reached at first.
 */
export async function followStream(options: StreamOptions): Promise<void> {
  const { signal } = options;
  let lastId: string | undefined;
  let wasOpen = false;
  const onOpen = () => {
    if (!wasOpen) options.onOpen();
    wasOpen = true;
  };
  while (!signal.aborted) {
    try {
      const response = await connect(options, lastId);
      if (response !== undefined) lastId = await readEvents(response, { ...options, onOpen }, lastId);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof CommandFailure || !wasOpen) throw unreachable(options.baseUrl, error);
    }
    await sleep(RECONNECT_MS, undefined, { signal }).catch(() => {});
  }
}

async function connect(
  { baseUrl, apiKey, signal }: StreamOptions,
  lastId: string | undefined,
): Promise<Response | undefined> {
  const resume = lastId === undefined ? {} : { 'last-event-id': lastId };
  const headers = { authorization: `API-Key ${apiKey}`, accept: 'text/event-stream', ...resume };
  const response = await fetch(`${baseUrl}/merchant/stream`, { headers, signal, redirect: 'manual' });
  if (response.status === 200) return response;
  await response.body?.cancel();
  if (TEMPORARY.includes(response.status)) return undefined;
  const code = response.status === 401 ? EXIT.authentication : EXIT.api;
  throw new CommandFailure(code, `GET /merchant/stream → ${response.status}`, [
    'check which address and key are used, with: hookrail sim whoami',
  ]);
}

/** Reads the events of one connection; resolves with the last id when it ends. */
async function readEvents(
  response: Response,
  { onOpen, onEvent, signal }: StreamOptions,
  resumedFrom: string | undefined,
): Promise<string | undefined> {
  let lastId = resumedFrom;
  let rest = '';
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body ?? []) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      if (rest.length > LINE_BYTES_MAX) throw new Error('an event of the stream is too long');
      for (const block of blocks) {
        const { id, event, data } = parseBlock(block);
        lastId = id ?? lastId;
        if (lastId !== undefined) onOpen();
        if (event !== undefined && data !== undefined) onEvent({ event, data: JSON.parse(data) });
      }
    }
  } catch (error) {
    // Cut off in the middle: what was read counts, and the next connection goes on from there.
    if (!signal.aborted && lastId === undefined) throw error;
  }
  return lastId;
}

function parseBlock(block: string): { id?: string; event?: string; data?: string } {
  const fields: Record<string, string> = {};
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).trimStart();
  }
  return fields;
}

function unreachable(baseUrl: string, error: unknown): unknown {
  if (error instanceof CommandFailure) return error;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
  return new CommandFailure(EXIT.unreachable, `${baseUrl} cannot be reached (${reason})`, [
    'start the sandbox with: hookrail start',
  ]);
}
