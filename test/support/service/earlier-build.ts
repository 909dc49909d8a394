import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { openSqliteStore } from '../../../services/store/sqlite/sqlite-store.ts';

/** A build of hookrail and the folder that it runs from. */
export interface Build {
  readonly name: string;
  readonly folder: string;
}

export const PRESENT_BUILD: Build = { name: 'the present build', folder: resolve('.') };

/** Extracts the sources of a commit to a new folder, with the packages installed here. Throws a one-line error. */
export function earlierBuild(commit: string): Build {
  const git = (...args: string[]) => execFileSync('git', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let id: string;
  try {
    id = git('rev-parse', '--verify', '--quiet', '--short', `${commit}^{commit}`).toString().trim();
  } catch {
    throw new Error(`commit ${commit} not found: a shallow clone contains only the latest`);
  }
  const folder = mkdtempSync(join(tmpdir(), 'hookrail-earlier-'));
  const archive = join(folder, 'build.tar');
  git('archive', '--format=tar', `--output=${archive}`, id);
  const build = join(folder, 'build');
  mkdirSync(build);
  execFileSync('tar', ['-xf', archive, '-C', build]);
  symlinkSync(resolve('node_modules'), join(build, 'node_modules'));
  return { name: `the build of ${id}`, folder: build };
}

/** Returns the build's function that opens a store, and creates it in the build's layout. */
export async function storeOf({ folder }: Build): Promise<typeof openSqliteStore> {
  const module = await import(join(folder, 'services/store/sqlite/sqlite-store.ts'));
  return module.openSqliteStore;
}

/** Returns whether each build can open the other's store: a build refuses the layout of a newer one. */
export function haveSameLayout(one: Build, other: Build): boolean {
  const [ones, others] = [one, other].map(({ folder }) =>
    readdirSync(join(folder, 'services/store/sqlite/migrations')).join(),
  );
  return ones === others;
}
