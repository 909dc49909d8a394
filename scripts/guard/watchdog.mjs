// Outlives its parent briefly: when the parent is gone for any reason, it kills the parent's child processes and removes
// its temporary folders. It detects the parent's exit by the end of standard input, which works even after a crash or
// kill -9. Commands: `watch <pid>`, `forget <pid>`, `remove <folder>`. Plain JavaScript, so that it starts quickly.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

const pids = new Set();
const folders = new Set();

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const space = line.indexOf(' ');
  const value = line.slice(space + 1);
  if (line.startsWith('watch ')) pids.add(Number(value));
  if (line.startsWith('forget ')) pids.delete(Number(value));
  if (line.startsWith('remove ')) folders.add(value);
});
lines.on('close', () => {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has already exited.
    }
  }
  // A killed process may still write for a moment, so removal is retried.
  for (const folder of folders)
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});
