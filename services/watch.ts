import { Gauge, type Registry } from 'prom-client';
import type { Broker } from './broker/broker.ts';
import type { Config } from './config/config.ts';
import type { Culprits } from './domain/stalls/stall.ts';
import type { Clock } from './process/clock.ts';
import type { Lifecycle } from './process/lifecycle.ts';
import type { Logger } from './telemetry/logger.ts';
import type { SharedActivity } from './watchdog/activity.ts';
import { startWatchdog } from './watchdog/watchdog.ts';

const DAY_MS = 86_400_000;

/**
 * Reads what stopped processes before, of all processes, and starts the watchdog of this one. Resolves when it is read:
 * no task may be attempted before.
 */
export async function watch(deps: {
  readonly config: Pick<Config, 'stallMsMax'>;
  readonly broker: Pick<Broker, 'stalls'>;
  readonly activity: SharedActivity;
  readonly culprits: Culprits;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  readonly lifecycle: Lifecycle;
}): Promise<void> {
  const { config, broker, culprits, clock, registry, lifecycle } = deps;
  const follower = await broker.stalls.follow((entry) => culprits.note(entry));
  lifecycle.onStop('stalls', () => follower.close());
  const watchdog = startWatchdog({ ...deps, writer: broker.stalls.writer, endMs: config.stallMsMax });
  lifecycle.onStop('watchdog', () => watchdog.stop());
  new Gauge({
    name: 'hookrail_stall_ends',
    help: 'Times in the last 24 hours that a process, whichever, was ended because its main thread stood still.',
    registers: [registry],
    collect() {
      this.set(culprits.countSince(clock.wall() - DAY_MS));
    },
  });
}
