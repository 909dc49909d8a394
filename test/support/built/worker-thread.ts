/**
 * Takes the place of services/process/worker-thread.ts in tests (vitest.config.ts): a thread of a service that runs
 * inside a test loads what was built.
 */
import type { Worker } from 'node:worker_threads';
import { spawnBuiltWorker } from '../../../services/process/worker-thread.ts';
import { builtModule } from './modules.ts';

export function spawnWorker(url: URL, workerData: unknown): Worker {
  return spawnBuiltWorker(builtModule(url), workerData);
}

export function threadModule(url: URL): string {
  return builtModule(url).href;
}
