import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { openSqliteStore } from '../../../services/store/sqlite/sqlite-store.ts';

/** Where a build runs from. */
export interface Build {
  readonly name: string;
  readonly folder: string;
}

export const PRESENT_BUILD: Build = { name: 'the present build', folder: resolve('.') };

/** The sources of a commit in a folder of their own, with the packages that are installed here. Rejects with one line. */
export function earlierBuild(commit: string): Build {
  const git = (...args: string[]) => execFileSync('git', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let id: string;
  try {
    id = git('rev-parse', '--verify', '--quiet', '--short', `${commit}^{commit}`).toString().trim();
  } catch {
    throw new Error(`there is no commit ${commit} here: a shallow clone has none but the last`);
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

/** Opens a store as a build does, which makes it in the layout that the build knows. */
export async function storeOf({ folder }: Build): Promise<typeof openSqliteStore> {
  const module = await import(join(folder, 'services/store/sqlite/sqlite-store.ts'));
  return module.openSqliteStore;
}

/** Whether one can open a store that the other made, and back: a build refuses the layout of a newer one. */
export function haveSameLayout(one: Build, other: Build): boolean {
  const [ones, others] = [one, other].map(({ folder }) =>
    readdirSync(join(folder, 'services/store/sqlite/migrations')).join(),
  );
  return ones === others;
}
