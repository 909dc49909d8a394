import type { Request, RequestHandler, Response } from 'express';
import { goneSignal } from '../../process/gone.ts';
import { CursorInvalid } from '../../store/change.ts';
import { merchantOf } from '../auth.ts';
import type { ApiContext } from '../context.ts';
import { queryOf } from '../pagination.ts';
import { ApiError } from '../problem.ts';
import { OpenStream } from '../stream/open-stream.ts';
import type { OpenStreams, StreamPlace } from '../stream/open-streams.ts';
import { StreamView, viewOf } from '../stream/stream-view.ts';

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // Asks nginx not to collect what is sent.
  'X-Accel-Buffering': 'no',
} as const;

/** GET /merchant/stream: server-sent events, from the last id that the client has, or from now on. */
export function streamEvents(context: ApiContext, streams: OpenStreams): RequestHandler {
  return async (request, response) => {
    const merchantId = merchantOf(response);
    const { keyId, isStillValid } = response.locals;
    if (keyId === undefined || isStillValid === undefined)
      throw new Error('the route does not require a key');
    const query = queryOf(request);
    const seconds = query.get('seconds');
    const view = viewOf(query);
    // A HEAD request holds no stream open.
    if (response.locals.isHead) {
      await lastEventId(context, request, merchantId);
      return void response.writeHead(200, HEADERS).end();
    }
    const gone = goneSignal(response);
    const address = context.clientAddress(request);
    const place = takePlace(response, () => streams.open({ keyId, isStillValid, merchantId, address, gone }));
    if (place === undefined) return;
    await place.tail.catchUp();
    const from = (await lastEventId(context, request, merchantId)) ?? place.tail.head;
    if (gone.aborted) return;
    response.writeHead(200, HEADERS);
    const stream = new OpenStream(response, {
      ...context,
      place,
      view: view && new StreamView({ feed: context.store.feed, merchantId, ...view }),
      openMs: seconds === null ? Number.POSITIVE_INFINITY : Number(seconds) * 1000,
    });
    streams.ended(keyId, await stream.run(from));
  };
}

/** Takes a place. A client that gets none is not to keep its connection, which counts for its address, too. */
function takePlace(response: Response, open: () => StreamPlace | undefined): StreamPlace | undefined {
  try {
    return open();
  } catch (error) {
    response.shouldKeepAlive = false;
    throw error;
  }
}

/** Returns the client's last id, once the store has accepted it as a position. */
async function lastEventId(
  { store }: ApiContext,
  request: Request,
  merchantId: string,
): Promise<string | undefined> {
  const id = request.get('Last-Event-ID');
  if (id === undefined) return undefined;
  try {
    await store.feed.read(merchantId, { after: id, upTo: id, limit: 1 });
    return id;
  } catch (error) {
    if (!(error instanceof CursorInvalid)) throw error;
    const errors = [
      { pointer: '/headers/last-event-id', code: 'invalid_format', detail: 'must be an id of this stream' },
    ];
    throw new ApiError('validation_error', 'The Last-Event-ID is not an id of this stream.', { errors });
  }
}
