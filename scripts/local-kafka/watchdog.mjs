// Outlives its parent by a moment: when the parent is gone, for whatever reason, it kills what the parent started and
// removes the parent's temporary folders. The parent's end is seen as the end of standard input, which no crash and no
// kill -9 can prevent. Lines: `watch <pid>`, `forget <pid>`, `remove <folder>`. Plain JavaScript: it starts in no time.
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
      // It ended by itself.
    }
  }
  // A killed process may still write for a moment: removing is tried again.
  for (const folder of folders)
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});
