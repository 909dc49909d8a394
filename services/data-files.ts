import { join } from 'node:path';
import { brokerFile, brokerFileFault } from './broker/open.ts';
import { freeName, moveDatabases } from './sqlite/database-files.ts';
import { storeFile, storeFileFault } from './store/open.ts';

/** Returns why this build cannot use the databases of a data directory, in one line with what helps; undefined when it can. */
export function dataFault(dataDir: string): string | undefined {
  return storeFileFault({ dataDir }) ?? brokerFileFault({ dataDir });
}

/**
 * Moves the databases of a data directory into a new folder in it. Keys, certificates and settings stay. Returns the folder.
 * Throws one line when a process has a database open.
 */
export function moveDatabasesAway(dataDir: string): string {
  const folder = freeName(join(dataDir, 'former'));
  moveDatabases([storeFile({ dataDir }), brokerFile({ dataDir })], folder);
  return folder;
}
