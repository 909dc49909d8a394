import { Gauge, type Registry } from 'prom-client';
import { messageOf } from '../../messages/error-message.ts';
import { shareOfAddress } from '../../process/connections.ts';
import { acceptedMax } from '../../process/descriptors.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { ApiContext } from '../context.ts';
import { OpenStreams } from './open-streams.ts';

/** Streams take at most this part of the connections that an address, or the process, may have. */
const STREAMS_SHARE = 1 / 2;
const LOG_EVERY_MS = 60_000;

/** Makes the open streams of this process, with their metric and their log lines. */
export function makeStreams(
  { store, clock, options, limits, isProxy }: ApiContext,
  { log, registry }: { readonly log: Logger; readonly registry: Registry },
): OpenStreams {
  const connectionsMax = acceptedMax(limits.connectionsMax);
  const part = (connections: number) => Math.max(1, Math.floor(connections * STREAMS_SHARE));
  let loggedAt = Number.NEGATIVE_INFINITY;
  const streams = new OpenStreams({
    store,
    clock,
    perKeyMax: options.streamsPerKey,
    perAddressMax: part(shareOfAddress(connectionsMax)),
    isProxy,
    max: Math.min(limits.streamsMax, part(connectionsMax)),
    onFailed: (error) =>
      log.warn(
        { event: 'stream_delayed', reason: messageOf(error) },
        'streams wait: the feed cannot be read',
      ),
    onEnded: (keyId, reason) => log.info({ event: 'stream_ended', key_id: keyId, reason }),
    onAddressFull: (address) => {
      if (clock.now() - loggedAt < LOG_EVERY_MS) return;
      loggedAt = clock.now();
      log.warn(
        { event: 'streams_of_address_full', address },
        'an address has as many streams as it may: if it is a proxy, name it in HOOKRAIL_TRUSTED_PROXIES',
      );
    },
  });
  new Gauge({
    name: 'hookrail_api_streams',
    help: 'Open streams (GET /merchant/stream).',
    registers: [registry],
    collect() {
      this.set(streams.size);
    },
  });
  return streams;
}
