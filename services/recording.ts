import type { Broker } from './broker/broker.ts';
import type { Config } from './config/config.ts';
import type { Lifecycle } from './process/lifecycle.ts';
import { type RecorderDeps, startRecorder } from './recorder/recorder.ts';
import { runRetention } from './recorder/retention.ts';
import type { Store } from './store/store.ts';
import type { Logger } from './telemetry/logger.ts';

/** The time in which the recorder makes what it has begun durable. */
const STOP_MS = 5000;

interface RecordingDeps extends RecorderDeps {
  readonly config: Pick<Config, 'retentionMs' | 'bodyRetentionMs'>;
  readonly broker: Broker;
  readonly store: Store;
  readonly lifecycle: Lifecycle;
  readonly log: Logger;
}

/** Starts the recorder, and retention where this process holds its lease. */
export async function startRecording(deps: RecordingDeps): Promise<void> {
  const { config, lifecycle } = deps;
  const recorder = await startRecorder(deps);
  lifecycle.onStop('recorder', () => recorder.stop(STOP_MS));
  const lease = await deps.store.leases.hold('log', async () => {
    const stopping = new AbortController();
    const { retentionMs, bodyRetentionMs } = config;
    const retention = runRetention({ ...deps, retentionMs, bodyRetentionMs, signal: stopping.signal });
    return () => {
      stopping.abort();
      return retention;
    };
  });
  lifecycle.onStop('retention', () => lease.stop());
}
