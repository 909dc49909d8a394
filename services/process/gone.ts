import type { ServerResponse } from 'node:http';

/**
 * Returns a signal that fires once nothing of a response can be sent any more: it was sent whole, or its connection has
 * closed. It has fired already where that happened before the call, so nothing that is bound to it outlives the request,
 * whatever was awaited before. An event alone does not do: `close` is emitted once, and nobody hears it afterwards.
 */
export function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  const { socket } = response.req;
  if (response.closed || response.destroyed || socket.destroyed) {
    gone.abort();
    return gone.signal;
  }
  const end = () => {
    response.off('close', end);
    socket.off('close', end);
    gone.abort();
  };
  // The connection, too: a response that waits behind another one of its connection has no part in how that ends.
  response.once('close', end);
  socket.once('close', end);
  return gone.signal;
}
