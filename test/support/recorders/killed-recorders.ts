import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('./recorder-process.ts', import.meta.url));

/**
 * Records one partition of a journal in the store at a file or URL, by a process that is killed with SIGKILL after each of
 * these numbers of batches and started again. Resolves after the last.
 */
export async function recordUntilKilled(
  place: string,
  { partition, endpointId }: { readonly partition: string; readonly endpointId: string },
  batches: readonly number[],
): Promise<void> {
  for (const wanted of batches) {
    const child = spawn(process.execPath, ['--import', 'tsx', SCRIPT, place, partition, endpointId], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    let recorded = 0;
    for await (const _ of createInterface({ input: child.stdout })) {
      recorded += 1;
      if (recorded === wanted) child.kill('SIGKILL');
    }
    const [, signal] = await exited;
    if (signal !== 'SIGKILL') throw new Error(`a recorder ended by itself after ${recorded} batches`);
  }
}
