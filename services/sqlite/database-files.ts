import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type ExclusiveLock, lockExclusively } from './exclusive-lock.ts';

/** The endings of the files beside a database. */
export const SIDE_FILES = ['-wal', '-shm'] as const;

/**
 * Moves the databases that are there into a folder, which is made for its owner only. Throws one line, moving nothing, when a
 * process has one open.
 */
export function moveDatabases(files: readonly string[], folder: string): void {
  const present = files.filter((file) => existsSync(file));
  const locks: ExclusiveLock[] = [];
  try {
    for (const file of present) locks.push(lockExclusively(file));
    mkdirSync(folder, { mode: 0o700 });
    for (const file of present) renameDatabase(file, join(folder, basename(file)));
  } finally {
    for (const lock of locks) lock.release();
  }
}

/** Renames a database, which no process may have open. */
export function renameDatabase(from: string, to: string): void {
  // Its side files first: without them the database would be an older one.
  for (const end of SIDE_FILES) if (existsSync(from + end)) renameSync(from + end, to + end);
  renameSync(from, to);
}

/** Returns the name, or the first one after it that no file has. */
export function freeName(name: string): string {
  let candidate = name;
  for (let count = 2; existsSync(candidate); count += 1) candidate = `${name}-${count}`;
  return candidate;
}
