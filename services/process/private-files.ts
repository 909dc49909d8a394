import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** Databases, SQLite's files beside them, lock files and copies. */
const DATABASE = /\.db(\b|$)/;

/**
 * Creates a file that only its owner can read, and its folder, unless they exist: SQLite gives its side files the mode of
 * the database.
 */
export function createPrivately(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: FOLDER_MODE });
  closeSync(openSync(file, 'a', FILE_MODE));
}

export interface PrivateFolder {
  /** Paths from which the rights of others were removed. */
  readonly tightened: readonly string[];
  /** Paths that others can still open: they belong to another user. */
  readonly open: readonly string[];
}

/** Makes a folder, or takes over an existing one, so that only its owner can enter it and read the databases in it. */
export function openPrivateFolder(path: string): PrivateFolder {
  mkdirSync(path, { recursive: true, mode: FOLDER_MODE });
  const tightened: string[] = [];
  const open: string[] = [];
  const tighten = (each: string, mode: number) => {
    if ((statSync(each).mode & 0o077) === 0) return;
    try {
      chmodSync(each, mode);
      tightened.push(each);
    } catch {
      open.push(each);
    }
  };
  tighten(path, FOLDER_MODE);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isFile() && DATABASE.test(entry.name)) tighten(join(path, entry.name), FILE_MODE);
  }
  return { tightened, open };
}

/** Opens the data directory for this user only: its files hold names and account numbers. */
export function openDataDir(dataDir: string, log: Pick<Logger, 'warn'>): void {
  const { tightened, open } = openPrivateFolder(dataDir);
  if (tightened.length > 0)
    log.warn({ tightened }, 'other users could read the data directory: their access was removed');
  if (open.length > 0)
    log.warn(
      { open },
      'other users can read the data directory: give it to the user of this process (chown)',
    );
}
