import { type IncomingMessage, request } from 'node:http';

export interface StreamEvent {
  readonly id: string | undefined;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: the data of any event; tests read the fields they expect.
  readonly data: any;
}

/** A reader of GET /merchant/stream, as the HTML standard has it: it keeps the last id, with which it can resume. */
export interface StreamReader {
  readonly status: number;
  /** The events received so far, without the opening and comments. */
  readonly events: readonly StreamEvent[];
  readonly comments: readonly string[];
  readonly lastEventId: string | undefined;
  /** How long to wait before connecting again, as the stream said last, milliseconds. */
  readonly retryMs: number | undefined;
  /** Resolves when the connection is over, however. */
  readonly over: Promise<void>;
  pause(): void;
  resume(): void;
  close(): void;
}

/** Connects, and resolves with the headers of the response. */
export function openStream(
  url: string,
  key: string,
  options: {
    readonly lastEventId?: string;
    readonly query?: string;
    readonly headers?: Readonly<Record<string, string>>;
    /** The address to connect from. */
    readonly localAddress?: string;
  } = {},
): Promise<StreamReader> {
  const { lastEventId, query = '', localAddress } = options;
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `API-Key ${key}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      ...options.headers,
    };
    const how = { headers, agent: false, ...(localAddress === undefined ? {} : { localAddress }) } as const;
    const sent = request(`${url}/merchant/stream${query}`, how, (response) =>
      resolve(readerOf(response, lastEventId)),
    );
    sent.on('error', reject);
    sent.end();
  });
}

function readerOf(response: IncomingMessage, resumedFrom: string | undefined): StreamReader {
  const events: StreamEvent[] = [];
  const comments: string[] = [];
  let lastEventId = resumedFrom;
  let retryMs: number | undefined;
  let rest = '';
  response.setEncoding('utf8');
  response.on('data', (text: string) => {
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) take(block);
  });
  const take = (block: string) => {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      const colon = line.indexOf(':');
      if (colon === 0) comments.push(line.slice(1).trim());
      else fields.set(line.slice(0, colon), line.slice(colon + 1).trim());
    }
    const id = fields.get('id');
    lastEventId = id ?? lastEventId;
    if (fields.has('retry')) retryMs = Number(fields.get('retry'));
    const data = fields.get('data');
    if (data !== undefined) events.push({ id, event: fields.get('event') ?? '', data: JSON.parse(data) });
  };
  const over = new Promise<void>((done) => {
    response.once('error', () => done());
    response.once('close', () => done());
  });
  return {
    status: response.statusCode ?? 0,
    events,
    comments,
    get lastEventId() {
      return lastEventId;
    },
    get retryMs() {
      return retryMs;
    },
    over,
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    close: () => void response.destroy(),
  };
}
