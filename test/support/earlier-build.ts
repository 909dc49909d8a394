import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

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
