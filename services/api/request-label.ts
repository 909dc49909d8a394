import type { RequestHandler, Response } from 'express';
import { NOT_WATCHED } from '../watchdog/activity.ts';

/** Runs synchronous work for a request under its label: ids and the path's template, never the path or the query. */
export function withinRequest<Result>(response: Response, work: () => Result): Result {
  return (response.locals.activity ?? NOT_WATCHED).within(labelOf(response), work);
}

/** Labels what follows until the returned function is called, for a library that cannot be called as one piece of work. */
export function enterRequest(response: Response): () => void {
  return (response.locals.activity ?? NOT_WATCHED).enter(labelOf(response));
}

/** Labels a handler, and what it goes on with when it has waited for something. */
export function labelled(handler: RequestHandler): RequestHandler {
  return (request, response, next) => {
    const goOn = ((error?: unknown) => withinRequest(response, () => next(error))) as typeof next;
    return withinRequest(response, () => handler(request, response, goOn));
  };
}

function labelOf({ req, locals }: Response): string {
  const { route = 'unmatched', requestId } = locals;
  return `request method=${req.method} route=${route} request_id=${requestId}`;
}
