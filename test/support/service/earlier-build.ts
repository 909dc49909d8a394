import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
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

/** The files that make the tables of a build, and the records of its streams. */
const FORMATS = [
  'services/store/sqlite/migrations',
  'services/store/postgres/migrations',
  'services/broker/sqlite/file/schema.ts',
  'schemas/internal',
];

/** Returns whether both builds have the same data formats. Before 0.1.0 a build refuses the data of another format. */
export function haveSameFormats(one: Build, other: Build): boolean {
  const [ones, others] = [one, other].map(({ folder }) =>
    FORMATS.flatMap((path) => textsIn(join(folder, path))),
  );
  return isDeepStrictEqual(ones, others);
}

function textsIn(path: string): readonly string[] {
  if (!existsSync(path)) return ['none'];
  if (!statSync(path).isDirectory()) return [readFileSync(path, 'utf8')];
  return readdirSync(path).flatMap((name) => [name, readFileSync(join(path, name), 'utf8')]);
}
