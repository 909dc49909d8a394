/**
 * Keeps one core busy until its parent ends. The loop runs in a thread, so that the process notices that its parent is
 * gone, however that ended.
 */
import { Worker } from 'node:worker_threads';

process.once('disconnect', () => process.exit(0));
process.on('message', ({ id }) => {
  const loop = new Worker('for (;;);', { eval: true });
  loop.once('online', () => process.send({ id }));
});
