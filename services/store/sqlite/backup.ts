import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { spawnWorker } from '../../runtime/worker-thread.ts';
import type { BackupData, BackupDone } from './backup-worker.ts';

/**
 * Copies the store, as it is at the time of the call, into a new file, while it is in use. Resolves with its bytes when
 * it is durable. Rejects, leaving nothing behind, when the file exists or cannot be written.
 */
export async function backupSqliteStore(file: string, to: string): Promise<{ readonly bytes: number }> {
  if (existsSync(to)) throw new Error(`${to} exists and is not overwritten: give another name`);
  const data: BackupData = { file, to };
  const worker = spawnWorker(new URL('./backup-worker.ts', import.meta.url), data);
  const [done] = (await once(worker, 'message')) as [BackupDone];
  if (!done.ok) throw new Error(`no backup was made to ${to}: ${done.reason}`);
  return { bytes: done.bytes };
}
