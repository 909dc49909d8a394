import type { Tracer } from '@opentelemetry/api';
import type { Registry } from 'prom-client';
import { Counter } from 'prom-client';
import type { Broker, ReceivedEvent, RouterResult } from '../broker/broker.ts';
import type { Directory } from '../domain/directory.ts';
import { aboutOf, knownAbout } from '../domain/quarantine.ts';
import { type Culprits, eventLabel } from '../domain/stalls/stall.ts';
import type { Clock } from '../process/clock.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type Activity, NOT_WATCHED } from '../watchdog/activity.ts';
import { fanOut } from './fan-out.ts';
import { traceRoute } from './route-span.ts';
import { UnfamiliarValues } from './unfamiliar-values.ts';

/** Events whose fan-out is not durable yet. */
const IN_FLIGHT_MAX = 512;

export interface RouterDeps {
  readonly broker: Pick<Broker, 'events'>;
  /** Caught up before the router starts. */
  readonly directory: Directory;
  readonly acceptsSimulated: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  /** Null or absent: no spans. */
  readonly tracer?: Tracer | null;
  readonly culprits?: Culprits;
  readonly activity?: Activity;
}

export interface Router {
  stop(deadlineMs: number): Promise<void>;
}

/** Returns an event that the router puts into quarantine: routing it stopped processes. */
function stalled(received: ReceivedEvent, stalls: string): ReceivedEvent {
  const { bytes, acceptedAt, decoded, origin } = received;
  const { eventId, merchantId, publishedBy } = decoded.ok ? decoded.event : decoded;
  const reason = 'event_stalled' as const;
  const about = decoded.ok ? aboutOf(decoded.event) : knownAbout(decoded);
  const ids = { ...(eventId && { eventId }), ...(merchantId && { merchantId }), ...about, publishedBy };
  const refused = { bytes, acceptedAt, decoded: { ok: false as const, reason, detail: stalls, ...ids } };
  return origin === undefined ? refused : { ...refused, origin };
}

/** Runs the router: fans out each event; the engine makes the result durable, then acknowledges the event. */
export async function startRouter(deps: RouterDeps): Promise<Router> {
  const { broker, directory, acceptsSimulated, clock, log, tracer, activity = NOT_WATCHED } = deps;
  const events = new Counter({
    name: 'hookrail_events_total',
    help: 'Events by result: routed, quarantined, or repeated (dropped because their id came before).',
    labelNames: ['result'] as const,
    registers: [deps.registry],
  });
  const routed = events.labels('routed');
  const repeated = events.labels('repeated');
  const unfamiliar = new UnfamiliarValues(deps);
  const count = (result: RouterResult) => {
    if (result.kind === 'routed') {
      routed.inc();
      unfamiliar.report(result);
    } else if (result.kind === 'repeated') repeated.inc();
    else {
      const { reason, detail, eventId, merchantId } = result.record;
      events.labels('quarantined').inc();
      log.warn({ reason, detail, eventId, merchantId }, 'event quarantined');
    }
  };
  const route = (received: ReceivedEvent): RouterResult => {
    const startedAt = clock.wall();
    const routing = fanOut(unlessStalled(received, startedAt), {
      directory,
      acceptsSimulated,
      now: startedAt,
    });
    const result =
      !tracer || routing.kind === 'repeated'
        ? routing
        : traceRoute(tracer, received, routing, { startedAt, endedAt: clock.wall() });
    if (result.kind === 'routed' && received.decoded.ok) unfamiliar.note(received.decoded.event, result);
    return result;
  };
  const unlessStalled = (received: ReceivedEvent, now: number) => {
    if (received.isRepeat) return received;
    const stalls = received.decoded.ok && deps.culprits?.ofEvent(received.decoded.event.eventId, now);
    return stalls ? stalled(received, stalls) : received;
  };
  const consumer = await broker.events.consume(
    (received) => {
      const { decoded } = received;
      return decoded.ok ? activity.within(eventLabel(decoded.event), () => route(received)) : route(received);
    },
    { inFlightMax: IN_FLIGHT_MAX, inline: { isPure: !tracer, used: count } },
  );
  return {
    async stop(deadlineMs) {
      await consumer.stop(deadlineMs);
    },
  };
}
