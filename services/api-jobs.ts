import type { Counter, Registry } from 'prom-client';
import type { Broker, Follower } from './broker/broker.ts';
import type { Config } from './config/config.ts';
import type { Directory } from './domain/directory.ts';
import { type CertificateEnd, CertificateWatch } from './notifier/certificate-watch.ts';
import { Notifier } from './notifier/notifier.ts';
import { finishErasures } from './operator/commands/erase-entity.ts';
import type { Clock } from './process/clock.ts';
import type { PublishChecks } from './relay/publishable.ts';
import type { PublishedChanges } from './relay/published-changes.ts';
import { startRelay } from './relay/start-relay.ts';
import { Replayer, replayedDeliveries } from './replayer/replayer.ts';
import type { StopJobs } from './store/leases.ts';
import type { Store } from './store/store.ts';
import type { Logger } from './telemetry/logger.ts';

export interface ApiJobsDeps {
  readonly store: Store;
  readonly broker: Broker;
  readonly directory: Directory;
  readonly follower: Follower;
  readonly published: PublishedChanges;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  readonly checks: PublishChecks;
  readonly certificateEnd: CertificateEnd;
  /** `sources`: the addresses that webhooks come from, with those that come and go. */
  readonly config: Pick<Config, 'replayPerSecond'> & { readonly api: Pick<Config['api'], 'sources'> };
}

/**
 * Returns a function that starts the jobs that one process with the role `api` does for all: they bring store and
 * DIRECTORY stream into agreement, publish directory changes, send missed events again, send operational notices, look at
 * certificates and finish erasures. It resolves when the two agree, and may be called again once the jobs were stopped.
 */
export function apiJobs(deps: ApiJobsDeps): () => Promise<StopJobs> {
  const made = replayedDeliveries(deps.registry);
  return () => startApiJobs(deps, made);
}

async function startApiJobs(deps: ApiJobsDeps, made: Counter): Promise<StopJobs> {
  const relay = await startRelay(deps);
  const replayer = new Replayer({ ...deps, made, pace: { perSecondMax: deps.config.replayPerSecond } });
  const notifier = new Notifier({ ...deps, sources: deps.config.api.sources });
  const certificates = new CertificateWatch(deps);
  const stopErasing = new AbortController();
  const { signal } = stopErasing;
  const erasing = finishErasures({ ...deps, recordStores: deps.broker, signal });
  return async () => {
    stopErasing.abort();
    await Promise.all([relay.stop(), replayer.stop(), notifier.stop(), certificates.stop(), erasing]);
  };
}
