import { Worker } from 'node:worker_threads';

/** The pause between an answer and the next request, milliseconds. */
const PAUSE_MS = 20;

/** In a thread of its own, so that what else a test does in its process is not taken for the service's time. */
const THREAD = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { Agent, get } = require('node:http');
  const agent = new Agent({ keepAlive: true });
  const took = [];
  const end = performance.now() + workerData.ms;
  const ask = () => {
    if (performance.now() >= end) return parentPort.postMessage(took), agent.destroy();
    const at = performance.now();
    get(workerData.url, { agent }, (response) => {
      if (response.statusCode !== 200) throw new Error(workerData.url + ' answered ' + response.statusCode);
      response.resume().on('end', () => {
        took.push(performance.now() - at);
        setTimeout(ask, workerData.pauseMs);
      });
    });
  };
  ask();
`;

/**
 * Requests an address again and again for `ms` milliseconds. Resolves with how long each answer took, milliseconds, the
 * shortest first. Rejects when one is not 200.
 */
export function probe(url: string, ms: number): Promise<number[]> {
  const worker = new Worker(THREAD, { eval: true, execArgv: [], workerData: { url, ms, pauseMs: PAUSE_MS } });
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', (took: number[]) => resolve(took.sort((one, other) => one - other)));
  });
}
