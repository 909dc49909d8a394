import type { Request, RequestHandler } from 'express';
import { CursorInvalid } from '../../store/change.ts';
import { merchantOf } from '../auth.ts';
import type { ApiContext } from '../context.ts';
import { queryOf } from '../pagination.ts';
import { ApiError } from '../problem.ts';
import { EventStream } from '../stream/event-stream.ts';
import type { OpenStreams } from '../stream/open-streams.ts';

/** GET /merchant/stream: server-sent events, from the last id that the client has, or from now on. */
export function streamEvents(context: ApiContext, streams: OpenStreams): RequestHandler {
  return async (request, response) => {
    const merchantId = merchantOf(response);
    const { keyId, keyHash } = response.locals;
    if (keyId === undefined || keyHash === undefined) throw new Error('the route does not require a key');
    const seconds = queryOf(request).get('seconds');
    const place = streams.open({ keyId, hash: keyHash }, merchantId);
    response.once('close', () => place.close());
    await place.tail.catchUp();
    const from = (await lastEventId(context, request, merchantId)) ?? place.tail.head;
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store',
      // Asks nginx not to collect what is sent.
      'X-Accel-Buffering': 'no',
    });
    if (response.locals.isHead) return void response.end();
    const stream = new EventStream(response, {
      ...context,
      place,
      openMs: seconds === null ? Number.POSITIVE_INFINITY : Number(seconds) * 1000,
    });
    streams.ended(keyId, await stream.run(from));
  };
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
