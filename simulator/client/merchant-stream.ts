import {
  followStream,
  type StreamFailure,
  type StreamNews,
  type StreamOptions,
} from '../../client/merchant-stream.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import type { ApiClient } from './api-client.ts';
import { ApiRefusal } from './api-refusal.ts';

/** The merchant's stream, as the command line reads it. Throws what the API client throws. */
export function merchantStream(client: ApiClient, options: StreamOptions): AsyncGenerator<StreamNews> {
  return followStream(
    {
      open: (path, headers, signal) => client.open(path, headers, signal),
      taken: (value) => client.taken(value),
      failureOf,
      notTheStream: () =>
        new CommandFailure(EXIT.api, "the response to GET /merchant/stream is not hookrail's stream"),
      isPatient: false,
    },
    options,
  );
}

function failureOf(error: unknown): StreamFailure {
  if (error instanceof ApiRefusal)
    return { kind: 'refused', status: error.status, retryAfterMs: error.retryAfterMs };
  const isFinal = error instanceof CommandFailure && error.exitCode !== EXIT.unreachable;
  return { kind: isFinal ? 'final' : 'unreachable' };
}
