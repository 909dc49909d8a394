import type { Tracer } from '@opentelemetry/api';
import type { Registry } from 'prom-client';
import { Counter } from 'prom-client';
import type { Broker, RouterResult } from '../broker/broker.ts';
import type { Directory } from '../domain/directory.ts';
import type { Clock } from '../process/clock.ts';
import type { Logger } from '../telemetry/logger.ts';
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
}

export interface Router {
  stop(deadlineMs: number): Promise<void>;
}

/** Runs the router: fans out each event; the engine makes the result durable, then acknowledges the event. */
export async function startRouter(deps: RouterDeps): Promise<Router> {
  const { broker, directory, acceptsSimulated, clock, log, tracer } = deps;
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
  const consumer = await broker.events.consume(
    (received) => {
      const startedAt = clock.wall();
      const routing = fanOut(received, { directory, acceptsSimulated, now: startedAt });
      const result =
        !tracer || routing.kind === 'repeated'
          ? routing
          : traceRoute(tracer, received, routing, { startedAt, endedAt: clock.wall() });
      if (result.kind === 'routed' && received.decoded.ok) unfamiliar.note(received.decoded.event, result);
      return result;
    },
    { inFlightMax: IN_FLIGHT_MAX, isPure: !tracer, used: count },
  );
  return {
    async stop(deadlineMs) {
      await consumer.stop(deadlineMs);
    },
  };
}
