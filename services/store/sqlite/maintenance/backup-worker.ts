import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { workerData } from 'node:worker_threads';
import { messageOf } from '../../../messages/error-message.ts';
import { stepBack } from '../../../process/thread-priority.ts';
import { openConnection } from '../connection.ts';
import { mainThread } from '../thread-serve.ts';

/**
 * The data of a thread that makes one copy: readers and the writer continue beside it (write-ahead log, one snapshot).
 */
export interface BackupData {
  readonly file: string;
  readonly to: string;
}

export type BackupDone =
  | { readonly ok: true; readonly bytes: number }
  | { readonly ok: false; readonly reason: string };

/**
 * Copies under a temporary name until all is on disk, so that half a copy is never taken for a backup. Returns its
 * bytes.
 */
function copy({ file, to }: BackupData): number {
  const partial = `${to}.partial`;
  rmSync(partial, { force: true });
  // Readable by its owner only: like the store it holds names and account numbers. SQLite may fill an empty file.
  closeSync(openSync(partial, 'wx', 0o600));
  const db = openConnection(file, 'read');
  try {
    db.prepare('VACUUM INTO ?').run(partial);
  } finally {
    db.close();
  }
  sync(partial);
  renameSync(partial, to);
  sync(dirname(to));
  return statSync(to).size;
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

function run(data: BackupData): BackupDone {
  try {
    return { ok: true, bytes: copy(data) };
  } catch (error) {
    rmSync(`${data.to}.partial`, { force: true });
    return { ok: false, reason: messageOf(error) };
  }
}

stepBack();
mainThread().postMessage(run(workerData as BackupData));
