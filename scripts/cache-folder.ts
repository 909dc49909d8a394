import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export interface CacheContext {
  readonly environment: NodeJS.ProcessEnv;
  /** Told of the folder while it is unfinished, so that it goes even when this process is killed. */
  readonly onUnfinished?: (folder: string) => void;
}

/**
 * The folder of that name in the user's cache, made by `fill` where it is missing. It appears whole or not at all, and
 * whoever is second of two that make it at the same time uses the first's. What `fill` writes must not know its path.
 */
export async function cacheFolder(
  name: string,
  { environment, onUnfinished }: CacheContext,
  fill: (folder: string) => Promise<void>,
): Promise<string> {
  const cache = join(environment.XDG_CACHE_HOME || join(homedir(), '.cache'), 'hookrail');
  const folder = join(cache, name);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const unfinished = mkdtempSync(join(cache, '.unfinished-'));
  onUnfinished?.(unfinished);
  try {
    await fill(unfinished);
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
