import { Worker, type WorkerOptions } from 'node:worker_threads';

/** A thread's new objects live in this much memory: what a thread makes per message is small, and each has its own. */
const YOUNG_MIB = 12;

/**
 * Starts a worker thread from a module given as `new URL('./worker.ts', import.meta.url)`: the source itself when this
 * process runs from sources (under tsx or the test runner), the built `.js` beside it otherwise. The module reads
 * `workerData` from node:worker_threads as usual.
 * The parent's command-line flags do not reach the worker: an inspector or a test runner's loader must not.
 */
export function spawnWorker(url: URL, workerData: unknown): Worker {
  if (import.meta.url.endsWith('.js')) {
    return spawnBuiltWorker(new URL(url.href.replace(/\.ts$/, '.js')), workerData);
  }
  // A loader given by flag does not take over a worker's entry module in Node 20: load it first, then the module.
  const loader = import.meta.resolve('tsx/esm/api');
  const start = `
    import(${JSON.stringify(loader)})
      .then((tsx) => { tsx.register(); return import(${JSON.stringify(url.href)}); })
      .catch((error) => setImmediate(() => { throw error; }));`;
  return new Worker(start, { ...optionsOf(workerData), eval: true });
}

/** Returns the address of a module, given like that of a worker, for a thread that imports it later. */
export function threadModule(url: URL): string {
  return import.meta.url.endsWith('.js') ? url.href.replace(/\.ts$/, '.js') : url.href;
}

/** Starts a worker thread from a built module, which needs no loader. */
export function spawnBuiltWorker(url: URL, workerData: unknown): Worker {
  return new Worker(url, optionsOf(workerData));
}

function optionsOf(workerData: unknown): WorkerOptions {
  return { workerData, execArgv: [], resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB } };
}
